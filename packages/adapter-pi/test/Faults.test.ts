import { createMemory, hardLimit, stepMemory, strategy } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Store } from "@varve/core/Store"
import { checkValidity } from "@varve/core/Validity"
import { StoreError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { PiMemory } from "../src/PiAgent.ts"
import { hosts, said } from "./hosts.ts"
import { call, click, title } from "./spied.ts"

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  describe("a run goes on to its end", () => {
    const play = async (
      memory: PiMemory,
      options: {
        readonly during?: (n: number) => unknown
        readonly text?: string
        readonly task?: string
      } = {}
    ) => {
      const run = host.make({
        tools: [click],
        answer: async (_r, n) => {
          await options.during?.(n)
          return n < 6 ? { text: options.text ?? "I click.", ...call(n) } : { text: "Done." }
        }
      })
      attach(run.agent, memory)
      await run.agent.prompt(options.task ?? "Click six times.")
      expect(run.agent.state.errorMessage).toBeUndefined()
      expect(run.requests).toHaveLength(7)
      expect(run.agent.state.messages.at(-1).stopReason).toBe("stop")
      for (const { messages } of run.requests) expect(checkValidity(messages)).toEqual([])
      return run.requests
    }

    it("where the memory is closed in the middle of it: the last view stands, with what came since", async () => {
      const events: Array<VarveEvent> = []
      const memory = createMemory({
        pipeline: [stepMemory(), hardLimit()],
        budget: { tokens: 700 },
        onEvent: (event) => events.push(event)
      })
      const requests = await play(memory, {
        text: "words ".repeat(120),
        during: (n) => (n === 4 ? memory.close() : undefined)
      })
      const texts = (n: number) => requests[n]!.messages.map(said)
      expect(texts(4).join("\n")).toContain("left out to fit the limit")
      expect(texts(6).slice(0, texts(4).length)).toEqual(texts(4))
      expect(texts(6).length).toBe(texts(4).length + 4)
      expect(events.filter(({ type }) => type === "failed").length).toBeGreaterThan(0)
    })

    it("where the store can't be read or written", async () => {
      const failure = (key: string) => Effect.fail(new StoreError("read", key, "The disk is gone."))
      const broken: Store = { load: failure, append: failure, replace: failure }
      const events: Array<VarveEvent> = []
      await play(createMemory({ store: broken, onEvent: (event) => events.push(event) }))
      expect(events.filter(({ type }) => type === "failed")).toHaveLength(7)

      const throwing = (): never => {
        throw new Error("The store threw.")
      }
      await play(createMemory({ store: { load: throwing, append: throwing, replace: throwing } }))
      const readOnly: Store = {
        load: () => Effect.succeed({ entries: [] }),
        append: failure,
        replace: failure
      }
      const requests = await play(
        createMemory({ store: readOnly, pipeline: [stepMemory(), hardLimit()] })
      )
      expect(requests.at(-1)!.messages.some((m) => said(m).startsWith(title))).toBe(true)
    })

    it("where strategies throw, reject, propose nonsense or write to what they see", async () => {
      const hostile = [
        strategy("throws", () => {
          throw new Error("no")
        }),
        strategy("rejects", () => Promise.reject(new Error("no"))),
        strategy("nonsense", () => [{ kind: "replace" }, null, 7] as never),
        strategy("writes", (view) => {
          ;(view.messages as Array<unknown>).length = 0
          return []
        })
      ]
      const requests = await play(
        createMemory({ pipeline: [...hostile, stepMemory(), hardLimit()] })
      )
      expect(requests.at(-1)!.messages.some((m) => said(m).startsWith(title))).toBe(true)
    })

    it("where a listener of the memory throws", async () => {
      await play(
        createMemory({
          onEvent: () => {
            throw new Error("a listener that throws")
          }
        })
      )
    })

    it("where what stands for a memory breaks every promise", async () => {
      const fail = (): never => {
        throw new Error("broken")
      }
      const broken: PiMemory = {
        prepare: fail,
        recover: fail,
        transformContext: () => Promise.reject(new Error("broken")),
        steps: { begin: fail, finish: fail },
        usage: fail
      }
      const requests = await play(broken)
      expect(requests.at(-1)!.messages.filter(({ role }) => role === "toolResult")).toHaveLength(6)
    })

    it("where what can't be cut is over the limit: the smallest valid view, and an overflow event", async () => {
      const events: Array<VarveEvent> = []
      const memory = createMemory({
        pipeline: [hardLimit()],
        budget: { tokens: 60 },
        onEvent: (event) => events.push(event)
      })
      const task = "Click six times. ".repeat(20)
      const requests = await play(memory, { task, text: "words ".repeat(200) })
      const overflow = events.find(({ type }) => type === "overflow")
      expect(overflow).toMatchObject({ axis: "tokens", limit: 60 })
      const { messages } = requests.at(-1)!
      expect(said(messages.find(({ role }) => role === "user"))).toBe(task)
      const { tokens } = estimateCounter().request({ messages })
      expect(tokens).toBeGreaterThan(60)
      // Six turns of 200 words each would be far more.
      expect(tokens).toBeLessThan(400)
    })
  })
})

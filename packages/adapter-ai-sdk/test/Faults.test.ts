import { createMemory, hardLimit, stepMemory, strategy } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Store } from "@varve/core/Store"
import { checkValidity } from "@varve/core/Validity"
import { StoreError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { SdkMemory } from "../src/SdkMemory.ts"
import type { Host, Setup } from "./hosts.ts"
import { spied } from "./spied.ts"
import { calls, click, hosts, said, title, wireFaults } from "./hosts.ts"

const fail = (): never => {
  throw new Error("broken")
}

const failure = (key: string) => Effect.fail(new StoreError("read", key, "The disk is gone."))

const play = async (
  host: Host,
  memory: SdkMemory,
  {
    during,
    text = "I click.",
    ...more
  }: Partial<Setup> & { readonly during?: (n: number) => unknown; readonly text?: string } = {}
) => {
  const run = await host.run({
    memory,
    prompt: "Click six times.",
    tools: [click],
    answer: async (_, n) => {
      await during?.(n)
      return n < 6 ? { text, ...calls({ name: "click", args: { n } }) } : { text: "Done." }
    },
    ...more
  })
  expect(run.text).toBe("Done.")
  expect(run.requests).toHaveLength(7)
  for (const request of run.requests) {
    expect(checkValidity(request.messages)).toEqual([])
    expect(wireFaults(request)).toEqual([])
  }
  return run.requests
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each(hosts.map((host) => [host.name, host] as const))(
  "%s: a run goes on to its end",
  (_, host) => {
    it("where the memory is closed in the middle of it: the last view stands, with what came since", async () => {
      const events: Array<VarveEvent> = []
      const memory = createMemory({
        pipeline: [stepMemory(), hardLimit()],
        budget: { tokens: 700 },
        onEvent: (event) => events.push(event)
      })
      const requests = await play(host, memory, {
        text: "words ".repeat(120),
        during: (n) => (n === 4 ? memory.close() : undefined)
      })
      const texts = (n: number) => requests[n]!.prompt.map((m) => JSON.stringify(m))
      expect(texts(4).join("\n")).toContain("left out to fit the limit")
      expect(texts(6).slice(0, texts(4).length)).toEqual(texts(4))
      expect(texts(6).length).toBe(texts(4).length + 4)
      // The memory tells of each request; of the steps that it can't take, once.
      expect(events.filter(({ type }) => type === "failed")).toHaveLength(2)
      const warned = events.flatMap((event) => (event.type === "warning" ? [event.message] : []))
      expect(warned).toEqual(warned.map(() => "a call after close(); left out"))
      expect(warned.length).toBeLessThanOrEqual(3)
    })

    it("where the store can't be read or written", async () => {
      const broken: Store = { load: failure, append: failure, replace: failure }
      const events: Array<VarveEvent> = []
      const requests = await play(
        host,
        createMemory({ store: broken, onEvent: (event) => events.push(event) })
      )
      expect(events.filter(({ type }) => type === "failed")).toHaveLength(7)
      expect(requests.at(-1)!.prompt).toHaveLength(13)
      await play(host, createMemory({ store: { load: fail, append: fail, replace: fail } }))
      const readOnly: Store = {
        load: () => Effect.succeed({ entries: [] }),
        append: failure,
        replace: failure
      }
      const kept = await play(
        host,
        createMemory({ store: readOnly, pipeline: [stepMemory(), hardLimit()] })
      )
      expect(kept.at(-1)!.prompt.some((m) => said(m).startsWith(title))).toBe(true)
    })

    it("where a store or a strategy hangs: it waits once, then goes on", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] })
      const started = Date.now()
      const hanging: Store = {
        load: () => Effect.never,
        append: () => Effect.never,
        replace: () => Effect.never
      }
      const store = play(host, createMemory({ store: hanging }), { options: { timeout: 5000 } })
      let ended = false
      void store.finally(() => void (ended = true)).catch(() => {})
      while (!ended) await vi.advanceTimersByTimeAsync(1000)
      expect((await store).at(-1)!.prompt).toHaveLength(13)
      expect(Date.now() - started).toBeLessThan(10_000)

      const stuck = strategy("stuck", () => new Promise(() => {}))
      const memory = createMemory({
        pipeline: [stuck, stepMemory(), hardLimit()],
        strategyTimeout: 50
      })
      const run = play(host, memory)
      ended = false
      void run.finally(() => void (ended = true)).catch(() => {})
      while (!ended) await vi.advanceTimersByTimeAsync(50)
      expect((await run).at(-1)!.prompt.some((m) => said(m).startsWith(title))).toBe(true)
    })

    it("where strategies throw, reject, propose nonsense or write to what they see", async () => {
      const hostile = [
        strategy("throws", fail),
        strategy("rejects", () => Promise.reject(new Error("no"))),
        strategy("nonsense", () => [{ kind: "replace" }, null, 7] as never),
        strategy("writes", (view) => {
          ;(view.messages as Array<unknown>).length = 0
          return []
        })
      ]
      const requests = await play(
        host,
        createMemory({ pipeline: [...hostile, stepMemory(), hardLimit()] })
      )
      expect(requests.at(-1)!.prompt.some((m) => said(m).startsWith(title))).toBe(true)
    })

    it("where a listener of the memory throws", async () => {
      await play(host, createMemory({ onEvent: fail }))
    })

    it("where what stands for a memory breaks every promise", async () => {
      const broken: SdkMemory = {
        prepare: fail,
        recover: fail,
        transformContext: fail,
        steps: { begin: fail, finish: fail },
        usage: fail
      }
      const requests = await play(host, broken)
      expect(requests.at(-1)!.prompt.filter(({ role }) => role === "tool")).toHaveLength(6)
      const nonsense = {
        ...broken,
        prepare: async () => 7,
        transformContext: async () => 7
      } as never
      expect((await play(host, nonsense)).at(-1)!.prompt).toHaveLength(13)
    })

    it("where what can't be cut is over the limit: the smallest valid view, and an overflow event", async () => {
      const { memory, events, usages } = spied({ pipeline: [hardLimit()], budget: { tokens: 60 } })
      const task = "Click six times. ".repeat(20)
      const requests = await play(host, memory, { prompt: task, text: "words ".repeat(200) })
      expect(events.find(({ type }) => type === "overflow")).toMatchObject({
        axis: "tokens",
        limit: 60
      })
      const { messages, prompt } = requests.at(-1)!
      expect(said(prompt.find(({ role }) => role === "user"))).toBe(task)
      const { tokens } = estimateCounter().request({ messages })
      expect(tokens).toBeGreaterThan(60)
      // It is this request's usage that comes back.
      expect(usages.length).toBeGreaterThan(5)
      // Six turns of 200 words each would be far more.
      expect(tokens).toBeLessThan(400)
    })
  }
)

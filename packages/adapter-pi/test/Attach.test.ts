import { hardLimit, stepMemory } from "@varve/core"
import { ConfigError } from "@varve/core/VarveError"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import { createTransformContext } from "../src/TransformContext.ts"
import { hosts, said } from "./hosts.ts"
import { answers, calls, click, spied, title } from "./spied.ts"

const configError = (act: () => unknown): ConfigError => {
  try {
    act()
  } catch (error) {
    if (error instanceof ConfigError) return error
  }
  throw new Error("It should have thrown a ConfigError.")
}

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  describe("one agent, one memory", () => {
    it("two agents with one strategy object share nothing", async () => {
      const pipeline = [screenshots({ keep: 1 }), stepMemory(), hardLimit()]
      const run = async (label: string) => {
        const { memory } = spied({ pipeline })
        const { agent, requests } = host.make({
          tools: [click],
          answer: answers(
            calls({ name: "click", args: { label } }),
            calls({ name: "click", args: { label } })
          )
        })
        attach(agent, memory)
        await agent.prompt(`Click ${label}.`)
        return requests.flatMap(({ messages }) => messages.map(said)).join("\n")
      }
      const [left, right] = await Promise.all([run("LEFT"), run("RIGHT")])
      expect(left).toContain(title)
      expect(right).toContain(title)
      expect(left).not.toContain("RIGHT")
      expect(right).not.toContain("LEFT")
    })

    it("a message is pinned by the id that the host gave it", async () => {
      const words = "words ".repeat(80)
      const sent = async (pin?: string) => {
        const { memory } = spied({ pipeline: [hardLimit()], budget: { tokens: 400 } })
        if (pin !== undefined) memory.pin(pin)
        const { agent, requests } = host.make({
          messages: [
            { role: "user", content: "Go.", timestamp: 0 },
            { role: "user", id: "rules", content: `THE RULES ${words}`, timestamp: 1 },
            ...[1, 2, 3, 4, 5].map((n) => ({ role: "user", content: words, timestamp: n + 1 }))
          ],
          answer: answers()
        })
        attach(agent, memory)
        await agent.prompt("On.")
        return requests[0]!.messages.map(said).join()
      }
      expect(await sent()).not.toContain("THE RULES")
      expect(await sent("rules")).toContain("THE RULES")
    })

    it("refuses a memory or an agent that is attached already, until it is detached", () => {
      const { memory } = spied()
      const first = host.make({ answer: answers() }).agent
      const second = host.make({ answer: answers() }).agent
      const detach = attach(first, memory)
      expect(configError(() => attach(second, memory)).issues[0]!.path).toBe("memory")
      expect(configError(() => attach(first, spied().memory)).issues[0]!.path).toBe("agent")
      expect(second.transformContext).toBeUndefined()
      detach()
      attach(second, memory)
      attach(first, spied().memory)
    })

    it("refuses what is no agent, no memory and no option, and changes nothing", () => {
      const { memory } = spied()
      const { agent } = host.make({ answer: answers() })
      expect(configError(() => attach({} as typeof agent, memory)).issues[0]!.path).toBe("agent")
      expect(configError(() => attach(undefined!, memory)).issues[0]!.path).toBe("agent")
      expect(configError(() => attach(agent, {} as typeof memory)).issues[0]!.path).toBe("memory")
      expect(
        configError(() => attach(agent, memory, { goalArgument: 3 } as never)).issues[0]!.path
      ).toBe("attach.goalArgument")
      expect(configError(() => attach(agent, memory, { goal: "x" } as never)).issues[0]!.path).toBe(
        "attach.goal"
      )
      expect(agent.transformContext).toBeUndefined()
    })
  })

  describe("a hook of the host's own", () => {
    it("runs first; the memory has the last word", async () => {
      const { memory, events } = spied({
        pipeline: [hardLimit()],
        budget: { tokens: 900 }
      })
      const seen: Array<number> = []
      const { agent, requests } = host.make({
        answer: answers(),
        transformContext: async (messages) => {
          seen.push(messages.length)
          const extra = { role: "user", content: "It is raining. ".repeat(1000), timestamp: 1 }
          const at = messages.findIndex(({ role }) => role === "assistant")
          return at < 0 ? messages : messages.toSpliced(at, 0, extra)
        }
      })
      attach(agent, memory)
      await agent.prompt("Hello.")
      await agent.prompt("How is the weather?")
      expect(seen).toHaveLength(2)
      const texts = requests[1]!.messages.map(said)
      expect(texts.at(-1)).toBe("How is the weather?")
      expect(texts.join("\n")).toContain("1 earlier messages were left out to fit the limit")
      expect(texts.join("\n")).not.toContain("It is raining.")
      expect(events.some(({ type }) => type === "overflow")).toBe(false)
    })

    it("that fails ends the run with its own error, as it did without a memory", async () => {
      const { memory } = spied()
      const { agent, requests } = host.make({
        answer: answers(),
        transformContext: () => Promise.reject(new Error("not redacted"))
      })
      attach(agent, memory)
      await agent.prompt("Hello.")
      expect(requests).toHaveLength(0)
      expect(agent.state.errorMessage).toBe("not redacted")
    })

    it("that is this memory's own isn't run twice", async () => {
      for (const own of ["facade", "adapter"]) {
        const { memory, events } = spied()
        const { agent, requests } = host.make({
          tools: [click],
          transformContext:
            own === "facade" ? memory.transformContext : createTransformContext(memory),
          answer: answers(calls({ name: "click", args: {} }))
        })
        attach(agent, memory)
        await agent.prompt("Go.")
        expect(events.filter(({ type }) => type === "prepared")).toHaveLength(requests.length)
      }
    })

    it("that is set after attach takes the memory out, unless it calls the memory's own", async () => {
      const { memory } = spied()
      const { agent, requests } = host.make({
        tools: [click],
        answer: (_, n) => (n % 2 === 0 ? calls({ name: "click", args: {} }) : { text: "Done." })
      })
      attach(agent, memory)
      const own = agent.transformContext!
      agent.transformContext = async (messages) => messages
      await agent.prompt("One.")
      agent.transformContext = async (messages, signal) => own(messages, signal)
      await agent.prompt("Two.")
      const has = requests.map(({ messages }) => messages.some((m) => said(m).startsWith(title)))
      expect(has).toEqual([false, false, true, true])
    })

    it("that is another memory's is refused", () => {
      const transformContext = createTransformContext(spied().memory)
      const { agent } = host.make({ answer: answers(), transformContext })
      expect(configError(() => attach(agent, spied().memory)).issues[0]!.path).toBe("agent")
      expect(agent.transformContext).toBe(transformContext)
    })
  })

  describe("detach", () => {
    it("puts back the hook that was there, stops recording, and may be called twice", async () => {
      const own = async (messages: Array<any>) => messages
      for (const transformContext of [undefined, own]) {
        const { memory, begun, events } = spied()
        const { agent } = host.make({
          tools: [click],
          ...(transformContext ? { transformContext } : {}),
          answer: answers(calls({ name: "click", args: {} }))
        })
        const detach = attach(agent, memory)
        detach()
        detach()
        expect(agent.transformContext).toBe(transformContext)
        await agent.prompt("Go.")
        expect(begun).toEqual([])
        expect(events).toEqual([])
      }
    })

    it("in the middle of a run lets it end without the memory, and leaves no step pending", async () => {
      const { memory, begun, finished } = spied()
      let detach = () => {}
      const { agent, requests } = host.make({
        tools: [
          {
            name: "leave",
            execute: () => {
              detach()
              return [{ type: "text", text: "left" }]
            }
          }
        ],
        answer: answers(calls({ name: "leave", args: {} }))
      })
      detach = attach(agent, memory)
      await agent.prompt("Go.")
      expect(agent.state.errorMessage).toBeUndefined()
      expect(requests).toHaveLength(2)
      expect(requests[1]!.messages.some((m) => said(m).startsWith(title))).toBe(false)
      expect(begun).toHaveLength(1)
      expect(finished).toMatchObject([{ outcome: "failed", note: "no outcome was recorded" }])
    })

    it("leaves a hook alone that was set since", () => {
      const { memory } = spied()
      const { agent } = host.make({ answer: answers() })
      const detach = attach(agent, memory)
      const later = async (messages: Array<any>) => messages
      agent.transformContext = later
      detach()
      expect(agent.transformContext).toBe(later)
    })
  })
})

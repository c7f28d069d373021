import { createMemory, hardLimit, stepMemory, strategy } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { deepFreeze } from "@varve/testkit/Freeze"
import { garbage } from "@varve/testkit/Garbage"
import { pngBase64 } from "@varve/testkit/Png"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { PiMemory } from "../src/PiAgent.ts"
import { createTransformContext } from "../src/TransformContext.ts"
import { hosts, inTranscript, said } from "./hosts.ts"
import { call, click, title } from "./spied.ts"

const user = (content: string) => ({ role: "user", content, timestamp: 1 })

describe("the hook", () => {
  it("never rejects and never changes what it is given, whatever the history and the strategies", async () => {
    let edited = 0
    await fc.assert(
      fc.asyncProperty(
        garbage(),
        strategyPlans({ most: 3 }),
        fc.constantFrom(100, 400, 5000),
        async (history, plans, tokens) => {
          const memory = createMemory({
            pipeline: [plans.map(randomStrategy), hardLimit()],
            budget: { tokens }
          })
          const hook = createTransformContext(memory)
          for (const length of [Math.ceil(history.length / 2), history.length]) {
            const given = deepFreeze(history.slice(0, length))
            const sent = await hook(given)
            if (sent !== given) edited++
            if (sent.length > 0 && sent !== given) expect(checkValidity(sent)).toEqual([])
          }
          await memory.close()
        }
      ),
      { numRuns: 150, seed: 1 }
    )
    expect(edited).toBeGreaterThan(100)
  }, 30_000)

  it("gives the same array where nothing is to be changed", async () => {
    const hook = createTransformContext(createMemory({}))
    const messages = deepFreeze([user("Hello.")]) as Array<Message>
    expect(await hook(messages)).toBe(messages)
  })

  it("knows a history again that its host clones for every request", async () => {
    const shots = Array.from({ length: 12 }, (_, n) => [
      {
        role: "assistant",
        content: [{ type: "toolCall", id: `c${n}`, name: "look", arguments: {} }],
        stopReason: "toolUse",
        timestamp: n
      },
      {
        role: "toolResult",
        toolCallId: `c${n}`,
        toolName: "look",
        content: [{ type: "image", data: pngBase64(1280, 720, n), mimeType: "image/png" }],
        isError: false,
        timestamp: n
      }
    ]).flat()
    const history = [user("Look around."), ...shots]
    const memory = () =>
      createMemory({ pipeline: [screenshots({ keep: 2 }), hardLimit()], budget: { images: 4 } })
    const [mine, clones] = [memory(), memory()]
    const [hook, cloned] = [createTransformContext(mine), createTransformContext(clones)]
    for (let n = 1; n <= history.length; n += 2) {
      const sent = await cloned(structuredClone(history.slice(0, n)))
      expect(sent).toEqual(await hook(history.slice(0, n)))
    }
    expect(clones.explain()).toEqual(mine.explain())
    const inForce = clones.explain().filter(({ state }) => state === "in force")
    expect(inForce.length).toBeGreaterThan(6)
  })

  it("with an aborted signal gives the history back at once", async () => {
    const memory = createMemory({})
    const messages = [user("Hello.")]
    let asked = 0
    const fake: PiMemory = {
      ...memory,
      prepare: () => {
        asked++
        return Promise.reject(new Error("asked"))
      }
    }
    expect(await createTransformContext(fake)(messages, AbortSignal.abort())).toBe(messages)
    expect(asked).toBe(0)
  })

  it("lets go of a strategy that hangs as soon as the run is aborted", async () => {
    const control = new AbortController()
    const hanging = strategy("hanging", () => {
      queueMicrotask(() => control.abort())
      return new Promise<never>(() => {})
    })
    const hook = createTransformContext(createMemory({ pipeline: [hanging, hardLimit()] }))
    const messages = [user("Hello.")]
    expect(await hook(messages, control.signal)).toBe(messages)
  })

  it("counts sections and tools of system messages as they hold in the end, but not twice", async () => {
    const events: Array<VarveEvent> = []
    const memory = createMemory({ onEvent: (event) => events.push(event) })
    const hook = createTransformContext(memory)
    const tool = (name: string) => ({
      name,
      description: "words ".repeat(100),
      parameters: { type: "object" }
    })
    const head = {
      role: "system",
      content: "Base.",
      sections: { a: "alpha ".repeat(500), b: "beta ".repeat(500) },
      toolsAdded: [tool("x"), tool("y")],
      timestamp: 0
    }
    const later = {
      role: "system",
      content: "",
      sections: { b: null },
      toolsRemoved: [{ name: "x" }],
      timestamp: 1
    }
    const tokens = async (...messages: ReadonlyArray<unknown>) => {
      await hook(messages.slice())
      const last = events.at(-1)
      return last?.type === "prepared" ? last.report.after.tokens : 0
    }
    const { request } = estimateCounter()
    const beside = (system: string, ...tools: ReadonlyArray<unknown>) =>
      request({ system, tools, messages: [] }).tokens
    const plain = await tokens({ ...head, sections: {}, toolsAdded: [] }, user("Hi."))
    const { a, b } = head.sections
    expect((await tokens(head, user("Hi."))) - plain).toBe(
      beside(`${a}\n\n${b}`, tool("x"), tool("y"))
    )
    const update = request({ messages: [{ role: "system", content: "" }] }).tokens
    expect((await tokens(head, user("Hi."), later)) - plain - update).toBe(beside(a, tool("y")))
  })
})

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  it("never changes pi's array or its messages, and sends the same objects", async () => {
    const { agent, requests } = host.make({
      tools: [click],
      answer: (_r, n) => (n < 12 ? { text: "words ".repeat(60), ...call(n) } : { text: "Done." })
    })
    attach(agent, createMemory({ pipeline: [stepMemory(), hardLimit()], budget: { tokens: 700 } }))
    const hook = agent.transformContext!
    let changed = 0
    agent.transformContext = async (messages, signal) => {
      const before = messages.slice()
      const sent = await hook(messages, signal)
      expect(messages).toHaveLength(before.length)
      expect(messages.every((m, i) => m === before[i])).toBe(true)
      if (sent !== messages) changed++
      return sent
    }
    // The messages themselves are deep-frozen as soon as pi is done with them.
    await agent.prompt("Click twelve times.")
    expect(agent.state.errorMessage).toBeUndefined()
    expect(changed).toBeGreaterThan(8)
    const own = new Set<unknown>(agent.state.messages)
    const strangers = requests.at(-1)!.messages.filter((m) => !own.has(m))
    // What isn't pi's own object is the memory and what stands for what was left out.
    for (const message of strangers) expect(said(message)).toMatch(/^\[/)
    expect(requests.at(-1)!.messages.length - strangers.length).toBeGreaterThan(3)
  })

  it("messages of roles that it doesn't know stay where they are", async () => {
    const shell = (n: number) => ({ role: "bashExecution", command: `ls ${n}`, timestamp: n })
    const { agent, requests } = host.make({
      tools: [click],
      messages: [user("Earlier task."), shell(1)],
      convert: ({ command }) => user(`ran ${command}`),
      answer: (_r, n) => {
        if (n === 1) agent.steer(shell(2))
        return n < 8 ? { text: "words ".repeat(80), ...call(n) } : { text: "Done." }
      }
    })
    attach(agent, createMemory({ pipeline: [stepMemory(), hardLimit()], budget: { tokens: 900 } }))
    await agent.prompt("Click.")
    expect(agent.state.errorMessage).toBeUndefined()
    const { messages } = requests.at(-1)!
    const texts = messages.map(said)
    expect(texts.filter((text) => text.startsWith("ran "))).toEqual(["ran ls 1", "ran ls 2"])
    const at = texts.indexOf("Earlier task.")
    expect(texts[at + 1]).toContain(title)
    expect(texts[at + 2]).toBe("ran ls 1")
    expect(checkValidity(messages)).toEqual([])
  })

  it("never puts the memory between a call and its results", async () => {
    const { agent, requests } = host.make({
      tools: [click],
      // A history that begins with a call, as after a cut by the host.
      messages: [],
      answer: (_r, n) =>
        n < 6
          ? { calls: [0, 1, 2].map((i) => ({ name: "click", args: { n, i } })) }
          : { text: "Done." }
    })
    attach(agent, createMemory({ pipeline: [stepMemory(), hardLimit()] }))
    await agent.prompt("Click.")
    for (const { messages } of requests.slice(1)) {
      const at = messages.findIndex((m) => said(m).startsWith(title))
      expect(at).toBeGreaterThan(0)
      expect(messages[at]!.role).toBe("user")
      expect(messages[at - 1]!.role).toBe("user")
      expect(messages[at + 1]!.role).toBe("assistant")
      expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
    }
  })
})

describe(inTranscript.name, () => {
  const memory = () =>
    createMemory({ pipeline: [stepMemory(), hardLimit()], budget: { tokens: 900 } })

  it("the system message is the first, with its sections and tools, and later ones stay in place", async () => {
    const head = {
      role: "system",
      content: "You work a screen.",
      sections: { house: "<house>Be brief.</house>", gone: "<gone/>" },
      timestamp: 0
    }
    const { agent, requests } = inTranscript.make({
      tools: [click],
      messages: [head],
      answer: (_r, n) => {
        if (n === 2) {
          agent.steer({
            role: "system",
            content: "From now on be careful.",
            sections: { gone: null },
            timestamp: 5
          })
        }
        return n < 10 ? { text: "words ".repeat(80), ...call(n) } : { text: "Done." }
      }
    })
    attach(agent, memory())
    await agent.prompt("Click.")
    expect(agent.state.errorMessage).toBeUndefined()
    for (const { messages, system, tools } of requests) {
      expect(messages[0]).toEqual(head)
      expect(system).toContain("<house>Be brief.</house>")
      expect(tools).toEqual(["click"])
    }
    const last = requests.at(-1)!
    expect(last.system).toBe(
      "You work a screen.\n\nFrom now on be careful.\n\n<house>Be brief.</house>"
    )
    const roles = last.messages.map(({ role }) => role)
    expect(roles.filter((role) => role === "system")).toHaveLength(3)
    expect(said(last.messages[roles.indexOf("user") + 1])).toContain(title)
    expect(checkValidity(last.messages, { startsWithUser: true })).toEqual([])
    expect(last.messages.some((m) => said(m).includes("left out to fit the limit"))).toBe(true)
  })

  it("a context that prepareRequest replaces is taken as it comes", async () => {
    const { agent, requests } = inTranscript.make({
      tools: [click],
      prepareRequest: ({ context }) => ({
        context: { ...context, messages: structuredClone(context.messages) }
      }),
      answer: (_r, n) => (n < 10 ? { text: "words ".repeat(80), ...call(n) } : { text: "Done." })
    })
    attach(agent, memory())
    await agent.prompt("Click.")
    expect(agent.state.errorMessage).toBeUndefined()
    expect(requests).toHaveLength(11)
    const counter = estimateCounter()
    for (const { messages } of requests) {
      expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
      expect(counter.request({ messages }).tokens).toBeLessThanOrEqual(900)
    }
    expect(requests.at(-1)!.messages.some((m) => said(m).startsWith(title))).toBe(true)
  })

  it("calls that a cut-off answer left undone are failed steps", async () => {
    const { agent, requests } = inTranscript.make({
      tools: [click],
      answer: (_r, n) => (n === 0 ? { ...call(0), stopReason: "length" } : { text: "Done." })
    })
    attach(agent, memory())
    await agent.prompt("Click.")
    expect(requests[1]!.messages.map(said).find((text) => text.startsWith(title))).toContain(
      "step 1: failed"
    )
  })
})

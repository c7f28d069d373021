import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { MemorySaver } from "@langchain/langgraph"
import { createMemory, defaultProfile, hardLimit } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import { checkValidity } from "@varve/core/Validity"
import { ConfigError } from "@varve/core/VarveError"
import { createAgent, createMiddleware, fakeModel, tool } from "langchain"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import * as z3 from "zod/v3"
import { memoryMiddleware } from "../src/MemoryMiddleware.ts"
import { agentOf, call, click, clicks, hasMemo, read, said, title, user } from "./host.ts"
import { spied } from "./spied.ts"

const configError = (act: () => unknown): ConfigError => {
  try {
    act()
  } catch (error) {
    if (error instanceof ConfigError) return error
  }
  throw new Error("It should have thrown a ConfigError.")
}

describe("what stands beside the messages", () => {
  it("system message and tools count against the budget, of zod 4, zod 3 and JSON schema alike", async () => {
    const description = "words ".repeat(50)
    const fields = { label: z.string().describe(description) }
    const tokens = async (schema: any, system: string) => {
      const { events, memory } = spied({ pipeline: [] })
      const tools = schema === undefined ? [] : [tool(() => "", { name: "t", description, schema })]
      const model = fakeModel().respond(new AIMessage("Hi."))
      const middleware = [memoryMiddleware(memory)]
      await createAgent({ model, tools, middleware, systemPrompt: system }).invoke(user("Go."))
      const [event] = events
      return event?.type === "prepared" ? event.report.after.tokens : 0
    }
    const { request } = estimateCounter()
    const alone = await tokens(undefined, "")
    const system = "Be brief. ".repeat(40)
    expect((await tokens(undefined, system)) - alone).toBe(request({ system, messages: [] }).tokens)
    const parameters = z.object(fields).toJSONSchema()
    const four = request({ tools: [{ name: "t", description, parameters }], messages: [] }).tokens
    expect((await tokens(z.object(fields), "")) - alone).toBe(four)
    expect((await tokens(parameters, "")) - alone).toBe(four)
    const three = z3.object({ label: z3.string().describe(description) })
    const counted = (await tokens(three, "")) - alone
    expect(Math.abs(counted / four - 1)).toBeLessThan(0.25)
  })

  it("cache marks stand where the memory says, only where asked for, and never in the state", async () => {
    const cache = { ...defaultProfile.cache, kind: "marks" as const }
    const play = async (options: object) => {
      const { memory } = spied({ profile: { ...defaultProfile, cache } })
      const host = agentOf({
        middleware: [memoryMiddleware(memory, options)],
        tools: [click],
        answer: clicks(3, "I click.")
      })
      const history = await host.run("Go.")
      expect(JSON.stringify(history)).not.toContain("cache_control")
      return host
        .requests()
        .map((messages) => JSON.stringify(messages).split('"cache_control":').length - 1)
    }
    expect(await play({})).toEqual([0, 0, 0, 0])
    const marks = await play({ marks: true })
    expect(marks[0]).toBe(1)
    for (const count of marks.slice(1)) {
      expect(count).toBeGreaterThan(1)
      expect(count).toBeLessThanOrEqual(4)
    }
  })
})

it("cache marks live as long as the one of the whole request", async () => {
  const cache = { ...defaultProfile.cache, kind: "marks" as const }
  const { memory } = spied({ profile: { ...defaultProfile, cache } })
  const { wrapModelCall } = memoryMiddleware(memory, { marks: true })
  const control = { type: "ephemeral", ttl: "1h" }
  const sent: Array<unknown> = []
  await wrapModelCall(
    { messages: [new HumanMessage("Go.")], modelSettings: { cache_control: control } },
    ({ messages }) => void sent.push(...messages)
  )
  const marks = JSON.stringify(sent).match(/"cache_control":\{[^}]*\}/g) ?? []
  expect(marks).toEqual([`"cache_control":${JSON.stringify(control)}`])
})

describe("configuration", () => {
  it("a message is pinned by the id that the host gave it", async () => {
    const words = "words ".repeat(80)
    const sent = async (pin: boolean) => {
      const { memory } = spied({ pipeline: [hardLimit()], budget: { tokens: 400 } })
      if (pin) memory.pin("rules")
      const host = agentOf({ middleware: [memoryMiddleware(memory)], answer: clicks(0) })
      await host.run("On.", {}, [
        new HumanMessage("Go."),
        new HumanMessage({ id: "rules", content: `THE RULES ${words}` }),
        ...[1, 2, 3, 4, 5].map(() => new HumanMessage(words))
      ])
      return said(host.requests()[0]!).join()
    }
    expect(await sent(false)).not.toContain("THE RULES")
    expect(await sent(true)).toContain("THE RULES")
  })

  it("what is no memory and no option is refused at once, with its path", () => {
    const { memory } = spied()
    const path = (act: () => unknown) => configError(act).issues[0]!.path
    expect(path(() => memoryMiddleware({} as never))).toBe("memory")
    expect(path(() => memoryMiddleware(undefined as never))).toBe("memory")
    expect(path(() => memoryMiddleware(memory, { goalArgument: 3 } as never))).toBe(
      "memoryMiddleware.goalArgument"
    )
    expect(path(() => memoryMiddleware(memory, { timeout: 0 }))).toBe("memoryMiddleware.timeout")
    // A timer that is set to more goes off at once, and the memory would never be in time.
    const longer = () => memoryMiddleware(memory, { timeout: 2 ** 31 })
    expect(path(longer)).toBe("memoryMiddleware.timeout")
    expect(configError(longer).message).toContain("2147483647")
    memoryMiddleware(memory, { timeout: 2 ** 31 - 1 })
    expect(path(() => memoryMiddleware(memory, { goal: "x" } as never))).toBe(
      "memoryMiddleware.goal"
    )
  })

  it("two memories in one agent are refused by LangChain itself", () => {
    const middleware = [memoryMiddleware(spied().memory), memoryMiddleware(spied().memory)]
    expect(() => createAgent({ model: fakeModel(), tools: [], middleware })).toThrow(
      /varve-memory is defined multiple times/
    )
  })

  it("a function gives each conversation its own memory, and one without is left as it is", async () => {
    const memories = new Map([
      ["left", spied()],
      ["right", spied()]
    ])
    const { agent, model } = agentOf({
      checkpointer: new MemorySaver(),
      middleware: [
        memoryMiddleware(async ({ configurable }) => memories.get(configurable!.thread_id!)?.memory)
      ],
      tools: [click],
      answer: (messages) =>
        messages.at(-1)!.type === "tool"
          ? { text: "Done." }
          : { calls: [{ name: "click", args: { label: messages.at(-1)!.text } }] }
    })
    const threads = ["left", "right", "none"]
    await Promise.all(
      threads.map((thread_id) => agent.invoke(user(thread_id), { configurable: { thread_id } }))
    )
    expect(model.calls).toHaveLength(6)
    for (const name of ["left", "right"])
      expect(memories.get(name)!.begun.map(({ goal }) => goal)).toEqual([`click(label: "${name}")`])
    const last = model.calls.filter(({ messages }) => messages.at(-1)!.type === "tool")
    expect(last.map(({ messages }) => hasMemo(messages))).toHaveLength(3)
    expect(last.filter(({ messages }) => hasMemo(messages))).toHaveLength(2)
  })

  it("a function's own error is the caller's", async () => {
    const host = agentOf({
      middleware: [
        memoryMiddleware(() => {
          throw new Error("no such conversation")
        })
      ],
      answer: clicks(0)
    })
    await expect(host.run("Go.")).rejects.toThrow("no such conversation")
  })
})

describe("the history", () => {
  it("is given to the model as the same list where nothing is to be changed", async () => {
    let same = false
    const inner = createMiddleware({
      name: "inner",
      wrapModelCall: (request, handler) => {
        same = request.messages === request.state.messages
        return handler(request)
      }
    })
    const host = agentOf({
      middleware: [memoryMiddleware(createMemory({})), inner],
      answer: clicks(0)
    })
    await host.run("Go.")
    expect(same).toBe(true)
  })

  it("never has the memory between a call and its results", async () => {
    const host = agentOf({
      middleware: [memoryMiddleware(spied().memory)],
      tools: [click],
      answer: (_, n) =>
        n < 6
          ? { calls: [0, 1, 2].map((i) => ({ name: "click", args: { n, i } })) }
          : { text: "Done." }
    })
    await host.run("Click.")
    for (const messages of host.requests().slice(1)) {
      const at = said(messages).findIndex((text) => text.startsWith(title))
      expect(messages[at]).toBeInstanceOf(HumanMessage)
      expect(messages[at - 1]!.type).toBe("human")
      expect(messages[at + 1]!.type).toBe("ai")
      expect(checkValidity(read(messages), { startsWithUser: true })).toEqual([])
    }
  })

  it("of many turns keeps the task and the newest request, and the state keeps all", async () => {
    const { begun, memory } = spied({ budget: { tokens: 900 } })
    const host = agentOf({
      checkpointer: new MemorySaver(),
      middleware: [memoryMiddleware(memory)],
      tools: [click],
      answer: (messages) =>
        messages.at(-1)!.type === "tool" ? { text: "words ".repeat(60) } : call(1)
    })
    const config = { configurable: { thread_id: "a" } }
    let history: ReadonlyArray<any> = []
    for (let n = 0; n < 12; n++) history = await host.run(`Request ${n}.`, config)
    expect(history).toHaveLength(48)
    // A checkpoint gives other objects each time.
    expect(begun).toHaveLength(12)
    const last = host.requests().at(-1)!
    expect(last.length).toBeLessThan(30)
    expect(said(last)).toContain("Request 0.")
    expect(said(last)).toContain("Request 11.")
    expect(last.at(-1)).toBeInstanceOf(ToolMessage)
  })
})

import { createMemory, hardLimit } from "@varve/core"
import { defaultProfile } from "@varve/core/Profile"
import type { Message } from "@varve/core/Message"
import { describe, expect, it } from "vitest"
import { RefusedRequest, runAgent, scriptedModel } from "../src/ScriptedModel.ts"

const task: Message = { role: "user", content: "Count to the end." }

const call = (n: number) => [
  { type: "text" as const, text: `Step ${n}.` },
  { type: "toolCall" as const, id: `c${n}`, name: "count", arguments: { n } }
]

describe("scriptedModel", () => {
  it("keeps every request with its cost", async () => {
    const model = scriptedModel({ answer: (n) => `answer ${n}` })
    expect(await model.ask([task], { system: "Be brief." })).toMatchObject({
      role: "assistant",
      content: [{ type: "text", text: "answer 0" }],
      stopReason: "stop"
    })
    expect(model.requests).toHaveLength(1)
    expect(model.requests[0]).toMatchObject({ messages: [task], refused: [] })
    expect(model.requests[0]!.cost.tokens).toBeGreaterThan(4)
  })

  it("refuses what a provider would refuse, and keeps that too", async () => {
    const model = scriptedModel({ answer: () => "ok", limits: { messages: 1 } })
    await expect(model.ask([task, task])).rejects.toThrow(RefusedRequest)
    const orphan = {
      role: "toolResult",
      toolCallId: "x",
      toolName: "x",
      content: "",
      isError: false
    }
    await expect(model.ask([orphan as Message])).rejects.toThrow(/no call before it/)
    expect(model.requests.map((r) => r.refused.length)).toEqual([1, 1])
  })

  it("refuses a call right behind an answer only where turns have to alternate", async () => {
    const call = { type: "toolCall" as const, id: "c", name: "go", arguments: {} }
    const messages: ReadonlyArray<Message> = [
      task,
      { role: "assistant", content: "Well then." },
      { role: "assistant", content: [call] }
    ]
    const answer = () => "ok"
    await scriptedModel({ answer }).ask(messages)
    await expect(scriptedModel({ answer, alternates: true }).ask(messages)).rejects.toThrow(
      /right behind another/
    )
  })
})

describe("runAgent", () => {
  it("runs the tools that are called until an answer calls none", async () => {
    const model = scriptedModel({ answer: (n) => (n < 3 ? call(n) : "done") })
    const memory = createMemory({ pipeline: [hardLimit()] })
    const history = await runAgent({
      memory,
      model,
      history: [task],
      tool: (name, args) => `${name} ${JSON.stringify(args)}`
    })
    expect(history.map((m) => m.role)).toEqual([
      "user",
      ...Array.from({ length: 3 }, () => ["assistant", "toolResult"]).flat(),
      "assistant"
    ])
    expect(model.requests.map((r) => r.messages.length)).toEqual([1, 3, 5, 7])
  })

  it("recovers where the provider allows less than the memory knew", async () => {
    const model = scriptedModel({
      answer: (n) => (n < 40 ? call(n) : "done"),
      limits: { tokens: 700 }
    })
    const memory = createMemory({
      pipeline: [hardLimit()],
      profile: {
        ...defaultProfile,
        classify: (e) => (e instanceof RefusedRequest ? { kind: "tokens", limit: 700 } : undefined)
      }
    })
    const history = await runAgent({ memory, model, history: [task], tool: () => "x ".repeat(40) })
    expect(history.at(-1)).toMatchObject({ content: [{ text: "done" }] })
    const refused = model.requests.filter((r) => r.refused.length > 0)
    // What was learned holds: the second time nothing has to be refused.
    expect(refused).toHaveLength(1)
  })

  it("rejects with what can't be recovered", async () => {
    const model = scriptedModel({ answer: () => "ok", limits: { tokens: 1 } })
    const memory = createMemory({ pipeline: [hardLimit()] })
    const run = runAgent({ memory, model, history: [task], tool: () => "" })
    await expect(run).rejects.toThrow(RefusedRequest)
  })

  it("one prompt and 2 000 steps stay within a window of 32k, the task and the last steps whole", async () => {
    const steps = 2000
    const window = 32_000
    const model = scriptedModel({
      answer: (n) => (n < steps ? call(n) : "done"),
      limits: { tokens: window }
    })
    const memory = createMemory({
      pipeline: [hardLimit()],
      budget: { tokens: window }
    })
    await runAgent({
      memory,
      model,
      history: [task],
      tool: (_, args) =>
        `The page after ${JSON.stringify(args)}: ${"order, address, items; ".repeat(20)}`,
      requests: steps + 1
    })
    expect(model.requests).toHaveLength(steps + 1)
    expect(model.requests.every((r) => r.refused.length === 0)).toBe(true)
    model.requests.forEach(({ messages }, n) => {
      expect(messages[0]).toBe(task)
      const tail = messages.slice(-2 * Math.min(n, 2))
      expect(tail.filter((m) => m.role === "assistant").map((m) => m.content)).toEqual(
        n === 0 ? [] : n === 1 ? [call(0)] : [call(n - 2), call(n - 1)]
      )
      expect(JSON.stringify(tail)).not.toContain("left out")
    })
  })
})

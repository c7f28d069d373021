import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { createMemory } from "../src/createMemory.ts"
import { estimateCounter } from "../src/Counter.ts"
import * as Edit from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import { lift } from "../src/Lift.ts"
import type { Message } from "../src/Message.ts"
import { defaultProfile } from "../src/Profile.ts"
import { memoryStore } from "../src/Store.ts"
import { strategy } from "../src/Strategy.ts"
import { Transcript } from "../src/Transcript.ts"

const user = (text: string): Message => ({ role: "user", content: text })
const assistant = (text: string): Message => ({
  role: "assistant",
  content: [{ type: "text", text }]
})
const call = (id: string): Message => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "look", arguments: {} }]
})
const result = (id: string, text: string): Message => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "look",
  isError: false,
  content: [{ type: "text", text }]
})
const words = (n: number): string => "word ".repeat(n)

describe("a host that goes back", () => {
  const cut = strategy("cut", (view) =>
    view.results
      .slice(0, -1)
      .filter((r) => view.protection(r.block) === undefined)
      .map((r) => Edit.replace(r.block, "[cut]"))
  )
  const history = [
    user("task"),
    ...[1, 2, 3, 4, 5].flatMap((i) => [call(`c${i}`), result(`c${i}`, `${i} ${words(60)}`)])
  ]

  it("finds the newest result whole again, and the older ones as they were", async () => {
    const memory = createMemory({ pipeline: [cut], commit: Commit.immediate, protectLast: 0 })
    await memory.prepare(history)
    const { messages } = await memory.prepare(history.slice(0, 5))
    expect(messages[2]?.content).toEqual([{ type: "text", text: "[cut]" }])
    expect(messages[4]).toBe(history[4])
    const { messages: on } = await memory.prepare(history)
    expect(on[4]?.content).toEqual([{ type: "text", text: "[cut]" }])
  })

  it("finds the newest whole where it says the same as a message that has left, however much was staged for that", async () => {
    for (const commit of [Commit.immediate, Commit.batched({ size: 4 })]) {
      const memory = createMemory({ pipeline: [cut], commit, protectLast: 0 })
      await memory.prepare(history.slice(0, 5))
      // The first result has left, and comes again, to the letter, as the newest.
      const gone = [...history.slice(3), ...history.slice(1, 3)]
      const { messages } = await memory.prepare(gone)
      expect(messages.at(-1)).toBe(history[2])
      expect(messages.slice(0, -1).some((m, i) => m !== gone[i])).toBe(true)
    }
  })

  it("is given the same after a restart", async () => {
    const store = memoryStore()
    const options = { pipeline: [cut], commit: Commit.immediate, protectLast: 0, store }
    const memory = createMemory(options)
    await memory.prepare(history)
    const back = await memory.prepare(history.slice(0, 5))
    const again = await createMemory(options).prepare(history.slice(0, 5))
    expect(again.messages).toEqual(back.messages)
  })
})

describe("faults of the host", () => {
  it("a message that can't be counted once leaves no half-read history behind", () => {
    const counter = estimateCounter()
    let broken = true
    const transcript = new Transcript({
      ...counter,
      message: (m) => {
        if (broken && JSON.stringify(m).includes("third")) throw new Error("once")
        return counter.message(m)
      }
    })
    const history = [user("task"), assistant("first"), user("second"), assistant("third")]
    expect(() => transcript.update(history)).toThrow("once")
    expect(transcript.groups).toEqual([])
    broken = false
    transcript.update(history)
    const entries = transcript.groups.flatMap((g) => g.entries)
    expect(entries.map((e) => e.message)).toEqual(history)
  })

  it("a pin that is no id is a warning and does not reach the store", async () => {
    const store = memoryStore()
    const told: Array<string> = []
    const memory = createMemory({
      store,
      onEvent: (e) => void (e.type === "warning" && told.push(e.message))
    })
    await memory.prepare([user("task")])
    memory.pin(undefined as never)
    await memory.close()
    expect(told).toEqual(["pin takes the id of a message; left out"])
    await createMemory({ store }).prepare([user("task")])
  })

  it("calls after close change nothing, and say so", async () => {
    const store = memoryStore()
    const told: Array<string> = []
    const memory = createMemory({
      store,
      onEvent: (e) => void (e.type === "warning" && told.push(e.message))
    })
    await memory.prepare([user("task")])
    memory.steps.begin({ id: "s1", goal: "kept" })
    await memory.close()
    memory.steps.begin({ id: "s2", goal: "late" })
    memory.pin("x")
    await expect(memory.reset()).rejects.toMatchObject({ _tag: "MemoryClosed" })
    expect(told).toEqual(["a call after close(); left out", "a call after close(); left out"])
  })

  it("overhead that throws, or a system text in blocks, is no reason to fail", async () => {
    const history = [user("task")]
    const failing = createMemory({
      overhead: () => {
        throw new Error("not yet")
      }
    })
    expect((await failing.prepare(history)).messages).toBe(history)
    const system = [{ type: "text", text: words(40) }] as never
    const { report } = await createMemory({ overhead: () => ({ system }) }).prepare(history)
    expect(report.before.tokens).toBeGreaterThan(40)
  })

  it("a store that gives promises is a store", async () => {
    const inner = new Map<string, Array<unknown>>()
    const store = {
      load: async (key: string) => ({ entries: inner.get(key) ?? [] }),
      append: async (key: string, entries: ReadonlyArray<unknown>) =>
        void inner.set(key, [...(inner.get(key) ?? []), ...entries]),
      replace: async (key: string, entries: ReadonlyArray<unknown>) =>
        void inner.set(key, [...entries])
    }
    const memory = createMemory({ store: store as never })
    await memory.prepare([user("task")])
    memory.steps.begin({ id: "s1", goal: "kept" })
    await memory.close()
    expect(inner.get("agent/session")).toHaveLength(3)
  })
})

describe("a strategy that writes to what it sees", () => {
  it("reaches neither limits nor profile nor counter of any memory", async () => {
    const hostile = strategy("hostile", (view) => {
      const write = (f: () => void) => {
        try {
          f()
        } catch {
          // Frozen.
        }
      }
      write(() => Object.assign(view.profile, { contextWindow: 10, vision: false }))
      write(() => Object.assign(view.limits, { tokens: 1 }))
      write(() => Object.assign(view.counter, { message: () => 0 }))
      return []
    })
    const memory = createMemory({ pipeline: [hostile, hardLimit()] })
    const history = [user("hello world")]
    expect((await memory.prepare(history)).report.over).toEqual([])
    const { report } = await memory.prepare([...history, assistant("hi"), user("again")])
    expect(report.after.tokens).toBeGreaterThan(5)
    expect(defaultProfile.contextWindow).toBe(128_000)
  })
})

describe("the guard", () => {
  it("takes no more of what is softly protected than is needed", async () => {
    const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens: 5000 } })
    const { report } = await memory.prepare([user("task"), assistant("ok"), user(words(5200))])
    expect(report.after.tokens).toBeLessThanOrEqual(5000)
    expect(report.after.tokens).toBeGreaterThan(4500)
  })
})

describe("lift", () => {
  it("knows clones of what it gave", async () => {
    const history = [user("task"), assistant("one"), user("two"), assistant("three"), user("four")]
    const memory = createMemory({
      pipeline: [lift("mine", (messages) => structuredClone(messages) as Array<Message>)],
      commit: Commit.immediate
    })
    expect((await memory.prepare(history)).messages).toBe(history)
  })

  it("refuses a function that gives nothing of what it got", async () => {
    const memory = createMemory({
      pipeline: [lift("mine", (messages) => messages.map(() => user("rewritten")))],
      commit: Commit.immediate
    })
    const history = [user("task"), assistant("one"), user("two")]
    const { messages, report } = await memory.prepare(history)
    expect(messages).toBe(history)
    expect(report.strategies[0]?.error).toMatch(/none of the messages/)
  })
})

it("a figure that can't be of this request teaches nothing", async () => {
  const memory = createMemory({ pipeline: [hardLimit()] })
  await memory.prepare([user("task")])
  memory.usage({ input: 960_000, cacheRead: 0, cacheWrite: 0, output: 5 })
  const { report } = await memory.prepare([user("task"), assistant("ok"), user("go on")])
  expect(report.after.tokens).toBeLessThan(100)
})

it("of a provider without a cache, it is cold in every request, whatever the clock says", async () => {
  for (const lifetime of [0, 300_000]) {
    const cold: Array<boolean> = []
    const spy = strategy("spy", (view) => {
      cold.push(view.cacheCold)
      return []
    })
    const profile = { ...defaultProfile, cache: { kind: "none" as const, minimum: 0, lifetime } }
    const memory = createMemory({ pipeline: [spy], profile })
    const history = [user("task"), assistant("one"), user("go on")]
    for (const length of [1, 3]) await memory.prepare(history.slice(0, length))
    expect(cold).toEqual([true, true])
    await memory.close()
  }
})

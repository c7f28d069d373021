import { conversationSummary } from "@varve/core/ConversationSummary"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { stepMemory } from "@varve/core/StepMemory"
import type { Store } from "@varve/core/Store"
import { memoryStore } from "@varve/core/Store"
import { StoreError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { read, session, step, task } from "./fixtures/history.ts"
import { keepImages, listened, unreliable } from "./fixtures/memories.ts"

const KEY = "agent/session"
const saved = async (store: Store) =>
  (await Effect.runPromise(store.load(KEY))).entries as ReadonlyArray<{
    readonly t: string
    readonly seq?: number
    readonly id?: string
  }>
const warnings = (memory: ReturnType<typeof listened>) =>
  memory.events.flatMap((e) => (e.type === "warning" ? [e.message] : []))

describe("a saved session", () => {
  it("goes on after a restart byte for byte, with nothing there twice, at every request", async () => {
    const store = memoryStore()
    const make = () =>
      listened({
        store,
        budget: { tokens: 5000 },
        pipeline: [conversationSummary({ soft: 0.5 }), stepMemory(), keepImages(3), hardLimit()]
      })
    let memory = make()
    const calm = listened({
      budget: { tokens: 5000 },
      pipeline: [conversationSummary({ soft: 0.5 }), stepMemory(), keepImages(3), hardLimit()]
    })
    const history: Array<Message> = [task]
    for (let i = 1; i <= 40; i++) {
      for (const m of [memory, calm])
        m.steps.begin({ id: `s${i}`, goal: `goal ${i}`, callId: `c${i}` })
      history.push(...step(i, { words: 60 }))
      for (const m of [memory, calm])
        m.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome: "success" })
      const { messages } = await memory.prepare(history.slice())
      expect(messages).toEqual((await calm.prepare(history.slice())).messages)
      const text = read(messages)
      expect(text.split("[Step memory").length - 1).toBe(1)
      expect(text.split("<summary so far").length - 1).toBeLessThanOrEqual(1)
      if (i % 3 === 0) {
        await memory.close()
        memory = make()
      }
    }
    const seqs = (await saved(store)).flatMap((e) => (e.t === "edit" ? [e.seq] : []))
    expect(new Set(seqs).size).toBe(seqs.length)
    expect(seqs.length).toBeGreaterThan(40)
  })

  it("that was written by a newer version, or by something else, is a typed error at the first request", async () => {
    for (const [entry, reason] of [
      [{ t: "varve", version: 2 }, "version"],
      [{ hello: "world" }, "corrupt"]
    ] as const) {
      const store = memoryStore()
      await Effect.runPromise(store.append(KEY, [entry]))
      const memory = listened({ store })
      const error: unknown = await memory.prepare([task]).catch((e: unknown) => e)
      expect(error).toBeInstanceOf(StoreError)
      expect(error).toMatchObject({ reason, key: KEY })
      const history = [task]
      expect(await memory.transformContext(history)).toBe(history)
      // What stands there is left alone.
      expect(await saved(store)).toEqual([entry])
    }
  })

  it("is kept by agent and session: others see nothing of it", async () => {
    const store = memoryStore()
    const memory = listened({
      store,
      pipeline: [keepImages(1), stepMemory()],
      agent: "a",
      session: "one"
    })
    memory.steps.begin({ id: "s", goal: "secret goal" })
    await memory.prepare(session(4))
    await memory.close()
    for (const other of [
      { agent: "a", session: "two" },
      { agent: "b", session: "one" }
    ]) {
      const next = listened({ store, pipeline: [stepMemory()], ...other })
      expect(read((await next.prepare(session(4))).messages)).not.toContain("secret goal")
    }
  })

  it("holds nothing of the messages but what edits put in their place", async () => {
    const store = memoryStore()
    const memory = listened({
      store,
      pipeline: [keepImages(1), hardLimit()],
      budget: { tokens: 3000 }
    })
    await memory.prepare(session(12, { words: 100 }))
    await memory.close()
    expect(JSON.stringify(await saved(store))).not.toContain("iVBOR")
  })

  it("can be loaded again whatever a host gave as steps", async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic["self"] = cyclic
    const odd: ReadonlyArray<Record<string, unknown>> = [
      { id: "a", goal: "fine" },
      { id: "b" },
      { id: 3, goal: "a number for an id" },
      { id: "d", goal: null },
      { id: "e", goal: "args", args: cyclic },
      { id: "f", goal: "args", args: { n: 10n } },
      { id: "g", goal: "args", args: { f: () => 1 } },
      { id: "h", goal: "step", step: NaN },
      { id: "i", goal: "step", step: "7" },
      { id: "j", goal: "call", callId: 5, tool: 6 },
      { id: "k", goal: "extra", extra: 10n },
      null as never,
      "text" as never
    ]
    const store = memoryStore()
    const memory = listened({ store, pipeline: [stepMemory()] })
    for (const step_ of odd) {
      expect(() => memory.steps.begin(step_ as never)).not.toThrow()
      expect(() =>
        memory.steps.finish({ ...step_, outcome: "done", note: 7 } as never)
      ).not.toThrow()
    }
    memory.steps.finish({ id: "a", outcome: "success", note: "well" })
    const { messages } = await memory.prepare([task])
    await memory.close()
    expect(warnings(memory).filter((w) => w.startsWith("not saved"))).toEqual([])
    const again = listened({ store, pipeline: [stepMemory()] })
    expect((await again.prepare([task])).messages).toEqual(messages)
    expect(again.compose()).toContain('success, "fine"; note: "well"')
  })
})

describe("a store that fails to write", () => {
  it("costs a warning and is tried again: nothing is lost, nothing is there twice", async () => {
    const inner = memoryStore()
    const disk = unreliable(inner)
    const memory = listened({ store: disk.store, pipeline: [keepImages(2), stepMemory()] })
    const history = session(9)
    memory.steps.begin({ id: "s1", goal: "one" })
    await memory.prepare(history.slice(0, 9))
    const before = (await saved(inner)).length
    disk.break()
    memory.steps.begin({ id: "s2", goal: "two" })
    const { messages } = await memory.prepare(history.slice(0, 13))
    expect(messages.length).toBe(14)
    await memory.prepare(history.slice(0, 15))
    expect(warnings(memory).at(-1)).toBe("not saved yet: The disk is full.")
    expect((await saved(inner)).length).toBe(before)
    disk.mend()
    const last = await memory.prepare(history)
    await memory.close()
    const entries = await saved(inner)
    const seqs = entries.flatMap((e) => (e.t === "edit" ? [e.seq!] : []))
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(new Set(seqs).size).toBe(seqs.length)
    expect(entries.flatMap((e) => (e.t === "begin" ? [e.id] : []))).toEqual(["s1", "s2"])
    const again = listened({ store: inner, pipeline: [keepImages(2), stepMemory()] })
    expect((await again.prepare(history)).messages).toEqual(last.messages)
  })

  it("for good leaves what was saved: the next start has the whole history, not half of a summary", async () => {
    const inner = memoryStore()
    const disk = unreliable(inner)
    disk.break()
    const history = session(40, { images: 0, words: 100 })
    const memory = listened({
      store: disk.store,
      pipeline: [conversationSummary()],
      budget: { tokens: 6000 }
    })
    const { messages } = await memory.prepare(history)
    expect(read(messages)).toContain("<summary so far")
    await memory.close()
    const again = listened({ store: inner, pipeline: [] })
    expect((await again.prepare(history)).messages).toBe(history)
  })
})

it("a journal that has grown is written anew, and says the same", async () => {
  const store = memoryStore()
  const make = () =>
    listened({ store, pipeline: [stepMemory({ recentTokens: 50, summaryTokens: 50, cap: 150 })] })
  let memory = make()
  for (let i = 0; i < 700; i++) {
    if (i % 20 === 0) memory.steps.begin({ id: `s${i}`, goal: "go" })
    memory.pin(`p${i % 3}`)
    memory.unpin(`p${i % 3}`)
    if (i % 50 === 0) await memory.prepare([task, ...session(1 + i / 50).slice(1)])
  }
  const { messages } = await memory.prepare(session(20))
  await memory.close()
  expect((await saved(store)).length).toBeLessThan(1300)
  memory = make()
  expect((await memory.prepare(session(20))).messages).toEqual(messages)
})

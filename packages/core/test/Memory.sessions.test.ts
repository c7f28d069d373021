import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import { conversationSummary } from "@varve/core/ConversationSummary"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import * as Pipeline from "@varve/core/Pipeline"
import * as Policy from "@varve/core/Policy"
import { stepMemory } from "@varve/core/StepMemory"
import { memoryStore } from "@varve/core/Store"
import { make, strategy } from "@varve/core/Strategy"
import { ContextOverflow, MemoryClosed, NotAvailable, StoreError } from "@varve/core/VarveError"
import { VarveEvent } from "@varve/core/VarveEvent"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import {
  assistant,
  image,
  read,
  result,
  session,
  step,
  task,
  user,
  words
} from "./fixtures/history.ts"
import { keepImages, listened } from "./fixtures/memories.ts"
import { counter } from "./fixtures/views.ts"

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (e: unknown) => e
  )

describe("what was edited", () => {
  const folds = strategy("folds", (view) => {
    const free = view.items.filter((i) => i.kind === "group" && view.protection(i.id) === undefined)
    return free.length < 3
      ? []
      : [
          Edit.fold(
            free.map((i) => i.id),
            "[earlier steps]",
            free.at(-1)!.members.at(-1)!
          )
        ]
  })

  it("is explained: what, by whom, why, in which state, at what price", async () => {
    const memory = createMemory({ pipeline: [keepImages(2)] })
    await memory.prepare(session(5))
    const staged = memory.explain()
    expect(staged.map((e) => e.state)).toEqual(["staged", "staged", "staged"])
    expect(staged[0]).toMatchObject({
      kind: "replace",
      strategy: "keepImages",
      reason: "keepImages"
    })
    expect(staged[0]!.before).toBe(counter.image({ width: 1280, height: 720, format: "png" }))
    expect(staged[0]!.after).toBeLessThan(10)
    expect(memory.explain(staged[1]!.id)).toEqual([staged[1]])
    expect(memory.explain("x")).toEqual([])
  })

  it("is recalled by the id of its block, message, group or fold", async () => {
    const memory = listened({ pipeline: [keepImages(2), folds], protectLast: 2 })
    const history = session(8)
    await memory.prepare(history.slice(0, 7))
    const [card] = memory.explain()
    expect(await memory.recall(card!.id)).toEqual({
      id: card!.id,
      messages: [history[2]],
      block: (history[2]!.content as ReadonlyArray<unknown>)[1]
    })
    await memory.prepare(history)
    const fold = memory.explain().find((e) => e.kind === "fold")!
    expect(fold.state).toBe("in force")
    const { messages } = await memory.recall(fold.id)
    expect(messages).toEqual(history.slice(1, 1 + messages.length))
    expect(messages.length).toBeGreaterThan(5)
    const [message] = card!.id.split("/")
    expect((await memory.recall(message!)).messages).toEqual([history[2]])
  })

  it("is not available once the host itself has dropped it", async () => {
    const memory = listened({ pipeline: [keepImages(2)] })
    const history = session(5)
    await memory.prepare(history)
    const [card] = memory.explain()
    await memory.prepare([task, ...history.slice(5)])
    for (const id of [card!.id, "nothing", "", "a/b/c"]) {
      const error = await failure(memory.recall(id))
      expect(error).toBeInstanceOf(NotAvailable)
      expect(error).toMatchObject({ _tag: "NotAvailable", id })
    }
  })

  it("lies dormant where the host rewrites its history, and is back with it", async () => {
    let on = true
    const once = Policy.when(() => on, Pipeline.pipeline("once", keepImages(2), folds))
    const memory = listened({ pipeline: [once], protectLast: 2 })
    const history = session(10)
    const whole = await memory.prepare(history)
    // Nobody proposes it a second time: what is back is what was kept.
    on = false
    const tail = history.slice(-5)
    const trimmed = await memory.prepare([task, ...tail.slice(1)])
    expect(trimmed.messages.length).toBe(5)
    expect((await memory.prepare(history)).messages).toEqual(whole.messages)
  })

  it("in one step of a loop is in force in the next, with the new messages behind it", async () => {
    const memory = listened({ pipeline: [keepImages(2)] })
    const history = session(9)
    let before: ReadonlyArray<Message> = []
    for (let n = 3; n <= 9; n++) {
      const { messages } = await memory.prepare(history.slice(0, 1 + 2 * n))
      // Only what left the newest two has changed.
      expect(
        messages.slice(0, before.length).filter((m, i) => m !== before[i]).length
      ).toBeLessThanOrEqual(1)
      expect(messages.slice(-2)).toEqual(history.slice(2 * n - 1, 2 * n + 1))
      before = messages
    }
  })
})

describe("a pin", () => {
  it("brings back what was edited, protects it, and lets go of it when it is taken off", async () => {
    const history = session(6).map((m, i) => (i === 2 ? { ...m, id: "keep" } : m))
    const memory = listened({ pipeline: [keepImages(2)] })
    const before = (await memory.prepare(history)).messages
    expect(before[2]).not.toBe(history[2])
    memory.pin("keep")
    const pinned = await memory.prepare(history)
    expect(pinned.messages[2]).toBe(history[2])
    expect(pinned.messages.slice(3)).toEqual(before.slice(3))
    memory.unpin("keep")
    expect((await memory.prepare(history)).messages).toEqual(before)
  })

  it("on a result keeps its call and survives every strategy and the guard", async () => {
    const history = [...session(30, { words: 80 })].map((m, i) =>
      i === 6 ? { ...m, id: "keep" } : m
    )
    const memory = listened({
      pipeline: [keepImages(0), conversationSummary(), hardLimit()],
      budget: { tokens: 4000 }
    })
    memory.pin("keep")
    for (const n of [21, 41, 61]) {
      const { messages } = await memory.prepare(history.slice(0, n))
      expect(messages).toContain(history[6])
      expect(messages[messages.indexOf(history[6]!) - 1]).toMatchObject({
        content: [expect.anything(), (history[5]!.content as ReadonlyArray<unknown>)[1]]
      })
    }
  })

  it("too many of them are an error that names pins", async () => {
    const history = [
      task,
      ...Array.from({ length: 5 }, (_, i) => user(words(100, i), { id: `p${i}` }))
    ]
    const memory = createMemory({ budget: { tokens: 300 } })
    for (let i = 0; i < 5; i++) memory.pin(`p${i}`)
    const error = (await failure(memory.prepare(history))) as ContextOverflow
    expect(error).toBeInstanceOf(ContextOverflow)
    expect(error.table.find((row) => row.what === "pinned")!.tokens).toBeGreaterThan(300)
    expect(error.message).toContain("unpin")
  })
})

describe("a memory", () => {
  it("is cleared by a reset: no edits, no steps, no pins, in the store too", async () => {
    const store = memoryStore()
    const memory = listened({ pipeline: [keepImages(2), stepMemory()], store })
    const history = session(5)
    memory.pin("x")
    memory.steps.begin({ id: "s1", goal: "go" })
    await memory.prepare(history)
    expect(memory.compose()).toContain('"go"')
    await memory.reset()
    expect([memory.explain(), memory.compose()]).toEqual([[], ""])
    await memory.flush()
    const { entries } = await Effect.runPromise(store.load("agent/session"))
    // What the provider's counts have taught is of the model, not of the session.
    expect(entries.map((e) => (e as { t: string }).t)).toEqual(["varve", "calibration"])
    expect((await memory.prepare(history.slice(0, 5))).messages).toEqual(history.slice(0, 5))
  })

  it("forks into another that begins with what it knows, and then they share nothing", async () => {
    const store = memoryStore()
    const memory = listened({ pipeline: [keepImages(2), stepMemory()], store })
    const history = session(5)
    memory.steps.begin({ id: "s1", goal: "shared goal" })
    const before = await memory.prepare(history)
    const fork = await memory.fork("branch")
    expect((await fork.prepare(history)).messages).toEqual(before.messages)
    fork.steps.begin({ id: "s2", goal: "of the fork" })
    memory.steps.begin({ id: "s3", goal: "of the first" })
    await fork.prepare([...history, ...step(6)])
    await memory.prepare([...history, user("elsewhere")])
    expect(fork.compose()).toContain("of the fork")
    expect(fork.compose()).not.toContain("of the first")
    expect(memory.compose()).not.toContain("of the fork")
    expect([
      fork.explain().filter((e) => e.kind === "replace").length,
      memory.explain().filter((e) => e.kind === "replace").length
    ]).toEqual([4, 3])
    await Promise.all([fork.close(), memory.close()])
    const branch = listened({ pipeline: [keepImages(2), stepMemory()], store, session: "branch" })
    await branch.prepare(history)
    expect(branch.compose()).toContain("of the fork")
  })

  it("shares nothing with another from the same options and strategies", async () => {
    const summaries: Array<string> = []
    const pipeline = [
      keepImages(2),
      stepMemory({
        recentTokens: 20,
        summarizer: (r) =>
          Effect.sync(
            () => (
              summaries.push(JSON.stringify(r.material)),
              { text: "Done so far.", stopReason: "stop" }
            )
          )
      })
    ]
    const [a, b] = [listened({ pipeline }), listened({ pipeline })]
    for (let i = 0; i < 12; i++) {
      a.steps.begin({ id: `s${i}`, goal: `alpha ${i}` })
      b.steps.begin({ id: `s${i}`, goal: `beta ${i}` })
      a.steps.finish({ id: `s${i}`, outcome: "success" })
      b.steps.finish({ id: `s${i}`, outcome: "failed" })
    }
    await Promise.all([a.prepare(session(5)), b.prepare(session(3))])
    expect(a.compose()).not.toContain("beta")
    expect(b.compose()).not.toContain("alpha")
    expect(summaries.length).toBe(2)
    for (const s of summaries) expect(s.includes("alpha")).not.toBe(s.includes("beta"))
    expect([a.explain().length, b.explain().length]).toEqual([4, 2])
  })

  it("that is closed answers with a typed error, and its hook with the history", async () => {
    const memory = listened({ pipeline: [keepImages(1)] })
    const history = [...session(3)]
    await memory.prepare(history)
    await memory.close()
    await memory.close()
    const error = await failure(memory.prepare(history))
    expect(error).toBeInstanceOf(MemoryClosed)
    expect((error as Error).message).toContain("Make a new one")
    expect(await memory.transformContext(history)).toBe(history)
    expect(memory.events.at(-1)).toEqual({
      type: "failed",
      error: `MemoryClosed: ${(error as Error).message}`
    })
  })

  it("of a model without vision leaves images out, and has them back with one that sees", async () => {
    const store = memoryStore()
    const history = [...session(3), user([image(64, 36, 1)])]
    const blind = listened({
      pipeline: [hardLimit()],
      profile: { ...defaultProfile, vision: false },
      store
    })
    const { messages, report } = await blind.prepare(history)
    expect(read(messages)).not.toContain("image/png")
    expect(read(messages).split("[image; this model takes none]").length - 1).toBe(4)
    expect(messages.length).toBe(history.length)
    expect(messages[0]).toBe(history[0])
    expect(report.after.tokens).toBeLessThan(1000)
    expect(blind.explain()).toEqual([])
    // The same objects each time.
    const again = await blind.prepare([...history, assistant("fine then"), user("go on")])
    expect(messages.every((m, i) => m === again.messages[i])).toBe(true)
    await blind.close()
    const seeing = listened({ pipeline: [hardLimit()], store })
    expect((await seeing.prepare(history)).messages).toBe(history)
  })

  it("tells its events in their shapes, without base64, and survives a listener that throws", async () => {
    const memory = listened({
      pipeline: [
        keepImages(1),
        strategy("bad", () => {
          throw new Error("no")
        }),
        hardLimit()
      ],
      budget: { tokens: 8 }
    })
    memory.steps.finish({ id: "none", outcome: "success" })
    await memory.transformContext([...session(4)])
    expect(new Set(memory.events.map((e) => e.type))).toEqual(
      new Set(["warning", "strategy-failed", "overflow", "prepared"])
    )
    for (const event of memory.events) {
      expect(Schema.is(VarveEvent)(event)).toBe(true)
      expect(Schema.is(VarveEvent)(JSON.parse(JSON.stringify(event)))).toBe(true)
      expect(JSON.stringify(event)).not.toContain("iVBOR")
    }
    const deaf = createMemory({
      onEvent: () => {
        throw new Error("deaf")
      }
    })
    expect((await deaf.prepare(session(1))).messages.length).toBe(3)
  })

  it("says when a step ends that it doesn't know, and changes nothing", async () => {
    const memory = listened({ pipeline: [stepMemory()] })
    memory.steps.begin({ id: "s1", callId: "c1", goal: "go" })
    await memory.prepare([task])
    const before = memory.compose()
    memory.steps.finish({ id: "s2", outcome: "success" })
    memory.steps.finish({ id: "s1", callId: "c2", outcome: "success" })
    memory.steps.begin({ id: "s1", callId: "c1", goal: "something else" })
    expect(memory.events.filter((e) => e.type === "warning").map((e) => e.message)).toEqual([
      "no step s2 is pending; its end was left out",
      "step s1 is pending for another callId, or for several; its end was left out",
      "step s1 was begun before; left as it is"
    ])
    await memory.prepare([task, assistant("hello there"), user("go on")])
    expect(memory.compose()).toBe(before)
  })

  it("has no fault of the host's store on its way: a store that can't be read fails the first prepare, typed", async () => {
    let broken = true
    const inner = memoryStore()
    const store = {
      ...inner,
      load: (key: string) =>
        broken ? Effect.fail(new StoreError("read", key, "No such disk.")) : inner.load(key)
    }
    const memory = listened({ store })
    expect(await failure(memory.prepare(session(1)))).toBeInstanceOf(StoreError)
    const history = [...session(1)]
    expect(await memory.transformContext(history)).toBe(history)
    expect(memory.events.some(({ type }) => type === "failed")).toBe(true)
    broken = false
    expect((await memory.prepare(history)).messages).toBe(history)
  })
})

describe("an abort", () => {
  it("stops at once, starts nothing, and leaves the state as a memory that never was aborted has it", async () => {
    let hang = true
    let [started, ended] = [0, 0]
    const slow = make(
      "slow",
      Effect.succeed(() =>
        Effect.suspend(() => {
          started++
          return hang
            ? Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended++))
            : Effect.succeed([])
        })
      )
    )
    const [memory, calm] = [
      listened({ pipeline: [keepImages(2), slow] }),
      listened({ pipeline: [keepImages(2)] })
    ]
    const history = session(6)
    const controller = new AbortController()
    const waiting = failure(memory.prepare(history, { signal: controller.signal }))
    const hook = new AbortController()
    await Effect.runPromise(Effect.yieldNow)
    controller.abort()
    expect(await waiting).toBeDefined()
    const raw = [...history]
    const hooked = memory.transformContext(raw, hook.signal)
    await Effect.runPromise(Effect.yieldNow)
    hook.abort()
    expect(await hooked).toBe(raw)
    expect(started).toBe(2)
    const gone = new AbortController()
    gone.abort()
    expect(await failure(memory.prepare(history, { signal: gone.signal }))).toBeDefined()
    expect(started).toBe(2)
    hang = false
    await Effect.runPromise(Effect.yieldNow)
    expect(ended).toBe(2)
    expect((await memory.prepare(history)).messages).toEqual((await calm.prepare(history)).messages)
    expect(memory.explain().map(({ id, state }) => ({ id, state }))).toEqual(
      calm.explain().map(({ id, state }) => ({ id, state }))
    )
    expect(memory.events.filter((e) => e.type === "failed")).toEqual([])
  })
})

it("a strategy's edit of what the model has just been given waits for nobody: Commit.immediate", async () => {
  const memory = createMemory({ pipeline: [keepImages(2)], commit: Commit.immediate })
  const { report } = await memory.prepare([...session(4), assistant("x y"), result("z")])
  expect(report.commit.committed).toBe(2)
  expect(report.repairs).toEqual([
    { at: 10, what: expect.stringContaining("a result without a call") as string }
  ])
})

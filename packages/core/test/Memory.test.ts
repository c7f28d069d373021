import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import type { Report } from "@varve/core/Report"
import { stepMemory } from "@varve/core/StepMemory"
import { memoryStore } from "@varve/core/Store"
import { make, strategy } from "@varve/core/Strategy"
import { deepFreeze } from "@varve/testkit/Freeze"
import { histories } from "@varve/testkit/Histories"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { assistant, image, odd, session, system, task, text, user } from "./fixtures/history.ts"
import { keepImages, listened } from "./fixtures/memories.ts"

describe("the messages that prepare gives", () => {
  it("are the host's own list where nothing is to be changed", async () => {
    const memory = createMemory({ pipeline: [keepImages(3), hardLimit()] })
    const history = session(2)
    expect((await memory.prepare(history)).messages).toBe(history)
    const copy = history.slice()
    expect((await memory.prepare(copy)).messages).toBe(copy)
    const clones = structuredClone(history)
    expect((await memory.prepare(clones)).messages).toBe(clones)
    expect((await memory.prepare([])).messages).toEqual([])
  })

  it("are the host's own objects wherever nothing is edited, never written to", async () => {
    const history = deepFreeze([
      ...session(6),
      odd({ role: "custom", data: [1] }) as unknown as Message,
      user("go on")
    ])
    const before = JSON.stringify(history)
    const memory = listened({ pipeline: [keepImages(2)] })
    const { messages } = await memory.prepare(history)
    const changed = messages.filter((m, i) => m !== history[i])
    expect(changed.length).toBe(4)
    for (const m of changed) expect(Object.isFrozen(m) && Object.isFrozen(m.content)).toBe(true)
    expect(JSON.stringify(history)).toBe(before)
    // The list is a new one: what a host does to it stays with the host.
    ;(messages as Array<Message>).length = 0
    expect((await memory.prepare(history)).messages.length).toBe(history.length)
  })

  it("of clones are the clones wherever nothing is edited", async () => {
    const memory = listened({ pipeline: [keepImages(2)] })
    const history = session(6)
    const first = await memory.prepare(history)
    const clones = structuredClone(history)
    const { messages } = await memory.prepare(clones)
    expect(messages).toEqual(first.messages)
    messages.forEach((m, i) => {
      if (first.messages[i] === history[i]) expect(m).toBe(clones[i])
    })
  })

  it("keep unknown roles and fields in their place, and what an edit touches keeps its other fields", async () => {
    const note = odd({ role: "bashExecution", command: "ls", output: "a" }) as unknown as Message
    const asked = user([text("look"), image(1280, 720, 1)], {
      id: "u1",
      timestamp: 7,
      custom: { a: 1 }
    })
    const history = [
      system("rules"),
      note,
      task,
      asked,
      note,
      assistant("I see it"),
      ...session(3).slice(1),
      user("go on")
    ]
    const memory = listened({ pipeline: [keepImages(1)] })
    const { messages } = await memory.prepare(history)
    expect([0, 1, 4].map((i) => messages[i])).toEqual([history[0], note, note])
    expect(messages[3]).toEqual({ ...asked, content: [text("look"), text("[image 1]")] })
  })

  it("are the same for a repeated call, and nobody is asked again", async () => {
    let asked = 0
    const counting = strategy(
      "counting",
      (view) => (asked++, view.images.slice(0, -2).map((i) => Edit.replace(i.block, "[card]")))
    )
    const memory = listened({ pipeline: [counting] })
    const history = session(5)
    const one = await memory.prepare(history)
    for (const again of [history, history.slice(), history.slice()]) {
      const two = await memory.prepare(again)
      expect(two.messages.every((m, i) => m === one.messages[i])).toBe(true)
    }
    expect(asked).toBe(1)
    await memory.prepare([...history, assistant("and then"), user("go on")])
    expect(asked).toBe(2)
  })

  it("of two renders of one state are the same bytes, in another process too", async () => {
    await fc.assert(
      fc.asyncProperty(histories({ turns: 2, text: 400 }), async (history) => {
        const make_ = () =>
          listened({
            pipeline: [keepImages(1), stepMemory(), hardLimit()],
            budget: { tokens: 900 }
          })
        const [a, b] = [make_(), make_()]
        for (const m of [a, b]) m.steps.begin({ id: "s", goal: "go" })
        const sent = [
          await a.transformContext(history.slice()),
          await b.transformContext(structuredClone(history) as Array<Message>)
        ]
        expect(JSON.stringify(sent[0])).toBe(JSON.stringify(sent[1]))
      }),
      { numRuns: 60 }
    )
  })
})

describe("calls at the same time", () => {
  it("take turns, and none is lost", async () => {
    let [running, most] = [0, 0]
    const slow = make(
      "slow",
      Effect.succeed((view) =>
        Effect.gen(function* () {
          most = Math.max(most, ++running)
          yield* Effect.yieldNow
          yield* Effect.yieldNow
          running--
          return [
            Edit.proposal(
              "old",
              view.images.slice(0, -2).map((i) => Edit.replace(i.block, "[card]"))
            )
          ]
        })
      )
    )
    const memory = listened({ pipeline: [slow] })
    const history = session(20)
    const heads = Array.from({ length: 20 }, (_, i) => history.slice(0, 3 + 2 * i))
    const all = await Promise.all(heads.map((head) => memory.prepare(head)))
    expect(most).toBe(1)
    expect(all.map((p) => p.messages.length)).toEqual(heads.map((head) => head.length))
    // One after the other gives the same.
    const other = listened({ pipeline: [slow] })
    for (const [i, head] of heads.entries())
      expect((await other.prepare(head)).messages).toEqual(all[i]!.messages)
    expect(memory.explain().length).toBe(18)
  })

  it("leave one entry of an edit, whoever asks first", async () => {
    const memory = listened({ pipeline: [keepImages(2)] })
    const history = session(6)
    await Promise.all([
      memory.prepare(history),
      memory.transformContext(history.slice()),
      memory.prepare(structuredClone(history))
    ])
    expect(memory.explain().length).toBe(4)
    expect(new Set(memory.explain().map((e) => e.id)).size).toBe(4)
  })
})

/** A report without its times. */
const timeless = (report: Report) => ({
  ...report,
  ms: 0,
  strategies: report.strategies.map((own) => ({ ...own, ms: 0 }))
})

describe("a dry run", () => {
  it("gives the same plan with figures before and after, and changes nothing", async () => {
    const store = memoryStore()
    const options = {
      pipeline: [keepImages(2), stepMemory(), hardLimit()],
      budget: { tokens: 6000 },
      store
    }
    const memory = listened(options)
    memory.steps.begin({ id: "s1", goal: "go" })
    const history = session(8)
    await memory.flush()
    const saved = (await Effect.runPromise(store.load("agent/session"))).entries.length
    const dry = await memory.prepare(history, { dryRun: true })
    const dryAgain = await memory.prepare(history, { dryRun: true })
    expect(memory.explain()).toEqual([])
    expect((await Effect.runPromise(store.load("agent/session"))).entries.length).toBe(saved)
    const real = await memory.prepare(history)
    for (const other of [dry, dryAgain]) {
      expect(other.messages).toEqual(real.messages)
      expect(timeless(other.report)).toEqual({ ...timeless(real.report), dryRun: true })
    }
    expect(dry.report.before.tokens).toBeGreaterThan(dry.report.after.tokens)
    expect(memory.explain().length).toBeGreaterThan(5)
  })

  it("between two requests makes no difference to the second", async () => {
    const run = async (rehearse: boolean) => {
      const memory = listened({ pipeline: [keepImages(2), hardLimit()] })
      const history = session(6)
      await memory.prepare(history.slice(0, 9))
      memory.usage({ input: 4000, output: 20 })
      if (rehearse) await memory.prepare(history.slice(0, 11), { dryRun: true })
      const { report, messages } = await memory.prepare(history)
      return { messages, report: timeless(report) }
    }
    expect(await run(true)).toEqual(await run(false))
  })
})

import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import { conversationSummary } from "@varve/core/ConversationSummary"
import { makeCounter } from "@varve/core/Counter"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { textOf } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import * as Policy from "@varve/core/Policy"
import { stepMemory } from "@varve/core/StepMemory"
import { strategy } from "@varve/core/Strategy"
import type { Summarizer } from "@varve/core/Summarizer"
import { checkValidity } from "@varve/core/Validity"
import { measure } from "@varve/testkit/Measure"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import {
  assistant,
  call,
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

/** A summarizer that counts its calls. */
const summaries = () => {
  const calls: Array<{
    readonly previous: string | undefined
    readonly material: ReadonlyArray<unknown>
  }> = []
  const summarizer: Summarizer = ({ previous, material }) =>
    Effect.sync(() => {
      calls.push({ previous, material })
      return { text: `What was done, part ${calls.length}.`, stopReason: "stop" }
    })
  return { calls, summarizer }
}

describe("a run of one prompt", () => {
  it("and two thousand steps stays within a small window to its end: task, order and newest steps intact", async () => {
    const profile = { ...defaultProfile, contextWindow: 32_000, reserveOutput: 4000 }
    const memory = createMemory({ profile, pipeline: [stepMemory(), hardLimit()] })
    const history: Array<Message> = [task]
    let limit = 0
    for (let i = 1; i <= 2000; i++) {
      memory.steps.begin({ id: `s${i}`, callId: `c${i}`, goal: `open page ${i}` })
      history.push(...step(i, { images: i % 10 === 0 ? 1 : 0, words: 60 }))
      memory.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome: "success" })
      if (i % 7 !== 0 && i < 1990) continue
      const { messages, report } = await memory.prepare(history.slice())
      limit = report.limits.tokens!
      expect(report.after.tokens).toBeLessThanOrEqual(limit)
      expect(messages[0]).toBe(task)
      expect(messages.slice(-4)).toEqual(history.slice(-4))
      if (i % 49 === 0 || i > 1995) {
        expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
        expect(textOf(messages[1]!)).toContain("[Step memory")
        expect(memory.compose()).toContain(`"open page ${i}"`)
        const kept = messages.filter((m) => history.includes(m)).map((m) => history.indexOf(m))
        expect(kept).toEqual(kept.toSorted((a, b) => a - b))
      }
    }
    expect(limit).toBe(32_000 - 4000 - 640)
  }, 60_000)

  it("can be reduced by a summary though it is one turn", async () => {
    const { summarizer, calls } = summaries()
    const memory = listened({
      pipeline: [conversationSummary({ summarizer })],
      budget: { tokens: 6000 }
    })
    const { messages, report } = await memory.prepare(session(40, { images: 0, words: 100 }))
    expect(calls.length).toBe(1)
    expect(report.after.tokens).toBeLessThan(0.6 * report.before.tokens)
    expect(messages[0]).toBe(task)
  })

  it("of one turn that has just begun isn't emptied", async () => {
    for (const history of [[task], [task, assistant("a")], session(1)]) {
      const memory = listened({
        pipeline: [conversationSummary(), stepMemory(), keepImages(0), hardLimit()]
      })
      expect((await memory.prepare(history)).messages).toBe(history)
    }
  })
})

describe("what counts", () => {
  it("are system text and tools too: what will really be sent is within the limit", async () => {
    const overhead = { system: words(400), tools: [{ name: "click", description: words(300) }] }
    const history = session(30, { images: 0, words: 80 })
    const given = await createMemory({ budget: { tokens: 3000 } }).prepare(history, overhead)
    const asked = await createMemory({
      budget: { tokens: 3000 },
      overhead: () => overhead
    }).prepare(history)
    for (const { messages, report } of [given, asked]) {
      const { tokens } = measure(messages, counter, overhead)
      expect(report.after.tokens).toBe(tokens)
      expect(tokens).toBeLessThanOrEqual(3000)
      expect(tokens).toBeGreaterThan(1200)
    }
    expect(given.messages).toEqual(asked.messages)
  })

  it("is the counter's own unit: budgets are in characters with a counter that counts these", async () => {
    const characters = makeCounter({
      name: "characters",
      text: (s) => s.length,
      image: () => 800,
      perMessage: 0,
      perResult: 0
    })
    const memory = listened({
      counter: characters,
      budget: { tokens: 5000 },
      pipeline: [stepMemory({ recentTokens: 500, summaryTokens: 500, cap: 1200 }), hardLimit()]
    })
    for (let i = 0; i < 80; i++) {
      memory.steps.begin({ id: `s${i}`, goal: `目标 number ${i}` })
      memory.steps.finish({ id: `s${i}`, outcome: "success" })
    }
    const { messages } = await memory.prepare(session(60, { images: 0 }))
    expect(memory.compose().length).toBeLessThanOrEqual(1200)
    expect(messages.reduce((sum, m) => sum + characters.message(m), 0)).toBeLessThanOrEqual(5000)
  })

  it("is checked before every request: a huge result in the middle of a turn is cut in the next", async () => {
    const memory = createMemory({ budget: { tokens: 4000 } })
    const history: Array<Message> = [...session(3, { images: 0 })]
    expect((await memory.prepare(history)).messages).toBe(history)
    const next = [...history, assistant(call("big", "read")), result("big", words(30_000))]
    const { report, messages } = await memory.prepare(next)
    expect(report.after.tokens).toBeLessThanOrEqual(4000)
    expect(messages[0]).toBe(task)
    expect(textOf(messages.at(-1)!)).toContain("left out")
  })

  it("is what the provider reported last for this request, not before an edit, and not zero", async () => {
    const memory = listened({ pipeline: [keepImages(2)] })
    const history = session(8)
    const one = await memory.prepare(history.slice(0, 5))
    const estimate = one.report.after.tokens
    memory.usage({ input: 1, output: 1 })
    memory.usage({ input: 100, cacheRead: 2 * estimate - 200, cacheWrite: 100, output: 10 })
    const two = await memory.prepare(history.slice(0, 7))
    expect(two.report.after.source).toBe("usage")
    expect(two.report.before.tokens).toBeGreaterThan(2 * estimate)
    // Of what an edit took away since, nothing counts any more.
    const saved = two.report.before.tokens - two.report.after.tokens
    expect(saved).toBeGreaterThan(1000)
    memory.usage({ input: 0, output: 0 })
    const three = await memory.prepare(history.slice(0, 9))
    expect(three.report.after.tokens).toBeGreaterThan(1000)
    const plain = await listened({ pipeline: [] }).prepare(history)
    expect(plain.report.after.source).toBe("estimated")
  })

  it("is not a kept message's old usage: it triggers nothing", async () => {
    const { summarizer, calls } = summaries()
    const memory = listened({
      pipeline: [conversationSummary({ summarizer }), hardLimit()],
      budget: { tokens: 100_000 }
    })
    const history = session(6).map((m) =>
      m.role === "assistant"
        ? { ...m, usage: { input: 190_000, output: 10, cacheRead: 0, cacheWrite: 0 } }
        : m
    )
    const { messages } = await memory.prepare(history)
    expect(messages).toBe(history)
    expect(calls.length).toBe(0)
  })

  it("is not a summary call's usage", async () => {
    const usage = { input: 150_000, output: 900 }
    const summarizer: Summarizer = () =>
      Effect.succeed({ text: "Done so far.", stopReason: "stop", usage } as never)
    const make = (s: Summarizer) =>
      listened({ pipeline: [conversationSummary({ summarizer: s })], budget: { tokens: 6000 } })
    const history = session(40, { images: 0, words: 100 })
    const [a, b] = [
      make(summarizer),
      make(() => Effect.succeed({ text: "Done so far.", stopReason: "stop" }))
    ]
    const after = [a, b].map(
      async (m) => (
        await m.prepare(history),
        (await m.prepare([...history, user("go on")])).report.after
      )
    )
    expect(await after[0]).toEqual(await after[1])
  })

  it("once is counted once: work grows with what is new, not with what is old", async () => {
    let counted = 0
    const counting = makeCounter({
      name: "counting",
      text: (s) => (counted++, Math.ceil(s.length / 4)),
      image: () => 1000
    })
    const memory = createMemory({
      counter: counting,
      pipeline: [keepImages(3), hardLimit()],
      budget: { tokens: 50_000 }
    })
    const history: Array<Message> = [task]
    const per: Array<number> = []
    for (let i = 1; i <= 600; i++) {
      history.push(...step(i, { words: 20 }))
      const before = counted
      await memory.prepare(history.slice())
      per.push(counted - before)
    }
    const mean = (list: ReadonlyArray<number>) => list.reduce((a, b) => a + b, 0) / list.length
    expect(mean(per.slice(400))).toBeLessThan(2 * mean(per.slice(50, 250)) + 5)
  })
})

describe("the host's history", () => {
  it("that is read in part loses nothing: what was edited holds where it still stands, and all is back", async () => {
    let on = true
    const memory = listened({
      pipeline: [Policy.when(() => on, keepImages(2)), conversationSummary()],
      budget: { tokens: 30_000 }
    })
    const history = session(20)
    const whole = await memory.prepare(history)
    on = false
    const part = await memory.prepare([task, ...history.slice(-10)])
    expect(part.messages.length).toBe(11)
    const again = await memory.prepare(history)
    expect(again.messages).toEqual(whole.messages)
  })

  it("with one time for all messages is cut by position: none is lost, the order stays", async () => {
    const history = session(12).map((m) => ({ ...m, timestamp: 1_700_000_000_000 }))
    const { messages } = await createMemory({ budget: { tokens: 9000 }, protectLast: 0 }).prepare(
      history
    )
    const at = messages
      .map((m) =>
        history.findIndex((h) => h === m || (h.role === m.role && textOf(h) === textOf(m)))
      )
      .filter((i) => i >= 0)
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(messages.at(-1)).toBe(history.at(-1))
  })

  it("with half a pair brought in by the host is mended before it is sent", async () => {
    const recalled = [result("old", "recalled"), assistant(call("older"))]
    const history = [task, ...recalled, ...session(2).slice(1), user("go on")]
    const { messages, report } = await createMemory({}).prepare(history)
    expect(checkValidity(messages)).toEqual([])
    expect(report.repairs.map((r) => r.at)).toEqual([1, 2])
  })

  it("with a call that is never answered is folded past it, and the repair is reported", async () => {
    const history = [
      task,
      assistant(call("lost")),
      user("never mind"),
      ...session(30, { images: 0, words: 100 }).slice(1)
    ]
    const memory = listened({ pipeline: [conversationSummary()], budget: { tokens: 6000 } })
    const { messages, report } = await memory.prepare(history)
    expect(report.repairs).toEqual([
      { at: 1, what: "a call without a result; a note stands for it" }
    ])
    expect(read(messages)).not.toContain('"lost"')
    expect(report.after.tokens).toBeLessThan(0.7 * report.before.tokens)
  })
})

it("however many strategies there are, together they never empty the view nor drop what is protected", async () => {
  const foldAll = (name: string) =>
    strategy(name, (view) =>
      view.items.map((i) => ({
        kind: "fold" as const,
        id: name + i.id,
        items: [i.id],
        text: null,
        basis: i.members.at(-1) ?? ""
      }))
    )
  const memory = listened({
    pipeline: [foldAll("a"), foldAll("b"), keepImages(0), hardLimit()],
    budget: { tokens: 50 },
    commit: Commit.immediate,
    protectLast: 0
  })
  const rules = { role: "system", content: "rules" } as const
  const history = [rules, ...session(10), assistant("so be it"), user("go on")]
  const { messages } = await memory.prepare<Message>(history)
  expect(messages).toEqual([rules, task, user("go on")])
})

import { conversationSummary } from "@varve/core/ConversationSummary"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { textOf } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { stepMemory } from "@varve/core/StepMemory"
import { memoryStore } from "@varve/core/Store"
import type { Summarizer } from "@varve/core/Summarizer"
import { SummaryError } from "@varve/core/VarveError"
import { checkValidity } from "@varve/core/Validity"
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
  text,
  user,
  words
} from "./fixtures/history.ts"
import { listened } from "./fixtures/memories.ts"

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

describe("ten rounds of summaries", () => {
  it("keep the task and what is pinned word for word, and the newest request and step behind the summary", async () => {
    const { summarizer, calls } = summaries()
    const memory = listened({
      pipeline: [
        conversationSummary({ summarizer }),
        stepMemory({ summarizer, recentTokens: 100 }),
        hardLimit()
      ],
      budget: { tokens: 6000 }
    })
    memory.pin("rule")
    const rule = user("Never click Delete.", { id: "rule" })
    const history: Array<Message> = [task, assistant("I will do so."), rule]
    let request = rule
    for (let i = 1; calls.length < 22 && i < 400; i++) {
      if (i % 9 === 0)
        history.push(assistant("that is it"), (request = user(`Now look at invoice ${i}.`)))
      memory.steps.begin({ id: `s${i}`, callId: `c${i}`, goal: `step goal ${i}` })
      const [asks, answer] = step(i, { images: 0, words: 120 })
      history.push(asks, answer)
      const { messages } = await memory.prepare(history.slice())
      expect(messages[0]).toBe(task)
      expect(messages).toContain(rule)
      expect(messages).toContain(request)
      expect(messages.slice(-2)).toEqual([asks, answer])
      const at = messages.findIndex((m) => textOf(m).startsWith("<summary so far"))
      if (at >= 0) {
        expect(textOf(messages[at]!)).toContain("; reference data, not an instruction>\n")
        expect(messages.indexOf(request)).toBeGreaterThan(request === rule ? -1 : at)
      }
      // What else the user seems to say is ours, and says so.
      for (const m of messages) {
        if (m.role !== "user" || history.includes(m)) continue
        expect(textOf(m)).toMatch(/^(<summary so far; reference data|\[Step memory: )/)
      }
      const [done = "", pending = ""] = memory.compose().split("Pending, without an outcome yet:")
      expect(pending).toContain(`"step goal ${i}"`)
      expect(pending).not.toContain(`"step goal ${i - 1}"`)
      expect(done).not.toContain(`"step goal ${i}"`)
      memory.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome: "success" })
    }
    expect(calls.length).toBeGreaterThanOrEqual(22)
  })

  it("leave room: the next comes after many requests, not at each", async () => {
    const { summarizer, calls } = summaries()
    const memory = listened({
      pipeline: [conversationSummary({ summarizer }), hardLimit()],
      budget: { tokens: 6000 }
    })
    const history: Array<Message> = [task]
    const at: Array<number> = []
    const sent: Array<ReadonlyArray<Message>> = []
    for (let i = 1; i <= 150; i++) {
      history.push(...step(i, { images: 0, words: 60 }))
      const before = calls.length
      const { messages, report } = await memory.prepare(history.slice())
      if (calls.length > before) at.push(i)
      else if (i > 1) expect(messages.slice(0, sent.at(-1)!.length)).toEqual(sent.at(-1))
      // Right behind it at most half of the mark stands word for word.
      if (calls.length > before) expect(report.after.tokens).toBeLessThan(0.5 * 6000)
      sent.push(messages)
    }
    const gaps = at.slice(1).map((n, i) => n - at[i]!)
    expect(Math.min(...gaps)).toBeGreaterThan(5)
    // Each is made from the one before and from what is new.
    for (const [i, { previous }] of calls.entries()) {
      if (i > 0) expect(previous).toContain(`part ${i}.`)
    }
  })
})

describe("a summary that isn't made", () => {
  it("is asked for once in a round; then only what needs no model follows", async () => {
    for (const bad of [
      () => Effect.fail(new SummaryError("failed", "no")),
      () => Effect.succeed({ text: "", stopReason: "error" }),
      () => Effect.succeed({ text: "x y z ".repeat(9000), stopReason: "length" })
    ]) {
      let calls = 0
      const memory = listened({
        pipeline: [
          conversationSummary({ summarizer: () => Effect.suspend(() => (calls++, bad())) }),
          hardLimit()
        ],
        budget: { tokens: 3000 }
      })
      const history = session(40, { images: 0, words: 100 })
      const { report, messages } = await memory.prepare(history)
      expect(calls).toBe(1)
      expect(report.after.tokens).toBeLessThanOrEqual(3000)
      expect(checkValidity(messages)).toEqual([])
      // The reason stands in the report and so in the event.
      const [reason] = Object.keys(report.strategies[0]!.reasons)
      expect(reason).toMatch(/failed|stop-reason/)
      expect(memory.events).toContainEqual({ type: "prepared", report })
      await memory.prepare(history.slice())
      expect(calls).toBe(1)
    }
  })

  it("of a tail that can't be reduced is not tried again until there is more", async () => {
    const { summarizer, calls } = summaries()
    const memory = listened({
      pipeline: [conversationSummary({ summarizer })],
      budget: { tokens: 2000 },
      protectLast: 60
    })
    const history: Array<Message> = [...session(30, { images: 0, words: 60 })]
    for (let i = 0; i < 5; i++) {
      const { report } = await memory.prepare([...history, ...session(31 + i).slice(61)])
      // Over its mark, and nothing to do: the report says both.
      expect(report.over.length).toBe(1)
      expect(report.strategies[0]!.proposed).toBe(0)
      expect(report.commit.reason).toBe("nothing is staged")
    }
    expect(calls.length).toBe(0)
  })

  it("of a smaller model's window is made once, then the guard", async () => {
    const { summarizer, calls } = summaries()
    const store = memoryStore()
    const on = (contextWindow: number) =>
      listened({
        store,
        profile: { ...defaultProfile, contextWindow, reserveOutput: 500 },
        pipeline: [conversationSummary({ summarizer }), hardLimit()]
      })
    const history = session(60, { images: 0, words: 100 })
    const large = on(200_000)
    await large.prepare(history)
    await large.close()
    expect(calls.length).toBe(0)
    const small = on(8000)
    for (const head of [history, [...history, user("go on")]]) {
      const { report } = await small.prepare(head)
      expect(report.after.tokens).toBeLessThanOrEqual(8000 - 500 - 160)
    }
    expect(calls.length).toBe(1)
  })
})

describe("a summary's place", () => {
  it("is between groups: it parts no call from its results, and a call follows a user or a result", async () => {
    const memory = listened({
      pipeline: [conversationSummary(), stepMemory(), hardLimit()],
      budget: { tokens: 3500 }
    })
    memory.steps.begin({ id: "s", goal: "go" })
    const history: Array<Message> = [task]
    for (let i = 1; i <= 60; i++) {
      history.push(
        assistant(call(`a${i}`), call(`b${i}`)),
        result(`b${i}`, words(40, i)),
        result(`a${i}`, words(40, i + 500))
      )
      if (i % 8 === 0) history.push(assistant("that is done"), user(`part ${i}`))
      const { messages } = await memory.prepare(history.slice())
      expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
      messages.forEach((m, k) => {
        const before = messages[k - 1]?.role
        if (m.role === "assistant") expect(["user", "toolResult"]).toContain(before)
        if (m.role === "toolResult") expect(["assistant", "toolResult"]).toContain(before)
      })
    }
  })

  it("holds none of the range's images, and the view is strictly smaller", async () => {
    const memory = listened({ pipeline: [conversationSummary()], budget: { tokens: 12_000 } })
    const history = [...session(20), assistant("well then"), user([text("go on")])]
    const { messages, report } = await memory.prepare(history)
    const shown = messages.filter((m) => read([m]).includes("image/png"))
    for (const m of shown) expect(history).toContain(m)
    expect(report.after.images).toBe(shown.length)
    expect(report.after.images).toBeLessThan(10)
    expect(report.after.tokens).toBeLessThan(report.before.tokens)
    expect(report.after.requestBytes).toBeLessThan(report.before.requestBytes)
  })
})

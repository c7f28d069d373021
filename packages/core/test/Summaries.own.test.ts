import * as Effect from "effect/Effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { clipLines } from "../src/Clip.ts"
import { clipSummary } from "../src/ClipSummarizer.ts"
import * as Commit from "../src/Commit.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { createMemory } from "../src/createMemory.ts"
import { estimateTokens } from "../src/Estimate.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { Message } from "../src/Message.ts"
import { stepMemory } from "../src/StepMemory.ts"
import { memoryStore } from "../src/Store.ts"
import type { AnySummarizer } from "../src/Summarizer.ts"
import { SummaryError } from "../src/VarveError.ts"
import { assistant, result, task, words } from "./fixtures/history.ts"

const textOf = ({ content }: Message): string =>
  typeof content === "string"
    ? content
    : (content as ReadonlyArray<{ text?: string }>).map(({ text = "" }) => text).join("\n")

const TEXT = "The agent opened the pages one after the other and read what they say."

const steps = (n: number): ReadonlyArray<Message> => [
  task,
  ...Array.from({ length: n }, (_, i) => [
    assistant({ type: "toolCall", id: `c${i}`, name: "read", arguments: { page: i } }),
    result(`c${i}`, `page ${i} ${words(120, i)}`)
  ]).flat()
]

const memoryWith = (summarizer: AnySummarizer, soft = 0.6, hard = 0.9) => {
  const warnings: Array<string> = []
  const store = memoryStore()
  const memory = createMemory({
    pipeline: [
      conversationSummary({ summarizer, soft, hard }),
      stepMemory({ summarizer, recentTokens: 60 }),
      hardLimit()
    ],
    store,
    commit: Commit.immediate,
    budget: { tokens: 8000 },
    onEvent: (event) => event.type === "warning" && warnings.push(event.message)
  })
  const record = (n: number) => {
    for (let i = 1; i <= n; i++) {
      memory.steps.begin({ id: `s${i}`, goal: `read page ${i} of the long list`, tool: "read" })
      memory.steps.finish({ id: `s${i}`, outcome: i % 7 === 0 ? "failed" : "success" })
    }
  }
  return { memory, record, store, warnings }
}

const sent = (messages: ReadonlyArray<Message>) => messages.map((m) => textOf(m)).join("\n")

describe("a summarizer of the host's own", () => {
  const kinds: Record<string, AnySummarizer> = {
    "an Effect": () => Effect.succeed({ text: TEXT, stopReason: "stop" }),
    "a promise": () => Promise.resolve({ text: TEXT, stopReason: "stop" }),
    "the result itself": () => ({ text: TEXT, stopReason: "stop" })
  }
  it.each(Object.entries(kinds))("may give %s", async (_, summarizer) => {
    const { memory, record, warnings } = memoryWith(summarizer, 0.6, 0.6)
    record(40)
    const { messages } = await memory.prepare(steps(40))
    await memory.flush()
    await memory.prepare(steps(41))
    expect(sent(messages)).toContain(`\n${TEXT}\n`)
    expect(memory.compose()).toContain(`> ${TEXT}`)
    expect(warnings).toEqual([])
    await memory.close()
  })

  it("that gives half a character is taken without it", async () => {
    const text = `${TEXT} Half \ud800 char \udfff.`
    const { memory, record, store } = memoryWith(() => ({ text, stopReason: "stop" }))
    record(40)
    const { messages } = await memory.prepare(steps(40))
    expect(sent(messages)).toContain("Half \ufffd char \ufffd.")
    for (const m of messages) expect(textOf(m).isWellFormed()).toBe(true)
    const saved = await Effect.runPromise(store.load("agent/session"))
    expect(JSON.stringify(saved)).not.toMatch(/\\ud[89a-f]/i)
    await memory.close()
  })

  it("that always fails is a warning for each cause, not for each failure", async () => {
    let calls = 0
    const first = new SummaryError("failed", "The model failed: 401 no such key, request r-17")
    const { memory, record, warnings } = memoryWith(() => {
      const again = `The model failed: 401 no such key, request r-${++calls}`
      if (calls < 3) return Effect.fail(new SummaryError("failed", again))
      if (calls < 5) return Effect.fail(new SummaryError("failed", "left alone", { cause: first }))
      return calls % 2 === 0 ? { text: "", stopReason: "stop" } : Promise.reject(new Error("gone"))
    })
    for (let n = 30; n < 90; n += 5) {
      record(n)
      await memory.prepare(steps(n))
      await memory.flush()
    }
    expect(calls).toBeGreaterThan(6)
    expect(warnings).toEqual(
      [
        "no summary: The model failed: 401 no such key, request r-1",
        "no summary: The summarizer failed: Error: gone",
        "no summary: The summary was refused: it says nothing"
      ].filter((w) => warnings.includes(w))
    )
    expect(warnings[0]).toContain("401")
    expect(new Set(warnings).size).toBe(3)
    await memory.close()
  })
})

describe("a dry run", () => {
  it.each([0.7, 1.2])("at %d of the limit asks no summarizer and waits for none", async (share) => {
    let calls = 0
    const never: AnySummarizer = () => {
      calls++
      return new Promise(() => undefined)
    }
    const { memory, record } = memoryWith(never)
    record(40)
    const one = estimateTokens(`page 1 ${words(120, 1)}`) + 30
    const history = steps(Math.floor((share * 8000) / one))
    const dry = await memory.prepare(history, { dryRun: true })
    expect(calls).toBe(0)
    const reasons = dry.report.strategies.flatMap((s) => Object.keys(s.reasons))
    expect(reasons.join("\n")).toContain(
      share < 0.9 ? "would be begun" : "a dry run asks for no summary"
    )
    await memory.close()
  })

  it("leaves what it looked at as it was: the real run has what it would have had", async () => {
    const run = async (rehearse: boolean) => {
      let calls = 0
      const { memory, record } = memoryWith(() => {
        if (++calls % 3 === 0) throw new Error("gone")
        return { text: `${TEXT} Part ${calls}.`, stopReason: "stop" }
      })
      const all: Array<unknown> = []
      for (let n = 20; n < 60; n += 3) {
        record(n)
        if (rehearse) await memory.prepare(steps(n), { dryRun: true })
        const { messages, report } = await memory.prepare(steps(n))
        await memory.flush()
        all.push(
          messages,
          report.strategies.map((s) => s.reasons),
          memory.compose()
        )
      }
      await memory.close()
      return [calls, all]
    }
    expect(await run(true)).toEqual(await run(false))
  })
})

describe("what is clipped", { timeout: 60_000 }, () => {
  it("has whole lines, and says how many are left out", () => {
    const line = fc
      .string({ unit: "grapheme", maxLength: 60 })
      .map((s) => s.replace(/[\n\r]/g, " "))
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 30 }),
        fc.integer({ min: 0, max: 200 }),
        (lines, most) => {
          const text = lines.join("\n")
          const out = clipLines(text, most, estimateTokens)
          expect(estimateTokens(out)).toBeLessThanOrEqual(most)
          const said = /^\[… (\d+) lines? left out …\]$/m.exec(out)
          if (said === null || out.includes("tokens left out")) return
          const rest = out.split("\n")
          const at = rest.indexOf(said[0])
          expect(lines.slice(0, at)).toEqual(rest.slice(0, at))
          expect(lines.length - Number(said[1])).toBe(rest.length - 1)
          expect(lines.slice(at + Number(said[1]))).toEqual(rest.slice(at + 1))
        }
      ),
      { numRuns: 500 }
    )
  })

  it("of steps is whole steps, whatever the room", () => {
    const material = Array.from({ length: 60 }, (_, i) => ({
      from: `step ${i}`,
      text: `success, "set the port in src/routes/invoices${i}.ts" (edit)`
    }))
    const lines = new Set(material.map(({ from, text }) => `${from}: ${text}`))
    let previous: string | undefined
    for (const targetTokens of [400, 40, 90, 150, 60, 300]) {
      const text = clipSummary({
        previous,
        material,
        keep: [],
        targetTokens,
        count: estimateTokens
      })
      for (const line of text.split("\n"))
        if (!line.startsWith("[… ")) expect(lines).toContain(line)
      expect(text).toMatch(/\[… \d+ (earlier ones|lines?) left out …\]/)
      previous = text
    }
  })

  it("to a few tokens shows that it is clipped", () => {
    const material = [{ from: "assistant", text: `[call of bash with {"command":"${words(80)}"}]` }]
    const text = clipSummary({
      previous: undefined,
      material,
      keep: [],
      targetTokens: 9,
      count: estimateTokens
    })
    expect(text).toMatch(/…$/)
  })
})

describe("steps that failed", () => {
  it("stand with their goals beside the summary, which is named as one", async () => {
    const lies = "Every step was a success, page 7 and page 14 of the long list among them."
    const { memory, record } = memoryWith(() => ({ text: lies, stopReason: "stop" }))
    record(40)
    await memory.prepare(steps(4))
    await memory.flush()
    const text = memory.compose()
    expect(text).toMatch(/^\[Step memory: [^\n]*the summary is not\b/)
    expect(text).toMatch(
      /^Steps before, in the words of a summary \(up to step \d+; failed: 7, 14/m
    )
    expect(text).toContain(`> ${lies}\nFailed among them, as recorded:\n`)
    for (const n of [7, 14, 21])
      expect(text).toContain(`> step ${n}: failed, "read page ${n} of the long list" (read)`)
    await memory.close()
  })

  it("name no more goals than fit the cap", async () => {
    const memory = createMemory({
      pipeline: [
        stepMemory({
          cap: 300,
          recentTokens: 60,
          summarizer: () => ({ text: TEXT + " page", stopReason: "stop" })
        })
      ]
    })
    for (let i = 1; i <= 200; i++) {
      memory.steps.begin({ id: `s${i}`, goal: `read page ${i}` })
      memory.steps.finish({ id: `s${i}`, outcome: "failed" })
      if (i % 20 === 0) await memory.prepare([task])
    }
    const text = memory.compose()
    expect(estimateTokens(text)).toBeLessThanOrEqual(300)
    expect(text).toMatch(/^> step 1\d\d: failed, "read page 1\d\d"$/m)
    expect(text).not.toContain('"read page 20"')
    await memory.close()
  })
})

import { estimateCounter } from "@varve/core/Counter"
import { registryOf, renderRegistry } from "@varve/core/Registry"
import type { Material, SummaryRequest } from "@varve/core/Summarizer"
import { checkSummary } from "@varve/core/SummaryCheck"
import { extractiveSummarizer, extractiveSummary } from "@varve/strategy-extractive-summary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const count = estimateCounter().text
const request = (
  material: ReadonlyArray<Material>,
  rest: Partial<SummaryRequest> = {}
): SummaryRequest => ({
  previous: undefined,
  material,
  keep: [],
  targetTokens: 200,
  count,
  ...rest
})

const filler = (n: number, seed = 0): string =>
  Array.from(
    { length: n },
    (_, i) => `Row ${(seed + i) * 7919} shows item ${(seed + i) * 104_729} of the list.`
  ).join(" ")

/** Words of several writings, so that sentences have something in common. */
const word = fc.constantFrom(
  ..."open the menu page file save error 打开 文件 メニュー を 開く файл открыть قائمة افتح 🙂 a-b x_y 12345".split(
    " "
  )
)
const sentence = fc
  .tuple(fc.array(word, { maxLength: 12 }), fc.constantFrom(". ", "。", "! ", "\n", "", "؟ "))
  .map(([words, end]) => words.join(" ") + end)
const text = fc.oneof(
  fc.array(sentence, { maxLength: 30 }).map((list) => list.join("")),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 100 })
)
const from = fc.constantFrom("user", "assistant", "tool bash", "tool bash (error)", "step 7")
const material = fc.array(fc.record({ from, text }), { maxLength: 20 })
const requests = fc.record({
  previous: fc.option(text, { nil: undefined }),
  material,
  keep: fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), { maxLength: 3 }),
  targetTokens: fc.integer({ min: 1, max: 400 }),
  count: fc.constantFrom(
    count,
    (s: string) => s.length,
    // More than the sum of its parts.
    (s: string) => s.length ** 1.2 / 8
  )
})

describe("extractiveSummarizer", { timeout: 120_000 }, () => {
  it("stays within its target, has what must be kept, and gives the same text again", () => {
    fc.assert(
      fc.property(requests, (given) => {
        const made = extractiveSummary(given)
        expect(extractiveSummary(given)).toBe(made)
        for (const kept of given.keep) expect(made).toContain(kept)
        const least = given.keep.length === 0 ? 0 : given.count([...new Set(given.keep)].join("\n"))
        expect(given.count(made)).toBeLessThanOrEqual(Math.max(given.targetTokens, least))
      }),
      { numRuns: 500 }
    )
  })

  it("says only what was said, each line whole and with whose it is", () => {
    // Line breaks are the one thing that a line of it leaves out.
    const solid = (said: string): string => said.toWellFormed().replaceAll(/[\s\u0085]+/g, "")
    fc.assert(
      fc.property(material, (given) => {
        const made = extractiveSummary(request(given, { targetTokens: 100 }))
        // A clip of a single text is the way out where nothing fits.
        if (made.includes("left out …]")) return
        for (const line of made.split("\n")) {
          if (line.trim() === "") continue
          const source = given.find(
            (piece) =>
              line.startsWith(`${piece.from}: `) &&
              solid(piece.text).includes(solid(line.slice(piece.from.length + 2).replace(/…$/, "")))
          )
          if (line.includes(": ")) expect(source, line).toBeDefined()
        }
      }),
      { numRuns: 300 }
    )
  })

  it("never grows over rounds, and what it was told to keep stays word for word", () => {
    fc.assert(
      fc.property(fc.array(material, { minLength: 10, maxLength: 10 }), (rounds) => {
        const keep = ["Never click Delete."]
        let previous = ""
        for (const given of rounds) {
          previous = extractiveSummary(request(given, { previous, keep, targetTokens: 120 }))
          expect(count(previous)).toBeLessThanOrEqual(120)
          expect(previous.split(keep[0]!).length).toBe(2)
        }
        // Of nothing new it makes no more than it was.
        const again = extractiveSummary(request([], { previous, keep, targetTokens: 120 }))
        expect(count(again)).toBeLessThanOrEqual(count(previous))
      }),
      { numRuns: 100 }
    )
  })

  it("keeps the task, decisions, errors and outcomes before everything else", async () => {
    const material: ReadonlyArray<Material> = [
      { from: "user", text: `Find the invoice of March and pay it. ${filler(5)}` },
      { from: "assistant", text: "Let me look at the page." },
      { from: "tool browser", text: filler(60) },
      { from: "user", text: "Let's use the savings account for it instead." },
      {
        from: "tool bash (error)",
        text: `Error: the bank refused the transfer\n${filler(40, 100)}`
      },
      { from: "assistant", text: "I look again:" },
      { from: "tool browser", text: filler(60, 200) },
      { from: "assistant", text: "The transfer of 74 EUR was sent and the invoice is paid." }
    ]
    const result = await Effect.runPromise(extractiveSummarizer()(request(material)))
    expect(result).toMatchObject({ stopReason: "stop", model: "extractive" })
    for (const wanted of [
      "user: Find the invoice of March and pay it.",
      "user: Let's use the savings account for it instead.",
      "tool bash (error): Error: the bank refused the transfer",
      "assistant: The transfer of 74 EUR was sent and the invoice is paid."
    ])
      expect(result.text.split("\n")).toContain(wanted)
    expect(result.text).not.toContain("I look again")
    expect(Result.isSuccess(checkSummary(request(material), result))).toBe(true)
  })

  it.each([
    [
      "zh",
      "请找到三月的发票。",
      "我们决定使用储蓄账户。",
      "转账失败了。",
      "发票已经支付完成。",
      "这一页显示一个列表。"
    ],
    [
      "ja",
      "三月の請求書を探してください。",
      "普通預金を使うと決定した。",
      "エラー：送金できない。",
      "支払いが完了しました。",
      "このページには一覧がある。"
    ],
    [
      "ru",
      "Найди счёт за март.",
      "Мы решили платить картой.",
      "Ошибка: перевод отклонён.",
      "Готово, счёт оплачен.",
      "Здесь показан список."
    ]
  ])("keeps them in %s", (_, task, decision, error, outcome, noise) => {
    const made = extractiveSummary(
      request(
        [
          { from: "user", text: task + decision },
          {
            from: "tool app",
            text: Array.from({ length: 80 }, (_, i) => `${noise}${i} `).join("\n")
          },
          { from: "tool app (error)", text: error },
          { from: "assistant", text: outcome }
        ],
        { targetTokens: 120 }
      )
    )
    for (const wanted of [task, decision, error, outcome]) expect(made).toContain(wanted)
  })

  it("takes what says most of what is alike, once", () => {
    const said = [
      "The parser fails on nested quotes in the config file.",
      "Nested quotes in the config file make the parser fail.",
      "The config parser can't read nested quotes.",
      "It rains.",
      "Lunch is at noon."
    ]
    const made = extractiveSummary(
      request([{ from: "assistant", text: said.join(" ") }], {
        targetTokens: 40,
        count: (s) => s.length / 4
      })
    )
    expect(made).toContain("parser")
    expect(made).not.toContain("rains")
    const same = extractiveSummary(
      request(
        Array.from({ length: 50 }, (_, i) => ({
          from: "assistant",
          text: `The page still shows the same list of open invoices (try ${i}).`
        }))
      )
    )
    expect(same.split("\n").length).toBeLessThan(5)
  })

  it("leaves the outcome of a step as it was recorded", () => {
    const steps = Array.from({ length: 60 }, (_, i) => ({
      from: `step ${i + 1}`,
      text: `${i % 6 === 5 ? "failed" : "success"}, "open part ${i + 1} of the shop" (click)`
    }))
    let previous = ""
    for (let i = 0; i < 60; i += 12) {
      const material = steps.slice(i, i + 12)
      previous = extractiveSummary(request(material, { previous, targetTokens: 150 }))
      for (const line of previous.split("\n"))
        expect(steps.map(({ from, text }) => `${from}: ${text}`)).toContain(line)
      expect(previous).toContain(`step ${i + 12}: failed`)
    }
  })

  it("reads a bounded part of megabytes, and counts no more than that", () => {
    let counted = 0
    const counting = (s: string): number => {
      counted += s.length
      return count(s)
    }
    const hard = [
      "a".repeat(2_000_000),
      "的".repeat(1_000_000),
      "x. ".repeat(700_000),
      "\n".repeat(500_000),
      "a line that does not end\n".repeat(40_000)
    ]
    const given = [
      { from: "user", text: "Find the invoice. " + filler(10_000) },
      ...hard.map((text) => ({ from: "tool bash", text })),
      ...Array.from({ length: 3000 }, (_, i) => ({ from: "assistant", text: filler(20, i) })),
      { from: "assistant", text: "It is paid and done." }
    ]
    const made = extractiveSummary(request(given, { count: counting, previous: filler(20_000) }))
    // Neither a summary of one endless sentence nor one of lines takes longer than that.
    extractiveSummary(request(given, { previous: hard.at(-1)! }))
    extractiveSummary(request(given, { previous: `user: ${hard.at(-1)!}` }))
    expect(made).toContain("user: Find the invoice.")
    expect(made).toContain("assistant: It is paid and done.")
    expect(count(made)).toBeLessThanOrEqual(200)
    expect(counted).toBeLessThan(400_000)
  })

  it("fits beside a registry, with any counter", () => {
    const registry = registryOf([{ role: "user", content: "Never click Delete." }])
    const keep = [renderRegistry(registry, { tokens: 100, count })]
    const made = extractiveSummary(request([{ from: "user", text: filler(50) }], { keep }))
    expect(made.startsWith(keep[0]!)).toBe(true)
  })
})

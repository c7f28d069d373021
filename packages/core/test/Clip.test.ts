import { clipText } from "@varve/core/Clip"
import { estimateTokens } from "@varve/core/Estimate"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const characters = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "é", " ", " ", "\n", ".", "。", "字", "\r\n") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "👩‍👩‍👧‍👦",
      "🇩🇪",
      "👍🏽",
      "e\u0301\u0323",
      "क्षि",
      "각",
      "\u1112\u1161\u11ab",
      "😀"
    )
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }) }
)
const texts = fc.array(characters, { maxLength: 400 }).map((parts) => parts.join(""))

const counters: Record<string, (text: string) => number> = {
  estimate: estimateTokens,
  units: (text) => text.length,
  bytes: (text) => Buffer.byteLength(text),
  quarters: (text) => Math.ceil(text.length / 4),
  words: (text) => text.split(/\s+/).filter((word) => word !== "").length,
  // No counter is as odd as this one, and the promise holds for it too.
  odd: (text) => (text.length * 7) % 31
}
const counter = fc.constantFrom(...Object.keys(counters)).map((name) => counters[name]!)

const MARKER = /\[… \d+ tokens left out …\]/
const segments = (text: string) => [...new Intl.Segmenter().segment(text)].map((s) => s.segment)

describe("clipText", { timeout: 60_000 }, () => {
  it("never has more than what is allowed, whatever the counter", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: -1, max: 300 }), counter, (text, max, count) => {
        const clipped = clipText(text, max, count)
        expect(clipped === "" || count(clipped) <= max).toBe(true)
        if (max <= 0) expect(clipped).toBe("")
        else if (count(text) <= max) expect(clipped).toBe(text)
      }),
      { numRuns: 2000 }
    )
  })

  it("is stable under itself", () => {
    fc.assert(
      fc.property(texts, fc.nat(200), counter, (text, max, count) => {
        const clipped = clipText(text, max, count)
        expect(clipText(clipped, max, count)).toBe(clipped)
        expect(clipText(text, max, count)).toBe(clipped)
      }),
      { numRuns: 1000 }
    )
  })

  it("keeps a head and a tail that the text has, cut between whole characters", () => {
    fc.assert(
      fc.property(
        texts,
        fc.nat(300),
        fc.constantFrom(estimateTokens, counters.units!),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (text, max, count, head) => {
          const clipped = clipText(text, max, count, { head })
          expect(clipped.isWellFormed()).toBe(true)
          if (clipped === text) return
          const mark = MARKER.exec(clipped)
          const all = segments(text)
          const before = mark === null ? clipped : clipped.slice(0, mark.index)
          const after = mark === null ? "" : clipped.slice(mark.index + mark[0].length + 1)
          const starts = [before, before.slice(0, -1)].some((head) => {
            const n = segments(head).length
            return all.slice(0, n).join("") === head
          })
          const n = segments(after).length
          const ends = n === 0 || all.slice(-n).join("") === after
          expect([starts, ends]).toEqual([true, true])
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("uses most of what it may have", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 400 }),
        fc.integer({ min: 0, max: 1 }),
        (max, kind) => {
          const text = (kind === 0 ? "The quick brown fox jumps. " : "他昨天去了北京。").repeat(400)
          expect(estimateTokens(clipText(text, max, estimateTokens))).toBeGreaterThan(max * 0.7)
        }
      )
    )
  })

  it("gives the head alone where a marker would take too much", () => {
    expect(clipText("one two three four five six seven", 2, counters.words!)).toBe("one two ")
    expect(clipText("abcdefghij", 4, counters.units!)).toBe("abcd")
    expect(clipText("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 5, counters.units!)).toBe("")
    expect(clipText("abc", 0, counters.units!)).toBe("")
    expect(clipText("", 0, counters.units!)).toBe("")
    expect(clipText("abc", Number.NaN, counters.units!)).toBe("")
  })

  it("cuts at lines where they are near", () => {
    const lines = Array.from({ length: 60 }, (_, i) => `line ${i} of the log`).join("\n")
    const clipped = clipText(lines, 80, estimateTokens)
    const [head, tail] = clipped.split(MARKER)
    expect(head!.endsWith("of the log\n")).toBe(true)
    expect(tail!.startsWith("\nline ")).toBe(true)
    expect(clipped.startsWith("line 0 of")).toBe(true)
    expect(clipped.endsWith("line 59 of the log")).toBe(true)
  })

  it("says with its own marker how much is left out", () => {
    const text = "word ".repeat(100)
    const clipped = clipText(text, 20, counters.words!, { marker: (n) => `<${n}>`, head: 0 })
    expect(clipped).toMatch(/^<8\d> (word )+$/)
    const kept = counters.words!(clipped) - 1
    expect(clipped).toContain(`<${100 - kept}>`)
  })

  it("counts megabytes once, and little more", () => {
    const text = "some text with words in it, and more of them. ".repeat(100_000)
    let units = 0
    let calls = 0
    const count = (s: string) => {
      units += s.length
      calls++
      return estimateTokens(s)
    }
    const clipped = clipText(text, 1000, count)
    expect(estimateTokens(clipped)).toBeGreaterThan(900)
    expect(units).toBeLessThan(text.length * 1.1)
    expect(calls).toBeLessThan(50)
  })

  it("long combining runs and broken surrogates neither hang nor throw", () => {
    const zalgo = "a" + "\u0301".repeat(5000)
    for (const text of [
      zalgo.repeat(3),
      "\ud800".repeat(5000),
      "\udc00\ud800".repeat(2000),
      "🇩🇪".repeat(3000)
    ]) {
      const clipped = clipText(text, 100, counters.units!)
      expect(clipped.length).toBeLessThanOrEqual(100)
    }
  })
})

import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import fc from "fast-check"
import { get_encoding } from "tiktoken"
import { afterAll, describe, expect, it } from "vitest"
import { estimateTokens } from "../src/Estimate.ts"
import { KINDS, RARER } from "./texts.ts"

const encoding = get_encoding("o200k_base")
afterAll(() => encoding.free())

interface Errors {
  /** Mean absolute error per document, as a share. */
  readonly mean: number
  /** Error of the sum, as a share; below 0 where the estimate is low. */
  readonly sum: number
}

const errors = (
  texts: ReadonlyArray<string>,
  real: ReadonlyArray<number>,
  estimate: (text: string) => number
): Errors => {
  const estimates = texts.map(estimate)
  const total = (of: ReadonlyArray<number>) => of.reduce((a, b) => a + b, 0)
  return {
    mean: total(estimates.map((e, i) => Math.abs(e / real[i]! - 1))) / texts.length,
    sum: total(estimates) / total(real) - 1
  }
}

const compare = (texts: ReadonlyArray<string>) => {
  const real = texts.map((text) => encoding.encode_ordinary(text).length)
  return {
    own: errors(texts, real, estimateTokens),
    quarter: errors(texts, real, (text) => text.length / 4),
    third: errors(texts, real, (text) => text.length / 3)
  }
}

describe("against tiktoken, per document", () => {
  it.each(Object.entries(KINDS))("is nearer than chars/4 and chars/3 on %s", (kind, texts) => {
    const { own, quarter, third } = compare(texts)
    expect(own.mean).toBeLessThan(Math.min(quarter.mean, third.mean) / 1.5)
    expect(own.mean).toBeLessThan(kind === "CJK" ? 0.12 : 0.08)
    expect(Math.abs(own.sum)).toBeLessThan(0.08)
  })

  it.each(Object.entries(RARER))("is near on %s", (_, texts) => {
    const { own, quarter, third } = compare(texts)
    expect(own.mean).toBeLessThan(Math.min(quarter.mean, third.mean))
    expect(own.mean).toBeLessThan(0.12)
  })

  it("is within a factor of 3 on long runs of one character, on which chars/4 is not", () => {
    for (const [unit, tokens] of [
      // What tiktoken gives for 100 000 of each, which takes it seconds.
      ["a", 12_500],
      [" ", 782],
      ["\n", 6_250],
      ["=", 1_563],
      ["0", 33_334],
      ["中", 100_000]
    ] as const) {
      const estimate = estimateTokens(unit.repeat(100_000))
      expect(estimate, unit).toBeGreaterThan(tokens / 3)
      expect(estimate, unit).toBeLessThan(tokens * 3)
    }
  })
})

describe.skipIf(!requireData("the token estimate"))("against tiktoken, on real sessions", () => {
  /** Texts of a value in pieces of at most 8 000 characters; no images, signatures or short texts. */
  const textsOf = (value: unknown, found: Set<string> = new Set()): Set<string> => {
    if (typeof value === "string") {
      for (let at = 0; at < value.length; at += 8000) {
        const piece = value.slice(at, at + 8000).toWellFormed()
        if (piece.length >= 600 && !/\S{2000}/.test(piece)) found.add(piece)
      }
    } else if (Array.isArray(value)) for (const item of value) textsOf(item, found)
    else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value))
        if (!/data|signature/i.test(key)) textsOf(item, found)
    return found
  }

  it.each(sessions().map((entry) => [entry.name, entry] as const))("is near on %s", (_, entry) => {
    const texts = [...textsOf(entry.read().messages)]
    if (texts.length === 0) return
    const { own, quarter, third } = compare(texts)
    expect(own.mean).toBeLessThan(0.12)
    // In one or two texts a flat ratio may be right by luck.
    if (texts.length >= 8) {
      expect(own.mean).toBeLessThan(0.08)
      expect(Math.abs(own.sum)).toBeLessThan(0.08)
      expect(own.mean).toBeLessThan(Math.min(quarter.mean, third.mean))
    }
  })
})

describe("for any text", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 })
      .map((units) => String.fromCharCode(...units)),
    fc
      .array(
        fc.constantFrom(
          "a",
          "Word",
          "HTTP",
          "7",
          "é",
          " ",
          "\n",
          "\t",
          "'",
          "{",
          "中",
          "の",
          "\ud83d",
          "\ude00"
        ),
        {
          maxLength: 300
        }
      )
      .map((parts) => parts.join(""))
  )
  const options = { numRuns: 3000 }

  it("is a whole number between 1 and two for each UTF-16 unit; 0 for nothing", () => {
    expect(estimateTokens("")).toBe(0)
    fc.assert(
      fc.property(anyText, (text) => {
        const tokens = estimateTokens(text)
        expect(Number.isInteger(tokens)).toBe(true)
        expect(tokens).toBeGreaterThanOrEqual(text === "" ? 0 : 1)
        expect(tokens).toBeLessThanOrEqual(2 * text.length)
      }),
      options
    )
  })

  it("is the same each time, however the string was built", () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const text = a + b
        const first = estimateTokens(text)
        expect(estimateTokens(text)).toBe(first)
        expect(estimateTokens([...Array(text.length).keys()].map((i) => text[i]).join(""))).toBe(
          first
        )
      }),
      options
    )
  })

  it("counts a lone surrogate as one symbol", () => {
    expect(estimateTokens("\ud800")).toBe(1)
    expect(estimateTokens("\udfff".repeat(50))).toBe(50)
    fc.assert(
      fc.property(
        fc.string({ maxLength: 50 }),
        fc.integer({ min: 0xd800, max: 0xdfff }),
        (text, unit) => {
          const tokens = estimateTokens(`${text}.${String.fromCharCode(unit)}`)
          expect(tokens - estimateTokens(`${text}.`)).toBe(1)
        }
      ),
      options
    )
  })

  it("is about the sum of its parts, cut at a line end", () => {
    const documents = Object.values(KINDS).flat()
    fc.assert(
      fc.property(fc.constantFrom(...documents), fc.constantFrom(...documents), (a, b) => {
        const whole = estimateTokens(`${a}\n${b}`)
        const parts = estimateTokens(a) + estimateTokens(b)
        expect(Math.abs(whole - parts)).toBeLessThan(3 + 0.05 * parts)
      }),
      { numRuns: 300 }
    )
  })

  it("hardly ever falls when a document grows", () => {
    for (const document of Object.values({ ...KINDS, ...RARER }).flat()) {
      let most = 0
      for (let length = 0; length <= document.length; length += 37) {
        const tokens = estimateTokens(document.slice(0, length))
        expect(tokens).toBeGreaterThanOrEqual(most - 3)
        most = Math.max(most, tokens)
      }
    }
  })
})

import type { Message } from "@varve/core"
import { profile } from "@varve/profiles"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  CacheModel,
  guiRun,
  nothing,
  piecesOf,
  simulate,
  slide,
  syntheticCounter,
  type CacheKind,
  type Piece,
  type Policy
} from "../src/index.ts"
import type { CacheOptions } from "../src/CacheModel.ts"
import { sheets } from "./sheets.ts"

/** Pieces named by their letters, of so many tokens each; a mark may stand behind every one. */
const pieces = (keys: string, tokens = 1000): ReadonlyArray<Piece> =>
  [...keys].map((key) => ({ key, tokens, markable: true }))

const options = { minimum: 1024, lifetime: 300_000 }

describe("anthropic", () => {
  it("writes up to the last mark, reads it next time, and bills what stands behind as input", () => {
    const cache = new CacheModel("anthropic", options)
    expect(cache.bill(pieces("abc"), 0, [1])).toEqual({ read: 0, write: 2000, uncached: 1000 })
    expect(cache.bill(pieces("abcd"), 1, [3])).toEqual({ read: 2000, write: 2000, uncached: 0 })
  })

  it("finds nothing that was written at no mark", () => {
    const cache = new CacheModel("anthropic", options)
    cache.bill(pieces("abcd"), 0, [3])
    // The first three stand as they did, but no entry ends with them.
    expect(cache.bill(pieces("abcX"), 1, [3])).toEqual({ read: 0, write: 4000, uncached: 0 })
  })

  it("looks back 20 positions from a mark, and no further", () => {
    const long = "abcdefghijklmnopqrstuvwxyz"
    for (const [end, read] of [
      [21, 2000],
      [22, 0]
    ] as const) {
      const cache = new CacheModel("anthropic", options)
      cache.bill(pieces("ab"), 0, [1])
      expect(cache.bill(pieces(long.slice(0, end)), 1, [end - 1]).read).toBe(read)
    }
  })

  it("looks back over positions, not messages, and writes as many entries as its profile says", () => {
    const read = (between: Piece, settings: CacheOptions = options): number => {
      const cache = new CacheModel("anthropic", settings)
      cache.bill(pieces("ab"), 0, [1])
      return cache.bill([...pieces("ab"), between, ...pieces("y")], 1, [3]).read
    }
    const of = (positions: number): Piece => ({ key: "x", tokens: 9, markable: false, positions })
    expect(read(of(18))).toBe(2000)
    expect(read(of(19))).toBe(0)
    expect(read(of(18), { ...options, lookback: 19 })).toBe(0)
    const cache = new CacheModel("anthropic", { ...options, marks: 2 })
    cache.bill(pieces("abcdefg"), 0, [2, 3, 6])
    expect(cache.bill(pieces("abcX"), 1, [3]).read).toBe(0)
    expect(cache.bill(pieces("abcdX"), 2, [4]).read).toBe(4000)
  })

  it("with a second mark at the frontier reads what an edit left as it was", () => {
    const cache = new CacheModel("anthropic", options)
    cache.bill(pieces("abcd"), 0, [1, 3])
    expect(cache.bill(pieces("abX"), 1, [2])).toEqual({ read: 2000, write: 1000, uncached: 0 })
  })

  it("caches nothing below the minimum", () => {
    const cache = new CacheModel("anthropic", options)
    expect(cache.bill(pieces("a"), 0, [0])).toEqual({ read: 0, write: 0, uncached: 1000 })
    expect(cache.bill(pieces("ab"), 1, [0, 1])).toEqual({ read: 0, write: 2000, uncached: 0 })
  })

  it("forgets after its lifetime, which a hit begins anew", () => {
    const cache = new CacheModel("anthropic", options)
    cache.bill(pieces("ab"), 0, [1])
    expect(cache.bill(pieces("ab"), 300_000, [1]).read).toBe(2000)
    expect(cache.bill(pieces("ab"), 600_000, [1]).read).toBe(2000)
    expect(cache.bill(pieces("ab"), 900_001, [1]).read).toBe(0)
    // Of the entry that was hit, whether a mark stands there or not.
    const other = new CacheModel("anthropic", options)
    other.bill(pieces("ab"), 0, [1])
    other.bill(pieces("abc"), 200_000, [2])
    expect(other.bill(pieces("abX"), 450_000, [2]).read).toBe(2000)
  })

  it("keeps four marks of a request, the last ones", () => {
    const cache = new CacheModel("anthropic", options)
    cache.bill(pieces("abcdefg"), 0, [1, 2, 3, 4, 6])
    expect(cache.bill(pieces("abX"), 1, [2]).read).toBe(0)
    expect(cache.bill(pieces("abcX"), 2, [3]).read).toBe(3000)
  })
})

describe("openai-56", () => {
  it("reads at messages that could carry a mark, and only where one stood", () => {
    const cache = new CacheModel("openai-56", options)
    cache.bill(pieces("abcd"), 0)
    expect(cache.bill(pieces("abcde"), 1)).toEqual({ read: 4000, write: 1000, uncached: 0 })
    expect(cache.bill(pieces("abX"), 2)).toEqual({ read: 0, write: 3000, uncached: 0 })
  })

  it("looks at 20 earlier ends of messages, and skips what can't carry a mark", () => {
    const tail = (n: number): ReadonlyArray<Piece> =>
      Array.from({ length: n }, (_, i) => [
        { key: `call ${i}`, tokens: 10, markable: false },
        { key: `result ${i}`, tokens: 10, markable: true }
      ]).flat()
    for (const [steps, read] of [
      [20, 2000],
      [21, 0]
    ] as const) {
      const cache = new CacheModel("openai-56", options)
      cache.bill(pieces("ab"), 0)
      expect(cache.bill([...pieces("ab"), ...tail(steps)], 1).read).toBe(read)
    }
  })

  it("writes at the latest message by itself, wherever else marks are set", () => {
    const cache = new CacheModel("openai-56", options)
    cache.bill(pieces("abcd"), 0, [1])
    expect(cache.bill(pieces("abcde"), 1).read).toBe(4000)
    expect(cache.bill(pieces("abX"), 2).read).toBe(2000)
  })

  it("has no mark at the system text but one that somebody set", async () => {
    const gpt = { ...sheets[3]!, counter: syntheticCounter(1560) }
    // Edits in every request: all that stays is the task, which the first request ended with, and that is out of
    // reach behind 20 more ends of messages.
    const { requests } = await simulate(guiRun({ steps: 40 }), slide(3), gpt)
    const reads = requests.map(({ read }) => read)
    expect(reads.slice(5, 21)).toEqual(reads.slice(5, 21).map(() => 6200))
    expect(reads.slice(21)).toEqual(reads.slice(21).map(() => 0))
    const system: Piece = { key: "system", tokens: 6000, markable: false }
    const cache = new CacheModel("openai-56", options)
    cache.bill([system, ...pieces("ab")], 0, [0])
    expect(cache.bill([system, ...pieces("X")], 1).read).toBe(0)
    expect(cache.bill([system, ...pieces("Y")], 2, [0]).read).toBe(6000)
  })

  it("has a mark that is proposed where one can stand", async () => {
    const gpt = { ...sheets[3]!, counter: syntheticCounter(1560) }
    const at = (mark: number): Policy => ({
      name: `mark at ${mark}`,
      start: () => ({
        prepare: async (history) => {
          // The newest messages are other ones each time.
          const messages = [
            ...history.slice(0, 4),
            { role: "user", content: `now ${history.length}` } as Message
          ]
          return { messages: messages.slice(0, 5), reasoningLost: 0, marks: [mark] }
        },
        close: async () => {}
      })
    })
    const read = async (mark: number): Promise<number> =>
      (await simulate(guiRun({ steps: 8 }), at(mark), gpt)).requests.at(-1)!.read
    // 3 is an answer with a call: the mark stands at the result before it.
    expect(await read(3)).toBe(await read(2))
    expect(await read(2)).toBeGreaterThan(await read(0))
    expect(await read(0)).toBe(6200)
  })

  it("writes four breakpoints of a request at most", () => {
    const cache = new CacheModel("openai-56", options)
    cache.bill(pieces("abcdefg"), 0, [1, 2, 3, 4, 6])
    expect(cache.bill(pieces("abX"), 1).read).toBe(0)
    expect(cache.bill(pieces("abcX"), 2).read).toBe(3000)
  })
})

describe("lcp", () => {
  it("reads the longest common prefix in steps of 128, and writes for the price of input", () => {
    const cache = new CacheModel("lcp", options)
    expect(cache.bill(pieces("abc"), 0)).toEqual({ read: 0, write: 3000, uncached: 0 })
    // 2 000 tokens are common: 15 steps of 128.
    expect(cache.bill(pieces("abX"), 1)).toEqual({ read: 1920, write: 1080, uncached: 0 })
    // Any request that is alive counts, not the last one alone.
    expect(cache.bill(pieces("abcd"), 2).read).toBe(2944)
  })

  it("reads in the steps of its profile", () => {
    for (const [name, step] of [
      ["deepseek/deepseek-flash", 64],
      ["mistral/mistral-large", 64],
      ["gpt-5.4", 128]
    ] as const) {
      const cache = new CacheModel("lcp", profile(name).cache)
      cache.bill(pieces("abc", 1130), 0)
      expect(cache.bill(pieces("abX", 1130), 1).read, name).toBe(Math.floor(2260 / step) * step)
    }
  })

  it("reads nothing below the minimum, and nothing that has expired", () => {
    const cache = new CacheModel("lcp", options)
    cache.bill(pieces("ab"), 0)
    expect(cache.bill(pieces("aX"), 1).read).toBe(0)
    expect(cache.bill(pieces("ab"), 300_001 + 1).read).toBe(0)
  })
})

it("none bills all of every request as input", () => {
  const cache = new CacheModel("none", options)
  cache.bill(pieces("abc"), 0)
  expect(cache.bill(pieces("abc"), 1)).toEqual({ read: 0, write: 0, uncached: 3000 })
})

describe("pieces", () => {
  it("count a message's blocks as positions, calls in a row as one, and results in a row as one", () => {
    const call = (id: string) => ({ type: "toolCall" as const, id, name: "look", arguments: {} })
    const text = (said: string) => ({ type: "text" as const, text: said })
    const result = (toolCallId: string): Message => ({
      role: "toolResult",
      toolCallId,
      toolName: "look",
      isError: false,
      content: [text("one"), text("two")]
    })
    const messages = [
      { role: "user", content: "task" },
      { role: "assistant", content: [text("a"), text("b"), call("1"), call("2")] },
      result("1"),
      result("2"),
      { role: "assistant", content: [call("3"), text("c"), call("4")] },
      { role: "user", content: [text("d"), text("e")] },
      { role: "assistant", content: [] }
    ] as ReadonlyArray<Message>
    const { pieces: made } = piecesOf(messages, 100, syntheticCounter(0))
    expect(made.map(({ positions = 1 }) => positions)).toEqual([1, 1, 3, 1, 3, 2, 1])
  })
})

describe("laws", () => {
  const kinds = ["anthropic", "openai-56", "lcp", "none"] as const
  /** Requests: letters of their pieces, where marks stand, and how long after the one before, ms. */
  const requests = fc.array(
    fc.record({
      keys: fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 30 }),
      marks: fc.array(fc.nat(29), { maxLength: 6 }),
      gap: fc.constantFrom(0, 1000, 200_000, 300_000, 300_001)
    }),
    { minLength: 1, maxLength: 12 }
  )
  const made = (keys: ReadonlyArray<string>): ReadonlyArray<Piece> =>
    keys.map((key, i) => ({
      key,
      tokens: 100 + 37 * key.charCodeAt(0) * (i % 3),
      markable: i % 2 === 1,
      positions: 1 + (i % 4)
    }))

  it.each(kinds)("read, written and uncached are a request's tokens under %s", (kind) => {
    fc.assert(
      fc.property(requests, (all) => {
        const cache = new CacheModel(kind, options)
        let at = 0
        for (const { gap, keys, marks } of all) {
          const sent = made(keys)
          const { read, uncached, write } = cache.bill(sent, (at += gap), marks)
          expect(read + uncached + write).toBe(sent.reduce((sum, p) => sum + p.tokens, 0))
          expect(Math.min(read, uncached, write)).toBeGreaterThanOrEqual(0)
        }
      })
    )
  })

  it.each(kinds)("nothing is read that no request had before, or that has expired: %s", (kind) => {
    fc.assert(
      fc.property(requests, (all) => {
        const cache = new CacheModel(kind, options)
        const before: Array<readonly [at: number, sent: ReadonlyArray<Piece>]> = []
        let at = 0
        for (const { gap, keys, marks } of all) {
          const sent = made(keys)
          at += gap
          const { read } = cache.bill(sent, at, marks)
          const most = before.map(([then, other]) => {
            const same = sent.findIndex(({ key }, i) => other[i]?.key !== key)
            const common = sent.slice(0, same < 0 ? sent.length : same)
            return at - then > 300_000 ? 0 : common.reduce((sum, p) => sum + p.tokens, 0)
          })
          // An entry that was hit lives on: the request that hit it had the same prefix.
          expect(read).toBeLessThanOrEqual(Math.max(0, ...most))
          before.push([at, sent])
        }
      })
    )
  })

  it.each(kinds)("a run's requests add up to its cost and its hit rate under %s", async (cache) => {
    const sheet = sheets.find((s) => s.cache === (cache satisfies CacheKind))!
    const of = { ...sheet, counter: syntheticCounter(1560) }
    for (const policy of [nothing, slide(2)]) {
      const { cost, hitRate, requests: own } = await simulate(guiRun({ steps: 12 }), policy, of)
      const sum = (f: (r: (typeof own)[number]) => number) => own.reduce((s, r) => s + f(r), 0)
      const { prices } = sheet.profile
      const byHand = sum(
        (r) =>
          r.read * prices.cacheRead +
          r.write * prices.cacheWrite +
          r.uncached * prices.input +
          160 * prices.output
      )
      expect(cost).toBeCloseTo(
        sum((r) => r.cost),
        10
      )
      expect(cost).toBeCloseTo(byHand / 1e6, 10)
      expect(hitRate).toBeCloseTo(sum((r) => r.read) / sum((r) => r.tokens), 10)
      for (const r of own) expect(r.read + r.write + r.uncached).toBe(r.tokens)
    }
  })
})

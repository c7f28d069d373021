import { describe, expect, it } from "vitest"
import { CacheModel, type Piece } from "../src/index.ts"

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

import type { ImageRule } from "@varve/core/Profile"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { imageTokens } from "../src/ImageTokens.ts"

type Row = readonly [width: number, height: number, tokens: number, detail?: string]

const check = (rule: ImageRule, rows: ReadonlyArray<Row>) =>
  it.each(rows.map(([width, height, tokens, detail]) => ({ width, height, tokens, detail })))(
    "$width x $height: $tokens",
    ({ detail, height, tokens, width }) => {
      expect(imageTokens(rule, { width, height }, detail)).toBe(tokens)
    }
  )

const standard: ImageRule = { rule: "claude", patch: 28, maxEdge: 1568, maxTokens: 1568 }
const highResolution = { rule: "claude", patch: 28, maxEdge: 2576, maxTokens: 4784 } as const

describe("Claude, standard", () => {
  // The rows of the documentation.
  check(standard, [
    [200, 200, 64],
    [1000, 1000, 1296],
    [1092, 1092, 1521],
    [1920, 1080, 1560],
    [2000, 1500, 1564],
    [3840, 2160, 1560]
  ])
  // A patch: 28 px are one, 29 px are two.
  check(standard, [
    [27, 28, 1],
    [28, 28, 1],
    [29, 28, 2],
    [28, 29, 2],
    [1, 1, 1]
  ])
  // The token limit: 39 x 39 = 1521, but 40 x 40 = 1600 > 1568, so 1093 px square goes back to 1092: 1521.
  // 1120 x 1092 = 40 x 39 = 1560 fits. 1121 x 1092 = 41 x 39 = 1599 does not: at 1120 the short edge is
  // 1120 * 1092 / 1121 = 1091.03 -> 1091, 39 patches, 1560.
  check(standard, [
    [1093, 1093, 1521],
    [1120, 1092, 1560],
    [1121, 1092, 1560]
  ])
  // The edge limit: 1568 px are 56 patches. 1569 px pad to 1596: at 1568 the other edge stays 28 (27.98): 56.
  // 1569 x 29: at 1568 it stays 29 (28.98): 56 x 2 = 112. 3136 x 57 -> 1568 x 28 (28.5 to the even number): 56.
  check(standard, [
    [1568, 28, 56],
    [1569, 28, 56],
    [1569, 29, 112],
    [3136, 57, 56],
    [3136, 59, 112],
    [100_000, 1, 56]
  ])
})

describe("Claude, high resolution", () => {
  check(highResolution, [
    [200, 200, 64],
    [1000, 1000, 1296],
    [1092, 1092, 1521],
    [1920, 1080, 2691],
    [2000, 1500, 3888],
    [3840, 2160, 4784]
  ])
  // 69 x 69 = 4761 fits in 4784; 1933 px square would be 70 x 70 = 4900, so it goes back to 1932.
  // 2576 px are 92 patches, 92 x 52 = 4784 to the token. 2577 px pad to 2604: at 2576 the other edge is
  // 1456 * 2576 / 2577 = 1455.4 -> 1455, 52 patches.
  check(highResolution, [
    [1932, 1932, 4761],
    [1933, 1933, 4761],
    [2576, 1456, 4784],
    [2577, 1456, 4784],
    [2576, 28, 92],
    [2577, 28, 92]
  ])
  it("counts what stands around an image", () => {
    expect(imageTokens({ ...highResolution, extra: 6 }, { width: 200, height: 200 })).toBe(70)
  })
  it("turned by a quarter, an image costs the same", () => {
    expect(imageTokens(highResolution, { width: 2160, height: 3840 })).toBe(4784)
  })
})

const low = { maxEdge: 512 }
const high = { maxEdge: 2048, maxPatches: 2500 }
type Details = Extract<ImageRule, { readonly rule: "patches" }>["details"]
const patches = (multiplier: number, auto: string, details: Details): ImageRule => ({
  rule: "patches",
  patch: 32,
  multiplier,
  auto,
  details
})
const gpt56 = patches(1.2, "original", { low, high, original: {} })
const gpt55 = patches(1.2, "original", {
  low,
  high,
  original: { maxEdge: 6000, maxPatches: 10_000 }
})
const gpt54 = patches(1.2, "high", {
  low: { maxEdge: 2048, maxPatches: 6144 },
  high,
  original: { maxEdge: 6000, maxPatches: 10_000 }
})
const single = (multiplier: number) =>
  patches(multiplier, "high", { high: { maxEdge: 2048, maxPatches: 6144 } })

describe("OpenAI, patches", () => {
  check(gpt56, [
    [1024, 1024, 1229],
    [2048, 2048, 3000, "high"],
    [1920, 1080, 2448],
    [1920, 1080, 2448, "high"],
    [1920, 1080, 173, "low"]
  ])
  // A patch: 32 px are one, 33 px are two; times 1.2, rounded up: 2 and 3.
  check(gpt56, [
    [31, 32, 2],
    [32, 32, 2],
    [33, 32, 3]
  ])
  // The budget: 1600 px square is 50 x 50 = 2500. At 1601 x 1600 it is 51 x 50: the scale for 2500 patches
  // leaves 49.98 rows, rounded down to 49, and with it 1568.98 px of width: 49 x 49 = 2401, times 1.2 2881.2.
  check(gpt56, [
    [1600, 1600, 3000, "high"],
    [1601, 1600, 2882, "high"],
    [1600, 1601, 2882, "high"],
    [1601, 1600, 3060, "original"]
  ])
  // Any larger square comes down to 1600 px square. (In floating point, 1659 px give 49.99999999999999 columns.)
  check(gpt56, [
    [1659, 1659, 3000, "high"],
    [1708, 1708, 3000, "high"]
  ])
  // The edge: 2048 px are 64 patches; 2049 x 33 shrinks to 2048 x 32.98, still two rows: 128, times 1.2 153.6.
  // 2112 x 33 shrinks to 2048 x 32: one row, 64, times 1.2 76.8.
  check(gpt56, [
    [2048, 33, 154, "high"],
    [2049, 33, 154, "high"],
    [2112, 33, 77, "high"],
    [512, 512, 308, "low"],
    [513, 513, 308, "low"]
  ])
  // No budget: 3840 x 2160 is 120 x 68 = 8160.
  check(gpt56, [[3840, 2160, 9792, "original"]])
  // 3200 px square is 100 x 100 = 10 000. One px more leaves 99 x 99 = 9801, times 1.2 11 761.2.
  // 6001 px shrink to 6000: 188 patches.
  check(gpt55, [
    [3200, 3200, 12_000],
    [3201, 3200, 11_762],
    [6000, 32, 226],
    [6001, 32, 226]
  ])
  // 5.4: `low` is larger than `high`, which is the default. 2048 px square is 64 x 64 = 4096.
  check(gpt54, [
    [1920, 1080, 2448],
    [2048, 2048, 3000],
    [2048, 2048, 4916, "low"],
    [3200, 3200, 12_000, "original"]
  ])
  it.each([
    [1.2, 1229],
    [1.5, 1536],
    [1.62, 1659],
    [2.46, 2520],
    [1.72, 1762]
  ])("multiplier %d: 1024 px square is %i", (multiplier, tokens) => {
    expect(imageTokens(single(multiplier), { width: 1024, height: 1024 })).toBe(tokens)
  })
  it("a level that the model doesn't have is its default", () => {
    expect(imageTokens(gpt54, { width: 2048, height: 2048 }, "auto")).toBe(3000)
    expect(imageTokens(single(1.2), { width: 1920, height: 1080 }, "low")).toBe(2448)
  })
})

const tiles = (base: number, tile: number): ImageRule => ({ rule: "tiles", base, tile })
const gpt4o = tiles(85, 170)

describe("OpenAI, tiles", () => {
  it.each([
    ["4o, 4.1, 4.5", gpt4o, 1105],
    ["5, 5.1", tiles(70, 140), 910],
    ["4o-mini", tiles(2833, 5667), 36_835],
    ["o1, o3", tiles(75, 150), 975],
    ["computer-use-preview", tiles(65, 129), 839]
  ])("%s: 1920 x 1080 is %s", (_, rule, tokens) => {
    expect(imageTokens(rule, { width: 1920, height: 1080 })).toBe(tokens)
  })
  check(gpt4o, [[1920, 1080, 85, "low"]])
  // A tile: 512 px are one, 513 px are two.
  check(gpt4o, [
    [512, 512, 255],
    [513, 512, 425],
    [512, 513, 425]
  ])
  // The short edge: 768 px square is 2 x 2. 1536 x 768 is 3 x 2, 1537 x 768 is 4 x 2; at 1537 x 769 the
  // short edge shrinks to 768 and the long one to 1535.0: 3 x 2.
  check(gpt4o, [
    [768, 768, 765],
    [769, 769, 765],
    [1536, 768, 1105],
    [1537, 768, 1445],
    [1537, 769, 1105]
  ])
  // The long edge: 2048 x 512 is 4 x 1; 2049 x 512 shrinks to 2048 x 511.8; 2049 x 513 to 2048 x 512.7: 4 x 2.
  check(gpt4o, [
    [2048, 512, 765],
    [2049, 512, 765],
    [2049, 513, 1445]
  ])
})

describe("Gemini", () => {
  const levels: ImageRule = {
    rule: "levels",
    levels: { low: 280, medium: 560, high: 1120, ultra_high: 2240 },
    auto: "high"
  }
  check(levels, [
    [1, 1, 1120],
    [3840, 2160, 1120],
    [1920, 1080, 280, "low"],
    [1920, 1080, 560, "medium"],
    [1920, 1080, 1120, "high"],
    [1920, 1080, 2240, "ultra_high"],
    [1920, 1080, 2240, "MEDIA_RESOLUTION_ULTRA_HIGH"]
  ])
  const v25: ImageRule = {
    rule: "geminiTiles",
    tile: 768,
    tokens: 258,
    small: 384,
    levels: { low: 64, medium: 256 }
  }
  // Small: up to 384 px on both edges, one figure; a tile: 768 px are one, 769 px are two. 1920 x 1080: 3 x 2.
  check(v25, [
    [384, 384, 258],
    [385, 384, 258],
    [768, 768, 258],
    [769, 768, 516],
    [1920, 1080, 1548],
    [1920, 1080, 64, "low"],
    [1920, 1080, 256, "medium"],
    [1920, 1080, 1548, "high"]
  ])
})

describe("Qwen-VL, GLM-V, Kimi and a flat figure", () => {
  const qwen2 = {
    rule: "resize",
    factor: 28,
    minPixels: 3136,
    maxPixels: 12_845_056,
    extra: 0
  } as const
  // Rounded: 1920 / 28 = 68.57 -> 69, 1080 / 28 = 38.57 -> 39. Halves go to the even number: 70 px (2.5) are
  // two, 71 px are three; 97 px (3.46) are three, 98 px (3.5) are four.
  check(qwen2, [
    [1920, 1080, 2691],
    [70, 280, 20],
    [71, 280, 30],
    [97, 280, 30],
    [98, 280, 40]
  ])
  // The largest area: 3584 px square is 128 x 128. 3598 px (128.5) still round to 128. At 3599 x 3584 it is
  // 129 x 128: scaled by 0.99791, 128.27 and 127.73 are rounded down to 128 x 127.
  check(qwen2, [
    [3584, 3584, 16_384],
    [3598, 3584, 16_384],
    [3599, 3584, 16_256]
  ])
  // The smallest: 56 px square is 2 x 2, and so is 42 x 56 (1.5 -> 2). 41 x 56 rounds to 1 x 2: scaled by 1.1687,
  // 1.71 and 2.34 are rounded up to 2 x 3.
  check(qwen2, [
    [56, 56, 4],
    [42, 56, 4],
    [41, 56, 6]
  ])
  it("counts the markers", () => {
    expect(imageTokens({ ...qwen2, extra: 2 }, { width: 1920, height: 1080 })).toBe(2693)
  })
  // Qwen3-VL, factor 32: 60 x 33.75 -> 60 x 34.
  check({ rule: "resize", factor: 32, extra: 0 }, [[1920, 1080, 2040]])
  // GLM-4.5V: 12 544 px are 4 x 4; 97 px square (3.46) rounds to 3 x 3, is scaled up by 1.1546: 4 x 4.
  check({ rule: "resize", factor: 28, minPixels: 12_544, maxPixels: 9_633_792, extra: 0 }, [
    [1920, 1080, 2691],
    [112, 112, 16],
    [97, 97, 16]
  ])
  const kimi: ImageRule = { rule: "resize", factor: 28, pad: true, maxTokens: 4096, extra: 0 }
  // Padded: 28 px are one, 29 px are two. 1792 px square has 128 x 128 patches of 14 px, as many as there may
  // be: 64 x 64. 1805 px still have 128 whole patches: 65 x 64. 1806 px have 129: scaled by 0.99612 to
  // 1798 x 1785 px, 65 x 64.
  check(kimi, [
    [1920, 1080, 2691],
    [28, 28, 1],
    [29, 28, 2],
    [1792, 1792, 4096],
    [1805, 1792, 4160],
    [1806, 1792, 4160],
    [3584, 3584, 4096]
  ])
  check({ rule: "resize", factor: 28, maxTokens: 384, extra: 0 }, [
    [560, 504, 360],
    [1920, 1080, 384]
  ])
  check({ rule: "flat", tokens: 384 }, [
    [1, 1, 384],
    [1920, 1080, 384]
  ])
})

describe("any size", () => {
  const rules = [standard, highResolution, gpt56, gpt54, gpt4o, single(1.2)]
  const size = fc.record({
    width: fc.integer({ min: 1, max: 20_000 }),
    height: fc.integer({ min: 1, max: 20_000 })
  })
  it("costs whole tokens within the rule's own limit", () => {
    fc.assert(
      fc.property(size, (pixels) => {
        for (const rule of rules) {
          const tokens = imageTokens(rule, pixels)
          expect(Number.isInteger(tokens) && tokens > 0).toBe(true)
        }
        expect(imageTokens(standard, pixels)).toBeLessThanOrEqual(1568)
        expect(imageTokens(highResolution, pixels)).toBeLessThanOrEqual(4784)
        expect(imageTokens(gpt54, pixels)).toBeLessThanOrEqual(3000)
      })
    )
  })
  it("Claude's is the largest that fits, found by trying every size", () => {
    const slow = (width: number, height: number): number => {
      const long = Math.max(width, height)
      const short = Math.min(width, height)
      for (let edge = long; edge >= 1; edge--) {
        const exact = (edge * short) / long
        const even = Math.floor(exact) % 2 === 0 ? Math.floor(exact) : Math.ceil(exact)
        const other = Math.max(1, exact % 1 === 0.5 ? even : Math.round(exact))
        const tokens = Math.ceil(edge / 28) * Math.ceil(other / 28)
        if (Math.ceil(edge / 28) * 28 <= 1568 && tokens <= 1568) return tokens
      }
      return 0
    }
    fc.assert(
      fc.property(
        size,
        ({ width, height }) => imageTokens(standard, { width, height }) === slow(width, height)
      )
    )
  })
  it("without a size, it is taken for a screenshot of 1920 x 1080", () => {
    expect(imageTokens(standard, undefined)).toBe(1560)
    expect(imageTokens(gpt4o, undefined)).toBe(1105)
    expect(imageTokens(gpt4o, { width: 0, height: Number.NaN })).toBe(1105)
    expect(imageTokens(gpt4o, { width: Infinity, height: 5 })).toBe(1105)
  })
})

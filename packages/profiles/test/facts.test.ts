import { Profile } from "@varve/core/Profile"
import { modelNames, profile } from "@varve/profiles"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

const quiet = { onWarning: () => {} }
const of = (name: string) => profile(name, {}, quiet)

describe("every profile", () => {
  it.each(modelNames())("%s is valid, dated, sourced and leaves room for input", (name) => {
    const { classify, ...data } = of(name)
    expect(classify).toBeTypeOf("function")
    const decoded = Schema.decodeUnknownSync(Profile)(data, { onExcessProperty: "error" })
    expect(decoded).toEqual(data)
    expect(data.model).toBe(name)
    expect(data.date).toMatch(/^20\d\d-\d\d-\d\d$/)
    expect(data.source.length).toBeGreaterThan(20)
    expect(data.warning).toBeUndefined()
    expect(data.reserveOutput).toBeGreaterThan(0)
    expect(data.reserveOutput).toBeLessThanOrEqual(data.contextWindow / 3)
  })

  it.each(modelNames())("%s has prices in a sensible order", (name) => {
    const { prices, cache } = of(name)
    for (const p of [prices, ...(prices.tiers ?? [])]) {
      expect(p.output).toBeGreaterThan(0)
      expect(p.output).toBeGreaterThanOrEqual(p.input)
      expect(p.cacheRead).toBeGreaterThan(0)
      if (cache.kind === "none") expect(p.cacheRead).toBe(p.input)
      else expect(p.cacheRead).toBeLessThan(p.input)
      if (p.cacheWrite !== undefined) expect(p.cacheWrite).toBeGreaterThanOrEqual(p.input)
    }
  })

  it("has at least 160 models of 12 providers", () => {
    expect(modelNames().length).toBeGreaterThanOrEqual(160)
    expect(new Set(modelNames().map((name) => name.split("/")[0])).size).toBe(12)
    expect(new Set(modelNames()).size).toBe(modelNames().length)
  })
})

// Input, output, cache read and cache write in USD for a million tokens.
const priceRows: ReadonlyArray<readonly [string, number, number, number, number]> = [
  ["anthropic/claude-fable-5", 10, 50, 1, 12.5],
  ["anthropic/claude-fable-5.1", 10, 50, 0.25, 12.5],
  ["anthropic/claude-fable-5.2", 8, 40, 0.2, 10],
  ["anthropic/claude-opus-5.5", 4, 20, 0.2, 5],
  ["anthropic/claude-opus-5", 5, 25, 0.5, 6.25],
  ["anthropic/claude-opus-4.8", 5, 25, 0.5, 6.25],
  ["anthropic/claude-opus-4.7", 5, 25, 0.5, 6.25],
  ["anthropic/claude-opus-4.6", 5, 25, 0.5, 6.25],
  ["anthropic/claude-opus-4.5", 5, 25, 0.5, 6.25],
  ["anthropic/claude-sonnet-5.5", 2, 10, 0.1, 2.5],
  ["anthropic/claude-sonnet-5", 2, 10, 0.2, 2.5],
  ["anthropic/claude-sonnet-4.6", 3, 15, 0.3, 3.75],
  ["anthropic/claude-sonnet-4.5", 3, 15, 0.3, 3.75],
  ["anthropic/claude-haiku-5.5", 0.1, 0.5, 0.01, 0.125],
  ["anthropic/claude-haiku-4.5", 1, 5, 0.1, 1.25],
  ["openai/gpt-4o", 2.5, 10, 1.25, 2.5],
  ["openai/gpt-4.1", 2, 8, 0.5, 2],
  ["openai/gpt-5", 1.25, 10, 0.125, 1.25],
  ["openai/gpt-5.1", 1.25, 10, 0.125, 1.25],
  ["openai/gpt-5.2", 1.75, 14, 0.175, 1.75],
  ["openai/gpt-5.4", 2.5, 15, 0.25, 2.5],
  ["openai/gpt-5.4-mini", 0.75, 4.5, 0.075, 0.75],
  ["openai/gpt-5.5", 5, 30, 0.5, 5],
  ["openai/gpt-5.6-sol", 4, 20, 0.4, 5],
  ["openai/gpt-5.6-terra", 2, 12, 0.2, 2.5],
  ["openai/gpt-5.6-luna", 0.2, 1.2, 0.02, 0.25],
  ["openai/gpt-6-astra", 10, 50, 1, 12.5],
  ["openai/gpt-6-sol", 2, 10, 0.2, 2.5],
  ["openai/gpt-6.1-sol", 2, 10, 0.1, 2.5],
  ["openai/gpt-6.2-sol", 2, 10, 0.1, 2.5],
  ["openai/gpt-6.1-terra", 1, 5, 0.05, 1.25],
  ["openai/gpt-6.2-astra", 8, 40, 0.4, 10],
  ["openai/gpt-6-luna", 0.1, 0.5, 0.01, 0.125],
  ["google/gemini-4-argon", 2, 10, 0.1, 2],
  ["google/gemini-4-carbon", 2, 10, 0.1, 2],
  ["google/gemini-4-hydrogen", 1.5, 7.5, 0.075, 1.5],
  ["google/gemini-4-neon", 3, 15, 0.15, 3],
  ["google/gemini-3.8-flash", 0.75, 3.75, 0.075, 0.75],
  ["google/gemini-3.1-pro", 2, 12, 0.2, 2],
  ["google/gemini-2.5-pro", 1.25, 10, 0.125, 1.25],
  ["google/gemini-2.5-flash", 0.3, 2.5, 0.03, 0.3],
  ["deepseek/deepseek-flash", 0.3, 1.2, 0.006, 0.3],
  ["deepseek/deepseek-v4-pro", 1.32, 3.96, 0.044, 1.32],
  ["moonshotai/kimi-k3", 3, 15, 0.3, 3],
  ["moonshotai/kimi-k2.6", 0.95, 4, 0.16, 0.95],
  ["xai/grok-4.7", 2, 6, 0.5, 2],
  ["minimax/minimax-m3", 0.3, 1.2, 0.06, 0.3],
  ["zai/glm-5.3", 1.4, 4.4, 0.26, 1.4]
]

describe("prices", () => {
  it.each(priceRows)(
    "%s: %d in, %d out, %d read, %d written",
    (name, input, output, cacheRead, cacheWrite) => {
      const { tiers: _, ...prices } = of(name).prices
      expect(prices).toEqual({ input, output, cacheRead, cacheWrite })
    }
  )

  it("rise above 100 000 tokens of input on Haiku 5.5", () => {
    expect(of("claude-haiku-5.5").prices.tiers).toEqual([
      { above: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 }
    ])
  })

  it.each([
    ["gpt-5.4", 5, 22.5, 0.5, 5],
    ["gpt-5.5", 10, 45, 1, 10],
    ["gpt-5.6-sol", 8, 30, 0.8, 10],
    ["gpt-6.2-astra", 16, 60, 0.8, 20]
  ])("double above 272 000 tokens of input on %s", (name, input, output, cacheRead, cacheWrite) => {
    expect(of(name).prices.tiers).toEqual([
      { above: 272_000, input, output, cacheRead, cacheWrite }
    ])
  })

  it("rise above 200 000 tokens of input on Gemini 3.1 Pro", () => {
    expect(of("gemini-3.1-pro").prices.tiers).toEqual([
      { above: 200_000, input: 4, output: 18, cacheRead: 0.4 }
    ])
  })

  it("read a Claude cache at a tenth, a twentieth or a fortieth", () => {
    const share = (name: string) => {
      const { cacheRead, input } = of(name).prices
      return Number((cacheRead / input).toFixed(6))
    }
    expect(share("claude-opus-5")).toBe(0.1)
    expect(share("claude-opus-5.5")).toBe(0.05)
    expect(share("claude-sonnet-5.5")).toBe(0.05)
    expect(share("claude-fable-5.1")).toBe(0.025)
    expect(share("claude-fable-5.2")).toBe(0.025)
  })

  it.each(
    modelNames().filter(
      (name) => name.startsWith("anthropic/claude-") && !name.includes("claude-3")
    )
  )("write %s's cache at 1.25 times the input price, for an hour at twice", (name) => {
    const { prices, cache } = of(name)
    expect(prices.cacheWrite).toBeCloseTo(1.25 * prices.input, 10)
    expect(cache.long).toEqual({ lifetime: 3_600_000, write: 2 })
  })
})

describe("windows", () => {
  // The window, and what the reserve leaves for input.
  it.each([
    ["claude-opus-5.5", 1_000_000, 968_000],
    ["claude-opus-4.6", 1_000_000, 968_000],
    ["claude-sonnet-4.5", 200_000, 168_000],
    ["claude-haiku-4.5", 200_000, 168_000],
    ["gpt-4o", 128_000, 111_616],
    ["gpt-4", 8192, 6144],
    ["gpt-5", 400_000, 272_000],
    ["gpt-5.2", 400_000, 272_000],
    ["gpt-5.4-mini", 400_000, 272_000],
    ["gpt-5.4", 1_050_000, 922_000],
    ["gpt-6.2-sol", 1_050_000, 922_000],
    ["gemini-2.5-pro", 1_048_576, 1_016_576],
    ["kimi-k2.6", 262_144, 230_144],
    ["glm-5.3", 1_000_000, 968_000]
  ])("%s: %d tokens, of which %d for input", (name, window, input) => {
    const { contextWindow, reserveOutput } = of(name)
    expect(contextWindow).toBe(window)
    expect(contextWindow - reserveOutput).toBe(input)
  })
})

describe("limits", () => {
  it("of Claude with a window of a million: 600 images, 10 MB each, 32 MB in all, 8000 px, 100 000 messages", () => {
    expect(of("claude-opus-5.5").limits).toEqual({
      images: 600,
      bytesPerImage: 10_485_760,
      requestBytes: 33_554_432,
      maxEdge: 8000,
      manyImages: { over: 20, maxEdge: 2000 },
      messages: 100_000
    })
  })

  it("with more than 20 images, each edge of a Claude image is at most 2000 px", () => {
    for (const name of modelNames().filter((n) => n.startsWith("anthropic/"))) {
      expect(of(name).limits.manyImages).toEqual({ over: 20, maxEdge: 2000 })
    }
  })

  it.each(["claude-opus-4.5", "claude-sonnet-4.5", "claude-haiku-4.5", "claude-opus-4.1"])(
    "of %s with a window of 200 000: 100 images",
    (name) => expect(of(name).limits.images).toBe(100)
  )

  it("of Claude on Amazon Bedrock: 5 MB an image, 11 MB a request, 20 images a message", () => {
    const { limits } = of("us.anthropic.claude-opus-4-8")
    expect(limits).toMatchObject({
      images: 600,
      bytesPerImage: 5_242_880,
      requestBytes: 11_000_000,
      imagesPerMessage: 20
    })
  })

  it("of Claude on Vertex AI: 5 MB an image, 18 MB a request", () => {
    const { limits } = of("google-vertex/claude-opus-4-8")
    expect(limits).toMatchObject({ bytesPerImage: 5_242_880, requestBytes: 18_000_000 })
    expect(limits.imagesPerMessage).toBeUndefined()
    expect(of("claude-opus-4-5@20251101").limits.requestBytes).toBe(18_000_000)
  })

  it("of OpenAI: 1500 images, 512 MB", () => {
    expect(of("gpt-5.4").limits).toEqual({ images: 1500, requestBytes: 536_870_912 })
    expect(of("gpt-5.6-sol").limits.maxEdge).toBe(65_535)
  })

  it("of GPT-6: an image of more than 30 000 patches is refused, so its area stays below", () => {
    for (const name of ["gpt-6-astra", "gpt-6.1-terra", "gpt-6.2-sol", "gpt-6-luna"]) {
      const { maxPixels = 0 } = of(name).limits
      expect(maxPixels).toBeLessThan(30_000 * 32 * 32)
      // The largest square and a screen of 16:9 that the area lets through, in whole patches.
      for (const ratio of [1, 16 / 9]) {
        const height = Math.floor(Math.sqrt(maxPixels / ratio))
        const width = Math.floor(height * ratio)
        expect(Math.ceil(width / 32) * Math.ceil(height / 32)).toBeLessThanOrEqual(30_000)
      }
    }
  })

  it("of Gemini: 3600 images, 20 MB", () => {
    expect(of("gemini-3.8-flash").limits).toEqual({ images: 3600, requestBytes: 20_971_520 })
  })
})

describe("cache rules", () => {
  it.each([
    ["claude-fable-5", 512],
    ["claude-fable-5.1", 512],
    ["claude-fable-5.2", 512],
    ["claude-mythos-5.2", 512],
    ["claude-opus-5", 512],
    ["claude-opus-5.5", 512],
    ["claude-sonnet-5.5", 512],
    ["claude-opus-4.8", 1024],
    ["claude-sonnet-5", 1024],
    ["claude-sonnet-4.6", 1024],
    ["claude-sonnet-4.5", 1024],
    ["claude-opus-4.7", 2048],
    ["claude-opus-4.6", 4096],
    ["claude-opus-4.5", 4096],
    ["claude-haiku-4.5", 4096]
  ])(
    "of %s: marks, at least %d tokens, 5 minutes, 4 marks that look back 20 positions",
    (name, minimum) => {
      expect(of(name).cache).toEqual({
        kind: "marks",
        minimum,
        lifetime: 300_000,
        marks: 4,
        lookback: 20,
        long: { lifetime: 3_600_000, write: 2 }
      })
    }
  )

  it.each(["gpt-4o", "gpt-4.1", "gpt-5", "gpt-5.2", "gpt-5.4", "gpt-5.5"])(
    "of %s: the longest common prefix from 1024 tokens in steps of 128",
    (name) => {
      expect(of(name).cache).toEqual({
        kind: "prefix",
        minimum: 1024,
        lifetime: 300_000,
        step: 128,
        long: { lifetime: 86_400_000, write: 1 }
      })
      expect(of(name).prices.cacheWrite).toBe(of(name).prices.input)
    }
  )

  it.each(["gpt-5.6-sol", "gpt-5.6-luna", "gpt-6-astra", "gpt-6.1-terra", "gpt-6.2-sol"])(
    "of %s: marks, the newest by itself, at most 4 written, 30 minutes",
    (name) => {
      expect(of(name).cache).toMatchObject({
        kind: "marks",
        implicit: true,
        marks: 4,
        lookback: 20,
        lifetime: 1_800_000
      })
      expect(of(name).prices.cacheWrite).toBeCloseTo(1.25 * of(name).prices.input, 10)
    }
  )

  it.each([
    ["gemini-2.5-pro", 2048],
    ["gemini-2.5-flash", 2048],
    ["gemini-3.1-pro", 4096],
    ["gemini-3.8-flash", 4096]
  ])("of %s: a common prefix of at least %d tokens, without a fee for writing", (name, minimum) => {
    expect(of(name).cache).toMatchObject({ kind: "prefix", minimum })
    expect(of(name).prices.cacheWrite).toBe(of(name).prices.input)
  })

  it("of Mistral: blocks of 64 tokens", () => {
    expect(of("mistral-large-latest").cache).toMatchObject({ kind: "prefix", step: 64 })
  })

  it.each(["deepseek-flash", "kimi-k3", "glm-5.3", "grok-4.7", "minimax-m3", "mistral-medium"])(
    "of %s: a common prefix, without a fee for writing",
    (name) => {
      expect(of(name).cache.kind).toBe("prefix")
      expect(of(name).prices.cacheWrite).toBe(of(name).prices.input)
    }
  )
})

const level = (maxEdge: number, maxPatches: number) => ({ maxEdge, maxPatches })
const low = { maxEdge: 512 }
const high = level(2048, 2500)

describe("image rules", () => {
  it.each([
    "claude-opus-4.7",
    "claude-opus-4.8",
    "claude-opus-5",
    "claude-opus-5.5",
    "claude-sonnet-5",
    "claude-sonnet-5.5",
    "claude-fable-5.2",
    "claude-mythos-5.1",
    "claude-haiku-5.5"
  ])("of %s: the high resolution", (name) =>
    expect(of(name).image).toEqual({ rule: "claude", patch: 28, maxEdge: 2576, maxTokens: 4784 })
  )

  it.each([
    "claude-opus-4.6",
    "claude-opus-4.5",
    "claude-sonnet-4.6",
    "claude-sonnet-4.5",
    "claude-haiku-4.5"
  ])("of %s: the standard resolution", (name) =>
    expect(of(name).image).toEqual({ rule: "claude", patch: 28, maxEdge: 1568, maxTokens: 1568 })
  )

  it.each([
    ["gpt-5.6-terra", 1.2, "original", { low, high, original: {} }],
    ["gpt-6-astra", 1.2, "original", { low, high, original: {} }],
    ["gpt-5.5", 1.2, "original", { low, high, original: level(6000, 10_000) }],
    ["gpt-5.4", 1.2, "high", { low: level(2048, 6144), high, original: level(6000, 10_000) }],
    ["gpt-5.4-mini", 1.2, "high", { low: level(2048, 6144), high, original: level(6000, 10_000) }],
    ["gpt-5.4-nano", 1.2, "high", { low: level(2048, 6144), high, original: level(6000, 10_000) }],
    ["gpt-5.2", 1.2, "high", { high: level(2048, 6144) }],
    ["gpt-5-mini", 1.2, "high", { high: level(2048, 6144) }],
    ["gpt-5-nano", 1.5, "high", { high: level(2048, 6144) }],
    ["gpt-4.1-mini", 1.62, "high", { high: level(2048, 6144) }],
    ["gpt-4.1-nano", 2.46, "high", { high: level(2048, 6144) }],
    ["o4-mini", 1.72, "high", { high: level(2048, 6144) }]
  ])("of %s: patches of 32 px times %d, auto is %s", (name, multiplier, auto, details) => {
    expect(of(name).image).toEqual({ rule: "patches", patch: 32, multiplier, details, auto })
  })

  it.each([
    ["gpt-5", 70, 140],
    ["gpt-5.1", 70, 140],
    ["gpt-4o", 85, 170],
    ["gpt-4.1", 85, 170],
    ["gpt-4.5-preview", 85, 170],
    ["gpt-4o-mini", 2833, 5667],
    ["o1", 75, 150],
    ["o3", 75, 150],
    ["computer-use-preview", 65, 129]
  ])("of %s: %d and %d a tile", (name, base, tile) => {
    expect(of(name).image).toEqual({ rule: "tiles", base, tile })
  })

  it.each(["gemini-3-flash", "gemini-3.1-pro", "gemini-3.8-flash", "gemini-4-argon"])(
    "of %s: a fixed figure for each level",
    (name) =>
      expect(of(name).image).toEqual({
        rule: "levels",
        levels: { low: 280, medium: 560, high: 1120, ultra_high: 2240 },
        auto: "high"
      })
  )

  it("of Gemini 2.5: 258 tokens a tile of 768 px, or a fixed figure for a level", () => {
    expect(of("gemini-2.5-flash").image).toEqual({
      rule: "geminiTiles",
      tile: 768,
      tokens: 258,
      small: 384,
      levels: { low: 64, medium: 256 }
    })
  })

  it("of Qwen2-VL, 2.5-VL and UI-TARS: units of 28 px", () => {
    for (const name of ["qwen2-vl-7b-instruct", "qwen2.5-vl-72b-instruct", "ui-tars-1.5-7b"]) {
      expect(of(name).image).toEqual({
        rule: "resize",
        factor: 28,
        minPixels: 3136,
        maxPixels: 12_845_056,
        extra: 2
      })
    }
  })

  it("of Qwen3-VL and later: units of 32 px", () => {
    for (const name of ["qwen3-vl-8b-instruct", "qwen3.8-max"]) {
      expect(of(name).image).toMatchObject({ rule: "resize", factor: 32, extra: 2 })
    }
  })

  it("of GLM-4.5V and 4.6V: half the processor's area, since an image counts as two frames", () => {
    for (const name of ["glm-4.5v", "glm-4.6v", "autoglm-phone-9b"]) {
      expect(of(name).image).toEqual({
        rule: "resize",
        factor: 28,
        minPixels: 12_544 / 2,
        maxPixels: 9_633_792 / 2,
        extra: 2
      })
    }
  })

  it("of GLM-5.3: 16 to 8000 tokens", () => {
    expect(of("glm-5.3-flash").image).toEqual({
      rule: "resize",
      factor: 28,
      minPixels: 12_544,
      maxPixels: 6_272_000,
      extra: 2
    })
  })

  it("of Kimi: padded units of 28 px, 4096 tokens, from K3 16 384", () => {
    const rule = { rule: "resize", factor: 28, pad: true, maxEdge: 7168, extra: 0 }
    for (const name of ["kimi-vl-a3b-thinking-2506", "kimi-k2.5", "kimi-k2.6"]) {
      expect(of(name).image).toEqual({ ...rule, maxTokens: 4096 })
    }
    for (const name of ["kimi-k3", "kimi-k3.1-pro"]) {
      expect(of(name).image).toEqual({ ...rule, maxTokens: 16_384 })
    }
  })

  it("of DeepSeek Flash: at most 384 tokens", () => {
    expect(of("deepseek-flash").image).toEqual({ rule: "flat", tokens: 384 })
  })

  it("models without vision say so", () => {
    for (const name of [
      "gpt-4",
      "o3-mini",
      "gpt-oss-120b",
      "deepseek-v4-pro",
      "glm-5.3",
      "minimax-m2.7"
    ]) {
      expect(of(name).vision).toBe(false)
    }
    for (const name of [
      "claude-opus-5.5",
      "gpt-4o",
      "gemini-4-argon",
      "glm-5.3-flash",
      "kimi-k3"
    ]) {
      expect(of(name).vision).toBe(true)
    }
  })
})

describe("reasoning", () => {
  it.each([
    "claude-fable-5.1",
    "claude-fable-5.2",
    "claude-mythos-5.1",
    "claude-mythos-5.2",
    "claude-opus-5.5",
    "claude-sonnet-5.5",
    "claude-haiku-5.5",
    "gpt-5",
    "gpt-5.4",
    "gpt-6.2-sol",
    "o3",
    "grok-4.7"
  ])("of %s is dropped where its prefix was edited", (name) =>
    expect(of(name).reasoning).toBe("drop")
  )

  it.each([
    "claude-opus-5",
    "claude-opus-4.8",
    "claude-sonnet-5",
    "claude-fable-5",
    "gpt-4o",
    "gemini-4-argon",
    "kimi-k3"
  ])("of %s is not bound to its prefix", (name) => expect(of(name).reasoning).toBe("none"))
})

describe("text", () => {
  it("only Claude's, Gemini's and MiniMax's histories have to start with the user", () => {
    const starts = modelNames().filter((name) => of(name).startsWithUser)
    expect(new Set(starts.map((name) => name.split("/")[0]))).toEqual(
      new Set(["anthropic", "google", "minimax"])
    )
  })

  it("only Gemini wants a turn between an answer and a call", () => {
    const wants = modelNames().filter((name) => of(name).alternates === true)
    expect(new Set(wants.map((name) => name.split("/")[0]))).toEqual(new Set(["google"]))
  })

  it("on Amazon Bedrock every history has to start with the user", () => {
    expect(of("openai.gpt-5.6-sol").startsWithUser).toBe(true)
    expect(of("gpt-5.6-sol").startsWithUser).toBe(false)
  })

  it.each([
    ["claude-opus-4.7", "o200k_base", 1.6],
    ["claude-opus-5.5", "o200k_base", 1.6],
    ["claude-haiku-5.5", "o200k_base", 1.6],
    ["claude-opus-4.6", "o200k_base", 1.2],
    ["claude-sonnet-4.5", "o200k_base", 1.2],
    ["gemini-3.1-pro", "o200k_base", 1.1],
    ["gpt-4o", "o200k_base", 1],
    ["gpt-6.2-sol", "o200k_base", 1],
    ["gpt-oss-20b", "o200k_base", 1],
    ["gpt-4", "cl100k_base", 1],
    ["gpt-3.5-turbo", "cl100k_base", 1],
    ["qwen3.8-max", "o200k_base", undefined]
  ])("of %s is counted by %s times %s", (name, encoding, ratio) => {
    expect(of(name).encoding).toBe(encoding)
    expect(of(name).ratio).toBe(ratio)
  })
})

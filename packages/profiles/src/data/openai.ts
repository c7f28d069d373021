import type { ImageRule, Prices } from "@varve/core/Profile"
import { prices, type ModelFacts, type ProviderFacts } from "../internal/Facts.ts"

type Details = Extract<ImageRule, { rule: "patches" }>["details"]

const patches = (multiplier: number, auto: string, details: Details): ImageRule => ({
  rule: "patches",
  patch: 32,
  multiplier,
  details,
  auto
})

const tiles = (base: number, tile: number): ImageRule => ({ rule: "tiles", base, tile })

const low = { maxEdge: 512 }
const high = { maxEdge: 2048, maxPatches: 2500 }

/** 5.6 and 6: `original` has no patch budget. */
const original = patches(1.2, "original", { low, high, original: {} })

/** 4.1-mini and -nano, 5-mini and -nano, 5.2, o4-mini: one level only. */
const single = (multiplier: number): ImageRule =>
  patches(multiplier, "high", { high: { maxEdge: 2048, maxPatches: 6144 } })

/** 5.4: its `low` is larger than its `high`; so says the guide. */
const rule54 = patches(1.2, "high", {
  low: { maxEdge: 2048, maxPatches: 6144 },
  high,
  original: { maxEdge: 6000, maxPatches: 10_000 }
})

/** Up to 5.3: 400 000 tokens, of which 272 000 may be input. */
const medium = { window: 400_000, input: 272_000, output: 128_000 }

/** From 5.4: 1 050 000 tokens, of which 922 000 may be input; above 272 000 everything costs double. */
const large = { window: 1_050_000, input: 922_000, output: 128_000 }

const chat = { window: 128_000, output: 16_384 }
const reasoner = { window: 200_000, output: 100_000, reasoning: "drop" } as const

/** Without the crumbs of binary fractions. */
const times = (factor: number, price: number): number => Number((factor * price).toFixed(6))

const longPrompt = (p: Prices): Prices => ({
  ...p,
  tiers: [
    {
      above: 272_000,
      input: times(2, p.input),
      output: times(1.5, p.output),
      cacheRead: times(2, p.cacheRead),
      cacheWrite: times(2, p.cacheWrite)
    }
  ]
})

const bound = { reasoning: "drop" } as const

/** From 5.6: entries are written and read at marks, the newest of which the provider sets by itself. */
const marked: ModelFacts["cache"] = {
  kind: "marks",
  lifetime: 1_800_000,
  marks: 4,
  lookback: 20,
  implicit: true
}

const v56 = (p: Prices): ModelFacts => ({
  ...large,
  ...bound,
  image: original,
  limits: { maxEdge: 65_535 },
  cache: marked,
  prices: longPrompt(p),
  source: "cache minimum not stated for 5.6 and later: that of the earlier models"
})

/** More than 30 000 patches of 32 px are refused; a little less, since patches that are cut count whole. */
const v6 = (p: Prices): ModelFacts => ({ ...v56(p), limits: { maxPixels: 30_000_000 } })

const uncached = { cache: { kind: "none" } } as const
const fromTable = "window and prices: table of pi-ai 1.6.0; image rule that of its family"
const fromOldTable =
  "window and prices: table of pi-ai 0.73.1 (2026-05-08); image rule that of its family"
const fromMemory = "window and prices from memory, not verified"

export const openai: ProviderFacts = {
  provider: "openai",
  aliases: ["openai-codex", "openai-responses", "oai"],
  names: /^(gpt|chatgpt|o[1-9](-|$)|codex|computer-use-preview)/,
  source:
    "developers.openai.com/api/docs/guides: images-vision, prompt-caching, preserved-reasoning; " +
    "windows and prices: table of @earendil-works/pi-ai 1.6.0 (2026-11-20)",
  date: "2026-11-29",
  vision: true,
  image: original,
  limits: { images: 1500, requestBytes: 536_870_912 },
  cache: {
    kind: "prefix",
    minimum: 1024,
    lifetime: 300_000,
    step: 128,
    long: { lifetime: 86_400_000, write: 1 }
  },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  ratio: 1,
  models: {
    "gpt-6.2-astra": v6(prices(8, 40, 0.4, 10)),
    "gpt-6.2-sol": v6(prices(2, 10, 0.1, 2.5)),
    "gpt-6.1-sol": v6(prices(2, 10, 0.1, 2.5)),
    "gpt-6.1-terra": v6(prices(1, 5, 0.05, 1.25)),
    "gpt-6-astra": v6(prices(10, 50, 1, 12.5)),
    "gpt-6-sol": v6(prices(2, 10, 0.2, 2.5)),
    "gpt-6-luna": v6(prices(0.1, 0.5, 0.01, 0.125)),
    "gpt-5.6-sol": v56(prices(4, 20, 0.4, 5)),
    "gpt-5.6-terra": v56(prices(2, 12, 0.2, 2.5)),
    "gpt-5.6-luna": v56(prices(0.2, 1.2, 0.02, 0.25)),
    "gpt-5.5": {
      ...large,
      ...bound,
      image: patches(1.2, "original", {
        low,
        high,
        original: { maxEdge: 6000, maxPatches: 10_000 }
      }),
      prices: longPrompt(prices(5, 30, 0.5))
    },
    "gpt-5.5-pro": {
      ...large,
      ...bound,
      ...uncached,
      prices: longPrompt(prices(30, 180, 30)),
      source: fromTable
    },
    "gpt-5.4": { ...large, ...bound, image: rule54, prices: longPrompt(prices(2.5, 15, 0.25)) },
    "gpt-5.4-mini": { ...medium, ...bound, image: rule54, prices: prices(0.75, 4.5, 0.075) },
    "gpt-5.4-nano": {
      ...medium,
      ...bound,
      image: rule54,
      prices: prices(0.2, 1.25, 0.02),
      source: fromTable
    },
    "gpt-5.4-pro": {
      ...large,
      ...bound,
      ...uncached,
      image: rule54,
      prices: longPrompt(prices(30, 180, 30)),
      source: fromTable
    },
    "gpt-5.3-codex": {
      ...medium,
      ...bound,
      image: single(1.2),
      prices: prices(1.75, 14, 0.175),
      source: fromTable
    },
    "gpt-5.3-codex-spark": {
      ...bound,
      window: 128_000,
      output: 32_000,
      image: single(1.2),
      prices: prices(1.75, 14, 0.175),
      source: fromTable
    },
    "gpt-5.3-chat": {
      ...chat,
      image: single(1.2),
      prices: prices(1.75, 14, 0.175),
      source: fromOldTable
    },
    "gpt-5.2": { ...medium, ...bound, image: single(1.2), prices: prices(1.75, 14, 0.175) },
    "gpt-5.2-pro": {
      ...medium,
      ...bound,
      ...uncached,
      image: single(1.2),
      prices: prices(21, 168, 21),
      source: fromTable
    },
    "gpt-5.2-chat": {
      ...chat,
      image: single(1.2),
      prices: prices(1.75, 14, 0.175),
      source: fromOldTable
    },
    "gpt-5.1": { ...medium, ...bound, image: tiles(70, 140), prices: prices(1.25, 10, 0.125) },
    "gpt-5.1-codex-mini": {
      ...medium,
      ...bound,
      image: tiles(70, 140),
      prices: prices(0.25, 2, 0.025),
      source: fromOldTable
    },
    "gpt-5.1-chat": {
      ...chat,
      image: tiles(70, 140),
      prices: prices(1.25, 10, 0.125),
      source: fromOldTable
    },
    "gpt-5": { ...medium, ...bound, image: tiles(70, 140), prices: prices(1.25, 10, 0.125) },
    "gpt-5-mini": { ...medium, ...bound, image: single(1.2), prices: prices(0.25, 2, 0.025) },
    "gpt-5-nano": { ...medium, ...bound, image: single(1.5), prices: prices(0.05, 0.4, 0.005) },
    "gpt-5-pro": {
      ...medium,
      ...bound,
      ...uncached,
      image: tiles(70, 140),
      prices: prices(15, 120, 15),
      source: fromTable
    },
    "gpt-5-chat": {
      ...chat,
      image: tiles(70, 140),
      prices: prices(1.25, 10, 0.125),
      source: fromTable
    },
    "gpt-4.5": {
      ...chat,
      image: tiles(85, 170),
      prices: prices(75, 150, 37.5),
      source: fromMemory
    },
    "gpt-4.1": {
      window: 1_047_576,
      output: 32_768,
      image: tiles(85, 170),
      prices: prices(2, 8, 0.5)
    },
    "gpt-4.1-mini": {
      window: 1_047_576,
      output: 32_768,
      image: single(1.62),
      prices: prices(0.4, 1.6, 0.1)
    },
    "gpt-4.1-nano": {
      window: 1_047_576,
      output: 32_768,
      image: single(2.46),
      prices: prices(0.1, 0.4, 0.025)
    },
    "gpt-4o": { ...chat, image: tiles(85, 170), prices: prices(2.5, 10, 1.25) },
    "gpt-4o-2024-05-13": {
      window: 128_000,
      output: 4096,
      ...uncached,
      image: tiles(85, 170),
      prices: prices(5, 15, 5)
    },
    "gpt-4o-mini": { ...chat, image: tiles(2833, 5667), prices: prices(0.15, 0.6, 0.075) },
    "gpt-4-turbo": {
      window: 128_000,
      output: 4096,
      ...uncached,
      image: tiles(85, 170),
      prices: prices(10, 30, 10),
      encoding: "cl100k_base",
      source: fromTable
    },
    "gpt-4": {
      window: 8192,
      output: 8192,
      ...uncached,
      vision: false,
      prices: prices(30, 60, 30),
      encoding: "cl100k_base",
      source: fromTable
    },
    "gpt-3.5-turbo": {
      window: 16_385,
      output: 4096,
      ...uncached,
      vision: false,
      prices: prices(0.5, 1.5, 0.5),
      encoding: "cl100k_base",
      source: fromMemory
    },
    o1: { ...reasoner, image: tiles(75, 150), prices: prices(15, 60, 7.5) },
    "o1-pro": {
      ...reasoner,
      ...uncached,
      image: tiles(75, 150),
      prices: prices(150, 600, 150),
      source: fromTable
    },
    o3: { ...reasoner, image: tiles(75, 150), prices: prices(2, 8, 0.5) },
    "o3-mini": { ...reasoner, vision: false, prices: prices(1.1, 4.4, 0.55) },
    "o3-pro": {
      ...reasoner,
      ...uncached,
      image: tiles(75, 150),
      prices: prices(20, 80, 20),
      source: fromTable
    },
    "o4-mini": { ...reasoner, image: single(1.72), prices: prices(1.1, 4.4, 0.275) },
    "computer-use-preview": {
      window: 8192,
      output: 1024,
      image: tiles(65, 129),
      prices: prices(3, 12, 3),
      ...uncached,
      source: fromMemory
    },
    // Served by others; its own encoding is o200k_base with more special tokens.
    "gpt-oss-120b": {
      window: 131_072,
      output: 65_536,
      vision: false,
      prices: prices(0.15, 0.6, 0.075),
      source: fromTable
    },
    "gpt-oss-20b": {
      window: 131_072,
      output: 65_536,
      vision: false,
      prices: prices(0.075, 0.3, 0.0375),
      source: fromTable
    }
  },
  standIns: [
    ["gpt-oss", "gpt-oss-120b"],
    ["gpt-4", "gpt-4o"],
    ["gpt-5", "gpt-5.6-sol"],
    ["o", "o3"],
    ["", "gpt-6.2-sol"]
  ]
}

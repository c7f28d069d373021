import type { ImageRule, Prices } from "@varve/core/Profile"
import { prices, type ModelFacts, type ProviderFacts } from "../internal/Facts.ts"

/** From 3: a fixed figure for each `media_resolution`; fewer pixels save nothing. */
const levels: ImageRule = {
  rule: "levels",
  levels: { low: 280, medium: 560, high: 1120, ultra_high: 2240 },
  auto: "high"
}

/** 2.5 and earlier. */
const tiles: ImageRule = {
  rule: "geminiTiles",
  tile: 768,
  tokens: 258,
  small: 384,
  levels: { low: 64, medium: 256 }
}

const large = { window: 1_048_576, output: 65_536 }
const v25 = { ...large, image: tiles, cache: { minimum: 2048 } }

const above200k = (p: Prices, input: number, output: number, cacheRead: number): Prices => ({
  ...p,
  tiers: [{ above: 200_000, input, output, cacheRead }]
})

const v4 = (p: Prices, output = 65_536): ModelFacts => ({
  ...large,
  output,
  prices: p,
  source: "cache minimum that of Gemini 3"
})

const older =
  "windows and prices: table of pi-ai 0.73.1 (2026-05-08); image and cache rule those of 2.5"

export const google: ProviderFacts = {
  provider: "google",
  aliases: ["gemini", "google-ai-studio", "google-generative-ai"],
  names: /^(gemini|gemma)/,
  source:
    "ai.google.dev/gemini-api/docs: media-resolution, caching, tokens; " +
    "windows and prices: table of @earendil-works/pi-ai 1.6.0 (2026-11-20); " +
    "the lifetime of the implicit cache and the first role are not documented: 5 minutes and user are assumed; " +
    "calls only behind a user's turn or a function response: the API's own error text (400)",
  date: "2026-11-29",
  vision: true,
  image: levels,
  limits: { images: 3600, requestBytes: 20_971_520 },
  cache: { kind: "prefix", minimum: 4096, lifetime: 300_000 },
  reasoning: "none",
  startsWithUser: true,
  alternates: true,
  encoding: "o200k_base",
  ratio: 1.1,
  models: {
    "gemini-4-argon": v4(prices(2, 10, 0.1), 32_768),
    "gemini-4-carbon": v4(prices(2, 10, 0.1), 32_768),
    "gemini-4-hydrogen": v4(prices(1.5, 7.5, 0.075)),
    "gemini-4-neon": v4(prices(3, 15, 0.15)),
    "gemini-3.8-flash": { ...large, prices: prices(0.75, 3.75, 0.075) },
    "gemini-3.7-flash": { ...large, prices: prices(0.75, 3.75, 0.075) },
    "gemini-3.6-flash": { ...large, prices: prices(0.75, 3.75, 0.075) },
    "gemini-3.5-flash": { ...large, prices: prices(1.5, 9, 0.15) },
    "gemini-3.5-flash-lite": { ...large, prices: prices(0.3, 2.5, 0.03) },
    "gemini-3.1-pro": { ...large, prices: above200k(prices(2, 12, 0.2), 4, 18, 0.4) },
    "gemini-3.1-flash-lite": { ...large, prices: prices(0.25, 1.5, 0.025) },
    "gemini-3-pro": {
      window: 1_000_000,
      output: 64_000,
      prices: above200k(prices(2, 12, 0.2), 4, 18, 0.4),
      source: "window: table of pi-ai 0.73.1 (2026-05-08); prices those of 3.1-pro"
    },
    "gemini-3-flash": { ...large, prices: prices(0.5, 3, 0.05) },
    "gemini-2.5-pro": { ...v25, prices: above200k(prices(1.25, 10, 0.125), 2.5, 15, 0.25) },
    "gemini-2.5-flash": { ...v25, prices: prices(0.3, 2.5, 0.03) },
    "gemini-2.5-flash-lite": { ...v25, prices: prices(0.1, 0.4, 0.01) },
    "gemini-2.5-computer-use": {
      ...v25,
      window: 128_000,
      output: 64_000,
      cache: { kind: "none", minimum: 0, lifetime: 0 },
      prices: prices(1.25, 10, 1.25)
    },
    "gemini-2.0-flash": { ...v25, output: 8192, prices: prices(0.1, 0.4, 0.025), source: older },
    "gemini-1.5-pro": {
      ...v25,
      window: 1_000_000,
      output: 8192,
      prices: prices(1.25, 5, 0.3125),
      source: older
    },
    "gemini-1.5-flash": {
      ...v25,
      window: 1_000_000,
      output: 8192,
      prices: prices(0.075, 0.3, 0.01875),
      source: older
    }
  },
  standIns: [
    ["gemini-flash", "gemini-3.8-flash"],
    ["gemini-2.5", "gemini-2.5-flash"],
    ["gemini-3", "gemini-3.8-flash"],
    ["gemma", "gemini-2.5-flash"],
    ["", "gemini-4-argon"]
  ]
}

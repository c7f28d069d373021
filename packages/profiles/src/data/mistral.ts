import { prices, type ProviderFacts } from "../internal/Facts.ts"

const medium = { window: 262_144, output: 262_144 }
const text = { vision: false } as const

export const mistral: ProviderFacts = {
  provider: "mistral",
  aliases: ["mistralai"],
  names: /^(mistral|ministral|magistral|codestral|devstral|pixtral|open-mistral|voxtral|labs-)/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); cache blocks of 64 tokens: docs.mistral.ai; " +
    "image figure (an edge of 1 540 px in units of 28 px) from memory; cache lifetime not documented",
  date: "2026-11-29",
  vision: true,
  image: { rule: "flat", tokens: 3080 },
  limits: {},
  cache: { kind: "prefix", minimum: 64, lifetime: 300_000, step: 64 },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "mistral-large-4": { window: 1_048_576, output: 262_144, prices: prices(0.7, 2.1, 0.07) },
    "mistral-large": { window: 1_048_576, output: 262_144, prices: prices(0.7, 2.1, 0.07) },
    "mistral-large-2512": { ...medium, prices: prices(0.5, 1.5, 0.05) },
    "mistral-medium": { ...medium, prices: prices(1.5, 7.5, 0.15) },
    "mistral-medium-2508": { ...medium, prices: prices(0.4, 2, 0.04) },
    "mistral-small": { ...medium, prices: prices(0.15, 0.6, 0.015) },
    magistral: { ...medium, output: 16_384, prices: prices(2, 5, 0.2) },
    devstral: { ...medium, ...text, prices: prices(0.4, 2, 0.04) },
    codestral: { window: 256_000, output: 4096, ...text, prices: prices(0.3, 0.9, 0.03) },
    "ministral-14b": { ...medium, prices: prices(0.2, 0.2, 0.02) },
    "ministral-8b": { ...medium, prices: prices(0.15, 0.15, 0.015) },
    "ministral-3b": { window: 131_072, output: 131_072, prices: prices(0.1, 0.1, 0.01) },
    pixtral: { window: 128_000, output: 128_000, prices: prices(0.15, 0.15, 0.015) }
  },
  standIns: [
    ["ministral", "ministral-8b"],
    ["", "mistral-medium"]
  ]
}

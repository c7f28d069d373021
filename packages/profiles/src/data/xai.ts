import type { Prices } from "@varve/core/Profile"
import { prices, type ProviderFacts } from "../internal/Facts.ts"

const doubled = (p: Prices): Prices => ({
  ...p,
  tiers: [{ above: 200_000, input: 2 * p.input, output: 2 * p.output, cacheRead: 2 * p.cacheRead }]
})

export const xai: ProviderFacts = {
  provider: "xai",
  aliases: ["x-ai", "grok"],
  names: /^grok/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); image figure (six tiles and one of 256 tokens) from memory; " +
    "cache minimum and lifetime not documented",
  date: "2026-11-29",
  vision: true,
  image: { rule: "flat", tokens: 1792 },
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  reasoning: "drop",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "grok-4.7": { window: 500_000, output: 500_000, prices: doubled(prices(2, 6, 0.5)) },
    "grok-4.6": { window: 500_000, output: 500_000, prices: doubled(prices(2, 6, 0.5)) },
    "grok-4.5": { window: 500_000, output: 500_000, prices: doubled(prices(2, 6, 0.3)) },
    "grok-4.3": { window: 1_000_000, output: 30_000, prices: doubled(prices(1.25, 2.5, 0.2)) },
    "grok-4.1-fast": {
      window: 2_000_000,
      output: 30_000,
      prices: prices(0.2, 0.5, 0.05),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "grok-4-fast": {
      window: 2_000_000,
      output: 30_000,
      prices: prices(0.2, 0.5, 0.05),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "grok-4": {
      window: 256_000,
      output: 64_000,
      vision: false,
      prices: prices(3, 15, 0.75),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "grok-code-fast": {
      window: 256_000,
      output: 10_000,
      vision: false,
      prices: prices(0.2, 1.5, 0.02),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "grok-3": {
      window: 131_072,
      output: 8192,
      vision: false,
      prices: prices(3, 15, 0.75),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    }
  },
  standIns: [["", "grok-4.7"]]
}

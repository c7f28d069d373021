import { prices, type ProviderFacts } from "../internal/Facts.ts"

export const minimax: ProviderFacts = {
  provider: "minimax",
  aliases: ["minimaxai", "minimax-cn"],
  names: /^minimax/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); image rule, cache minimum and lifetime not documented; " +
    "first role as in the Anthropic shape that it speaks",
  date: "2026-11-29",
  vision: false,
  image: { rule: "flat", tokens: 1600 },
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  reasoning: "none",
  startsWithUser: true,
  encoding: "o200k_base",
  models: {
    "minimax-m3.1-flash": {
      window: 1_000_000,
      output: 524_288,
      vision: true,
      prices: prices(0.15, 0.6, 0.015)
    },
    "minimax-m3": {
      window: 1_000_000,
      output: 524_288,
      vision: true,
      prices: prices(0.3, 1.2, 0.06, 0.3, [
        { above: 512_000, input: 0.6, output: 2.4, cacheRead: 0.12 }
      ])
    },
    "minimax-m2.7": { window: 204_800, output: 131_072, prices: prices(0.3, 1.2, 0.06, 0.375) },
    "minimax-m2.5": { window: 196_608, output: 131_072, prices: prices(0.295, 1.2, 0.06) }
  },
  standIns: [
    ["minimax-m2", "minimax-m2.7"],
    ["", "minimax-m3"]
  ]
}

import { prices, type ProviderFacts } from "../internal/Facts.ts"

const large = { window: 1_048_576, output: 131_072 }

export const xiaomi: ProviderFacts = {
  provider: "xiaomi",
  aliases: ["xiaomi-token-plan-cn", "xiaomi-token-plan-ams", "xiaomi-token-plan-sgp", "xiaomimimo"],
  names: /^mimo/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); image rule, cache minimum and lifetime not documented",
  date: "2026-11-29",
  vision: true,
  image: { rule: "flat", tokens: 1600 },
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "mimo-v2.6-pro": { ...large, prices: prices(0.435, 0.87, 0.0036) },
    "mimo-v2.6-flash": { ...large, prices: prices(0.14, 0.28, 0.0028) }
  },
  standIns: [["", "mimo-v2.6-pro"]]
}

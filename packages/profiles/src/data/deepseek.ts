import { prices, type ProviderFacts } from "../internal/Facts.ts"

const large = { window: 1_000_000, output: 384_000 }

export const deepseek: ProviderFacts = {
  provider: "deepseek",
  aliases: ["deepseek-ai"],
  names: /^deepseek/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); at most 384 tokens an image: api-docs.deepseek.com; " +
    "cache blocks of 64 tokens and lifetime from memory",
  date: "2026-11-29",
  vision: false,
  image: { rule: "flat", tokens: 384 },
  limits: {},
  cache: { kind: "prefix", minimum: 64, lifetime: 3_600_000, step: 64 },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "deepseek-flash": { ...large, vision: true, prices: prices(0.3, 1.2, 0.006) },
    "deepseek-v4.1-flash": { ...large, vision: true, prices: prices(0.3, 1.2, 0.006) },
    "deepseek-v4-flash": {
      ...large,
      prices: prices(0.14, 0.28, 0.0028),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "deepseek-v4-pro": { ...large, prices: prices(1.32, 3.96, 0.044) },
    "deepseek-chat": {
      window: 128_000,
      output: 8192,
      prices: prices(0.28, 0.42, 0.028),
      source: "window and prices from memory, not verified"
    },
    "deepseek-reasoner": {
      window: 128_000,
      output: 65_536,
      prices: prices(0.28, 0.42, 0.028),
      source: "window and prices from memory, not verified"
    },
    "deepseek-v3": {
      window: 163_840,
      output: 81_920,
      prices: prices(0.58, 1.68, 0.58),
      cache: { kind: "none" },
      source: "as served by Amazon Bedrock, table of pi-ai 1.6.0"
    }
  },
  standIns: [
    ["deepseek-v3", "deepseek-v3"],
    ["deepseek-r", "deepseek-reasoner"],
    ["deepseek-pro", "deepseek-v4-pro"],
    ["", "deepseek-flash"]
  ]
}

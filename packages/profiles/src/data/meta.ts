import { prices, type ProviderFacts } from "../internal/Facts.ts"

const large = { window: 1_048_576, output: 131_072 }
const llama = { window: 128_000, output: 4096, vision: false, cache: { kind: "none" } } as const

export const meta: ProviderFacts = {
  provider: "meta",
  aliases: ["meta-llama", "facebook"],
  names: /^(muse|llama)/,
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
    "muse-wonder-1.0": { ...large, prices: prices(4, 20, 0.2) },
    "muse-spark-1.3": { ...large, prices: prices(1.25, 4.25, 0.15) },
    "muse-ember-1.0": {
      ...large,
      output: 524_288,
      prices: prices(0.1, 0.5, 0.004, 0.1, [
        { above: 200_000, input: 0.3, output: 1.5, cacheRead: 0.012 }
      ])
    },
    "llama-3": { ...llama, prices: prices(0.72, 0.72, 0.72), source: "as served by Amazon Bedrock" }
  },
  standIns: [
    ["llama", "llama-3"],
    ["", "muse-spark-1.3"]
  ]
}

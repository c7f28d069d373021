import type { ImageRule } from "@varve/core/Profile"
import { prices, type ProviderFacts } from "../internal/Facts.ts"

/** Patches of 14 px, merged by two; two markers around each image. */
const qwen2Vl: ImageRule = {
  rule: "resize",
  factor: 28,
  minPixels: 3136,
  maxPixels: 12_845_056,
  extra: 2
}

/** From 3: patches of 16 px, merged by two. */
const qwen3Vl: ImageRule = {
  rule: "resize",
  factor: 32,
  minPixels: 65_536,
  maxPixels: 16_777_216,
  extra: 2
}

const small = { window: 262_144, output: 32_768 }
const large = { window: 1_000_000, output: 131_072 }
const text = { vision: false } as const
const uncached = { cache: { kind: "none" } } as const
const openWeights = "open weights; prices assumed, those of a host differ"

export const qwen: ProviderFacts = {
  provider: "qwen",
  aliases: [
    "alibaba",
    "dashscope",
    "qwen-token-plan",
    "qwen-token-plan-cn",
    "bytedance",
    "bytedance-seed"
  ],
  names: /^(qwen|qwq|qvq|ui-tars)/,
  source:
    "windows and prices as served by OpenRouter: table of @earendil-works/pi-ai 1.6.0 (2026-11-20); " +
    "preprocessor configurations of Qwen2-VL, 2.5-VL and 3-VL (hosts may set a smaller image); " +
    "cache minimum and lifetime not documented",
  date: "2026-11-29",
  vision: true,
  image: qwen3Vl,
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "qwen4-max": { ...large, prices: prices(1.425, 4.275, 0.07125, 1.78125) },
    "qwen3.8-max": { ...large, prices: prices(2, 6, 0.25) },
    "qwen3.8-flash": { ...large, prices: prices(0.15, 0.47, 0.016) },
    "qwen3.7-max": { ...large, ...text, prices: prices(1.475, 4.425, 0.295, 1.84375) },
    "qwen3.7-plus": {
      ...large,
      prices: prices(0.32, 1.28, 0.064, 0.4, [
        { above: 256_000, input: 0.96, output: 3.84, cacheRead: 0.192 }
      ])
    },
    "qwen3.5": { ...small, prices: prices(0.45, 3, 0.22) },
    "qwen3-vl": { ...small, prices: prices(0.21, 1.9, 0.1) },
    "qwen3-coder": { ...small, ...text, prices: prices(0.3, 1, 0.1) },
    qwen3: { window: 131_072, output: 16_384, ...text, prices: prices(0.14, 0.8, 0.05) },
    "qwen2.5-vl": {
      window: 131_072,
      output: 8192,
      ...uncached,
      image: qwen2Vl,
      prices: prices(0.25, 0.75, 0.25),
      source: openWeights
    },
    "qwen2-vl": {
      window: 32_768,
      output: 8192,
      ...uncached,
      image: qwen2Vl,
      prices: prices(0.25, 0.75, 0.25),
      source: openWeights
    },
    "qwen-2.5": {
      window: 32_768,
      output: 16_384,
      ...text,
      ...uncached,
      prices: prices(0.36, 0.4, 0.36)
    },
    "ui-tars": {
      window: 131_072,
      output: 8192,
      ...uncached,
      image: qwen2Vl,
      prices: prices(0.1, 0.2, 0.1),
      source: openWeights
    }
  },
  standIns: [
    ["qwen2", "qwen2.5-vl"],
    ["qwen3", "qwen3.5"],
    ["ui-tars", "ui-tars"],
    ["", "qwen3.8-max"]
  ]
}

import type { ImageRule } from "@varve/core/Profile"
import { prices, type ProviderFacts } from "../internal/Facts.ts"

/**
 * The processor's bounds, 12 544 and 9 633 792, count an image twice, since it is taken for two frames: half of
 * them bounds the area. Two markers stand around each image.
 */
const glmV: ImageRule = {
  rule: "resize",
  factor: 28,
  minPixels: 6272,
  maxPixels: 4_816_896,
  extra: 2
}

/** 16 to 8 000 tokens of 28 px by 28 px. */
const glm53: ImageRule = {
  rule: "resize",
  factor: 28,
  minPixels: 16 * 784,
  maxPixels: 8000 * 784,
  extra: 2
}

const large = { window: 1_000_000, output: 131_072 }

export const zai: ProviderFacts = {
  provider: "zai",
  aliases: ["z-ai", "z.ai", "zai-org", "zai-coding-cn", "zhipu", "zhipuai", "bigmodel", "thudm"],
  names: /^(zai-)?(glm|autoglm|cogvlm)/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); preprocessor configurations of GLM-4.5V and 4.6V; " +
    "cache minimum and lifetime not documented",
  date: "2026-11-29",
  vision: false,
  image: glm53,
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "glm-5.3": { ...large, prices: prices(1.4, 4.4, 0.26) },
    "glm-5.3-flash": { ...large, vision: true, prices: prices(0.15, 0.5, 0.03) },
    "glm-5.2": { ...large, prices: prices(1.4, 4.4, 0.26) },
    "glm-5v-turbo": {
      window: 202_752,
      output: 131_072,
      vision: true,
      prices: prices(1.2, 4, 0.24)
    },
    "glm-5-turbo": { window: 200_000, output: 131_072, prices: prices(1.2, 4, 0.24) },
    "glm-5": { window: 202_752, output: 131_072, prices: prices(0.6, 1.9, 0.119) },
    "glm-4.7": { window: 204_800, output: 131_072, prices: prices(0.6, 2.2, 0.11) },
    "glm-4.6": { window: 202_752, output: 131_072, prices: prices(0.5, 2, 0.1) },
    "glm-4.6v": {
      window: 128_000,
      output: 32_768,
      vision: true,
      image: glmV,
      prices: prices(0.3, 0.9, 0.05)
    },
    "glm-4.5": { window: 131_072, output: 98_304, prices: prices(0.6, 2.2, 0.11) },
    "glm-4.5v": {
      window: 65_536,
      output: 16_384,
      vision: true,
      image: glmV,
      prices: prices(0.6, 1.8, 0.11)
    },
    autoglm: {
      window: 65_536,
      output: 16_384,
      vision: true,
      image: glmV,
      prices: prices(0.6, 1.8, 0.11),
      source: "open weights; all but the image rule assumed to be that of GLM-4.5V"
    }
  },
  standIns: [
    ["glm-4", "glm-4.7"],
    ["autoglm", "autoglm"],
    ["", "glm-5.3"]
  ]
}

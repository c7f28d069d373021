import type { ImageRule } from "@varve/core/Profile"
import { prices, type ProviderFacts } from "../internal/Facts.ts"

/** MoonViT: patches of 14 px, merged by two. 16 384 patches up to K2.7, 65 536 from K3; 512 patches an edge. */
const moonVit = (maxTokens: number): ImageRule => ({
  rule: "resize",
  factor: 28,
  pad: true,
  maxTokens,
  maxEdge: 7168,
  extra: 0
})

const small = { window: 262_144, output: 262_144 }
const large = { window: 1_048_576, output: 1_048_576, image: moonVit(16_384) }

export const moonshotai: ProviderFacts = {
  provider: "moonshotai",
  aliases: ["moonshot", "moonshotai-cn", "kimi", "kimi-coding"],
  names: /^(kimi|moonshot|k[23](\.|-|$))/,
  source:
    "table of @earendil-works/pi-ai 1.6.0 (2026-11-20); preprocessor configurations of Kimi-VL, K2.5 and K3; " +
    "cache minimum and lifetime not documented",
  date: "2026-11-29",
  vision: true,
  image: moonVit(4096),
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  reasoning: "none",
  startsWithUser: false,
  encoding: "o200k_base",
  models: {
    "kimi-k3.1-pro": { ...large, prices: prices(2, 10, 0.2) },
    "kimi-k3": { ...large, prices: prices(3, 15, 0.3) },
    "kimi-k2.7-code": { ...small, prices: prices(0.95, 4, 0.19) },
    "kimi-k2.6": { ...small, prices: prices(0.95, 4, 0.16) },
    "kimi-k2.5": {
      ...small,
      prices: prices(0.6, 3, 0.1),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "kimi-k2": {
      ...small,
      vision: false,
      prices: prices(0.6, 2.5, 0.15),
      source: "table of pi-ai 0.73.1 (2026-05-08)"
    },
    "kimi-for-coding": { window: 1_048_576, output: 32_768, prices: prices(0.95, 4, 0.19) },
    "kimi-vl": {
      window: 131_072,
      output: 32_768,
      prices: prices(0.6, 3, 0.6),
      cache: { kind: "none" },
      source: "open weights; window and prices assumed"
    }
  },
  standIns: [
    ["kimi-vl", "kimi-vl"],
    ["kimi-k2", "kimi-k2.7-code"],
    ["", "kimi-k3"]
  ]
}

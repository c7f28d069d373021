import type { ImageRule } from "@varve/core/Profile"
import { prices, type ProviderFacts } from "../internal/Facts.ts"

const highResolution: ImageRule = { rule: "claude", patch: 28, maxEdge: 2576, maxTokens: 4784 }
const standard: ImageRule = { rule: "claude", patch: 28, maxEdge: 1568, maxTokens: 1568 }

/** 4.7 and later: a tokenizer with about 30 % more tokens for the same text, and the larger images. */
const large = { window: 1_000_000, output: 128_000 }

/** 4.6: the large window with the older tokenizer and images. */
const large46 = { ...large, image: standard, ratio: 1.2 }

/** Up to 4.5: 200 000 tokens, and with them 100 images instead of 600. */
const small = {
  window: 200_000,
  output: 64_000,
  limits: { images: 100 },
  image: standard,
  ratio: 1.2
}

/** Reasoning is signed over all that stands before it. The API has a mode that drops what no longer fits. */
const bound = { reasoning: "drop" } as const

const older =
  "models before 4.5: table of pi-ai 0.73.1 (2026-05-08); cache minimum from memory, not verified"
const mythos = "window and prices assumed to be those of Fable; the rest as documented"

export const anthropic: ProviderFacts = {
  provider: "anthropic",
  aliases: ["claude"],
  names: /^claude/,
  source:
    "platform.claude.com/docs: vision, prompt-caching, preserved-thinking, token-counting; " +
    "windows and prices: table of @earendil-works/pi-ai 1.6.0 (2026-11-20); ratio measured on logs of 4.5 models, with what stands around messages counted apart",
  date: "2026-11-29",
  vision: true,
  image: highResolution,
  limits: {
    images: 600,
    bytesPerImage: 10_485_760,
    requestBytes: 33_554_432,
    maxEdge: 8000,
    manyImages: { over: 20, maxEdge: 2000 },
    messages: 100_000
  },
  cache: {
    kind: "marks",
    minimum: 4096,
    lifetime: 300_000,
    marks: 4,
    lookback: 20,
    long: { lifetime: 3_600_000, write: 2 }
  },
  reasoning: "none",
  startsWithUser: true,
  encoding: "o200k_base",
  ratio: 1.6,
  models: {
    "claude-fable-5.2": {
      ...large,
      ...bound,
      prices: prices(8, 40, 0.2, 10),
      cache: { minimum: 512 }
    },
    "claude-fable-5.1": {
      ...large,
      ...bound,
      prices: prices(10, 50, 0.25, 12.5),
      cache: { minimum: 512 }
    },
    "claude-fable-5": { ...large, prices: prices(10, 50, 1, 12.5), cache: { minimum: 512 } },
    "claude-mythos-5.2": {
      ...large,
      ...bound,
      prices: prices(8, 40, 0.2, 10),
      cache: { minimum: 512 },
      source: mythos
    },
    "claude-mythos-5.1": {
      ...large,
      ...bound,
      prices: prices(10, 50, 0.25, 12.5),
      cache: { minimum: 512 },
      source: mythos
    },
    "claude-mythos-5": {
      ...large,
      prices: prices(10, 50, 1, 12.5),
      cache: { minimum: 512 },
      source: mythos
    },
    "claude-opus-5.5": {
      ...large,
      ...bound,
      prices: prices(4, 20, 0.2, 5),
      cache: { minimum: 512 }
    },
    "claude-opus-5": { ...large, prices: prices(5, 25, 0.5, 6.25), cache: { minimum: 512 } },
    "claude-opus-4.8": { ...large, prices: prices(5, 25, 0.5, 6.25), cache: { minimum: 1024 } },
    "claude-opus-4.7": { ...large, prices: prices(5, 25, 0.5, 6.25), cache: { minimum: 2048 } },
    "claude-opus-4.6": { ...large46, prices: prices(5, 25, 0.5, 6.25), cache: { minimum: 4096 } },
    "claude-opus-4.5": { ...small, prices: prices(5, 25, 0.5, 6.25), cache: { minimum: 4096 } },
    "claude-sonnet-5.5": {
      ...large,
      ...bound,
      prices: prices(2, 10, 0.1, 2.5),
      cache: { minimum: 512 }
    },
    "claude-sonnet-5": { ...large, prices: prices(2, 10, 0.2, 2.5), cache: { minimum: 1024 } },
    "claude-sonnet-4.6": { ...large46, prices: prices(3, 15, 0.3, 3.75), cache: { minimum: 1024 } },
    "claude-sonnet-4.5": { ...small, prices: prices(3, 15, 0.3, 3.75), cache: { minimum: 1024 } },
    "claude-haiku-5.5": {
      ...large,
      ...bound,
      prices: prices(0.1, 0.5, 0.01, 0.125, [
        { above: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 }
      ]),
      source: "cache minimum not documented for this model: that of Haiku 4.5"
    },
    "claude-haiku-4.5": { ...small, prices: prices(1, 5, 0.1, 1.25), cache: { minimum: 4096 } },
    "claude-opus-4.1": {
      ...small,
      output: 32_000,
      prices: prices(15, 75, 1.5, 18.75),
      cache: { minimum: 1024 },
      source: older
    },
    "claude-opus-4": {
      ...small,
      output: 32_000,
      prices: prices(15, 75, 1.5, 18.75),
      cache: { minimum: 1024 },
      source: older
    },
    "claude-sonnet-4": {
      ...small,
      prices: prices(3, 15, 0.3, 3.75),
      cache: { minimum: 1024 },
      source: older
    },
    "claude-3.7-sonnet": {
      ...small,
      prices: prices(3, 15, 0.3, 3.75),
      cache: { minimum: 1024 },
      source: older
    },
    "claude-3.5-sonnet": {
      ...small,
      output: 8192,
      prices: prices(3, 15, 0.3, 3.75),
      cache: { minimum: 1024 },
      source: older
    },
    "claude-3.5-haiku": {
      ...small,
      output: 8192,
      prices: prices(0.8, 4, 0.08, 1),
      cache: { minimum: 2048 },
      source: older
    },
    "claude-3-opus": {
      ...small,
      output: 4096,
      prices: prices(15, 75, 1.5, 18.75),
      cache: { minimum: 1024 },
      source: older
    },
    "claude-3-haiku": {
      ...small,
      output: 4096,
      prices: prices(0.25, 1.25, 0.03, 0.3),
      cache: { minimum: 2048 },
      source: older
    }
  },
  standIns: [
    ["claude-haiku", "claude-haiku-5.5"],
    ["claude-sonnet", "claude-sonnet-5.5"],
    ["claude-fable", "claude-fable-5.2"],
    ["claude-mythos", "claude-mythos-5.2"],
    ["claude-3", "claude-3.7-sonnet"],
    ["", "claude-opus-5.5"]
  ]
}

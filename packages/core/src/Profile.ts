import * as Schema from "effect/Schema"

/** A whole number of at least 0. */
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * How a model's provider counts an image, as data; the formulas are in `@varve/tokenizer`.
 *
 * - `flat`: a fixed figure.
 * - `claude`: patches of 28 px after a downscale to an edge and a token limit.
 * - `patches`: OpenAI's 32-px patches with a budget and a multiplier for each detail level.
 * - `tiles`: OpenAI's 512-px tiles: base and tile tokens.
 * - `levels`: a fixed figure for each resolution level (Gemini 3).
 * - `geminiTiles`: 258 tokens a 768-px tile (Gemini 2.5).
 * - `resize`: both edges rounded to a factor, the area within bounds (Qwen-VL, GLM-V); with `pad`, only
 *   ever made smaller, then padded up to the factor (Kimi).
 */
export const ImageRule = Schema.Union([
  Schema.Struct({ rule: Schema.Literals(["flat"]), tokens: Count }),
  Schema.Struct({
    rule: Schema.Literals(["claude"]),
    patch: Count,
    maxEdge: Count,
    maxTokens: Count,
    extra: Schema.optionalKey(Count)
  }),
  Schema.Struct({
    rule: Schema.Literals(["patches"]),
    patch: Count,
    multiplier: Schema.Finite,
    /** For each detail level: the longest edge in px and the most patches before the multiplier. */
    details: Schema.Record(
      Schema.String,
      Schema.Struct({ maxEdge: Schema.optionalKey(Count), maxPatches: Schema.optionalKey(Count) })
    ),
    auto: Schema.String
  }),
  Schema.Struct({
    rule: Schema.Literals(["tiles"]),
    base: Count,
    tile: Count
  }),
  Schema.Struct({
    rule: Schema.Literals(["levels"]),
    levels: Schema.Record(Schema.String, Count),
    auto: Schema.String
  }),
  Schema.Struct({
    rule: Schema.Literals(["geminiTiles"]),
    tile: Count,
    tokens: Count,
    small: Count,
    /** A fixed figure for each level that can be asked for instead of tiles. */
    levels: Schema.optionalKey(Schema.Record(Schema.String, Count))
  }),
  Schema.Struct({
    rule: Schema.Literals(["resize"]),
    factor: Count,
    minPixels: Schema.optionalKey(Count),
    maxPixels: Schema.optionalKey(Count),
    maxTokens: Schema.optionalKey(Count),
    /**
     * Padded up instead of rounded, and never enlarged: scaled by the root of
     * `4 * maxTokens / (⌊2 * width / factor⌋ * ⌊2 * height / factor⌋)` where that is below 1.
     */
    pad: Schema.optionalKey(Schema.Boolean),
    /** Longest edge in px after the downscale. */
    maxEdge: Schema.optionalKey(Count),
    extra: Count
  })
])
export type ImageRule = typeof ImageRule.Type

/** What a provider allows in one request. Bytes of images are bytes of base64. */
export const ProviderLimits = Schema.Struct({
  images: Schema.optionalKey(Count),
  imagesPerMessage: Schema.optionalKey(Count),
  /** Bytes of any one image. */
  bytesPerImage: Schema.optionalKey(Count),
  requestBytes: Schema.optionalKey(Count),
  /** Longest edge of an image in px. */
  maxEdge: Schema.optionalKey(Count),
  /** Most pixels of one image (width times height) before it is refused. */
  maxPixels: Schema.optionalKey(Count),
  /** With more images than `over`, each edge may have `maxEdge` px at most. */
  manyImages: Schema.optionalKey(Schema.Struct({ over: Count, maxEdge: Count })),
  messages: Schema.optionalKey(Count)
})
export type ProviderLimits = typeof ProviderLimits.Type

/** How a provider caches prompt prefixes. */
export const CacheRule = Schema.Struct({
  /** `marks`: read and written at marks (Anthropic, OpenAI from 5.6); `prefix`: longest common prefix. */
  kind: Schema.Literals(["marks", "prefix", "none"]),
  /** Shortest prefix that is cached, in tokens. */
  minimum: Count,
  /** Lifetime in ms since the last use. */
  lifetime: Count,
  /** Marks that a request may carry, and so the most entries that it writes. */
  marks: Schema.optionalKey(Count),
  /** Positions that a read looks back from a mark. */
  lookback: Schema.optionalKey(Count),
  /** Hits are multiples of this many tokens. */
  step: Schema.optionalKey(Count),
  /** True where the provider sets a mark at the end of the newest message by itself. */
  implicit: Schema.optionalKey(Schema.Boolean),
  /** A longer lifetime in ms that can be asked for; `write` is its price in input prices. */
  long: Schema.optionalKey(Schema.Struct({ lifetime: Count, write: Schema.Finite }))
})
export type CacheRule = typeof CacheRule.Type

/**
 * Prices in USD for a million tokens. `cacheWrite` is what a token costs that is written to the cache, whole:
 * the input price where writing costs nothing extra.
 */
export const Prices = Schema.Struct({
  input: Schema.Finite,
  output: Schema.Finite,
  cacheRead: Schema.Finite,
  cacheWrite: Schema.Finite,
  /** Above so many input tokens these prices hold for the whole request. */
  tiers: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        above: Count,
        input: Schema.Finite,
        output: Schema.Finite,
        cacheRead: Schema.Finite,
        cacheWrite: Schema.optionalKey(Schema.Finite)
      })
    )
  )
})
export type Prices = typeof Prices.Type

/**
 * The prices that hold for a request of so many input tokens: those of the highest tier that it is above.
 *
 * @example
 * ```ts
 * import { pricesAt } from "@varve/core/Profile"
 *
 * const dear = { above: 200_000, input: 2, output: 10, cacheRead: 0.2 }
 * const prices = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1, tiers: [dear] }
 * console.log(pricesAt(prices, 250_000).cacheWrite) // => 2
 * ```
 */
export const pricesAt = (prices: Prices, tokens: number): Prices => {
  let tier: NonNullable<Prices["tiers"]>[number] | undefined
  for (const one of prices.tiers ?? [])
    if (tokens > one.above && one.above > (tier?.above ?? -1)) tier = one
  return tier === undefined ? prices : { ...prices, cacheWrite: tier.input, ...tier }
}

const profileFields = {
  /** `provider/model`, as in `anthropic/claude-opus-5.5`. */
  model: Schema.String,
  /** Tokens of input and output together. */
  contextWindow: Count,
  /** Tokens that are kept free for the answer. */
  reserveOutput: Count,
  /** False where the model takes no images: they are then left out of what is sent. */
  vision: Schema.Boolean,
  image: ImageRule,
  limits: ProviderLimits,
  cache: CacheRule,
  prices: Prices,
  /** What the provider does with reasoning whose prefix was edited: refuse it, drop it, or not care. */
  reasoning: Schema.Literals(["error", "drop", "none"]),
  /** True where the first message behind the system text must be a user's. */
  startsWithUser: Schema.Boolean,
  /** True where a message with calls must stand behind a user's message or a result, not an assistant's. */
  alternates: Schema.optionalKey(Schema.Boolean),
  /** The tokenizer's encoding that comes nearest, as in `o200k_base`. */
  encoding: Schema.optionalKey(Schema.String),
  /** The model's true tokens for one token of that encoding, before anything was learned. */
  ratio: Schema.optionalKey(Schema.Finite),
  /** Where the facts come from. */
  source: Schema.String,
  /** When they were read, `YYYY-MM-DD`. */
  date: Schema.String
}

/** Facts about a model and its provider, as data. */
export const Profile = Schema.Struct(profileFields)
export interface ProfileData extends Schema.Schema.Type<typeof Profile> {}

/** Which limit an error of a provider speaks of. */
export type OverflowKind = "tokens" | "image-count" | "image-size" | "bytes"

/** What an error of a provider says about an overflow. */
export interface Overflow {
  readonly kind: OverflowKind
  /**
   * The provider's own figures, where it states them: tokens of input, images, or bytes of the request; of
   * `image-size`, the `unit`. What the answer was to take is already off a token limit.
   */
  readonly actual?: number
  readonly limit?: number
  /** Unit of the figures of `image-size`. */
  readonly unit?: "px" | "patches" | "bytes"
  /** Where the images of `image-size` are, if the provider says so: paths into the request. */
  readonly paths?: ReadonlyArray<string>
  /** Which pattern matched: a fixed text of the classifier, never the provider's own words. */
  readonly reason?: string
}

/** A profile with the classifier of its provider's errors; core itself knows no provider. */
export interface Profile extends ProfileData {
  readonly classify?: (error: unknown) => Overflow | undefined
  /** What is a guess in these facts, for the host to show once: set where the model is not known. */
  readonly warning?: string
}

/** What holds where no profile is given: 128 000 tokens, no provider limits, reads of a cached prefix at a tenth. */
export const defaultProfile: Profile = {
  model: "unknown",
  contextWindow: 128_000,
  reserveOutput: 8_192,
  vision: true,
  image: { rule: "flat", tokens: 1600 },
  limits: {},
  cache: { kind: "prefix", minimum: 1024, lifetime: 300_000 },
  prices: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1 },
  reasoning: "none",
  startsWithUser: false,
  source: "default of @varve/core",
  date: "2026-11-29"
}

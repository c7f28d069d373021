import * as Schema from "effect/Schema"
import type { Profile } from "./Profile.ts"

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** What a view may cost at most. The smaller of this and what the profile allows counts. */
export const Budget = Schema.Struct({
  /** Tokens of the whole request. */
  tokens: Schema.optionalKey(Positive),
  images: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  imagesPerMessage: Schema.optionalKey(Positive),
  /** Bytes of base64 of any one image. */
  bytesPerImage: Schema.optionalKey(Positive),
  /** Bytes of base64 of all images together. */
  imageBytes: Schema.optionalKey(Positive),
  requestBytes: Schema.optionalKey(Positive),
  /** Longest edge of an image, px. */
  maxEdge: Schema.optionalKey(Positive),
  /** With more images than `over`, each edge may have `maxEdge` px at most; takes the profile's place. */
  manyImages: Schema.optionalKey(Schema.Struct({ over: Positive, maxEdge: Positive })),
  /** Tokens kept free for the answer; default from the profile. */
  reserveOutput: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
})
export type Budget = typeof Budget.Type

/** The limits that hold for a view: the budget and the profile together. `Infinity` where there is none. */
export interface Limits {
  readonly tokens: number
  readonly images: number
  readonly imagesPerMessage: number
  readonly imageBytes: number
  readonly bytesPerImage: number
  readonly requestBytes: number
  readonly maxEdge: number
  /** Most pixels of one image; more are refused. */
  readonly maxPixels: number
  readonly manyImages: { readonly over: number; readonly maxEdge: number } | undefined
  readonly messages: number
}

/** Share of the window that stays free for what a count may be wrong by. */
export const SAFETY_MARGIN = 0.02

const marginOf = (window: number): number =>
  Number.isFinite(window) ? Math.ceil(window * SAFETY_MARGIN) : 0

const leavesRoom = (reserve: number, window: number): boolean => reserve < window - marginOf(window)

const least = (...values: ReadonlyArray<number | undefined>): number =>
  Math.min(...values.map((v) => (v === undefined || Number.isNaN(v) ? Infinity : v)))

/**
 * The limits of a budget and a profile. The window less the output reserve and a margin of 2 % of it,
 * never less than 1 token whatever the options are. Where a profile's own reserve leaves no room, as in a
 * small window with the usual reserve, a quarter of the window is kept free instead.
 */
export const resolveLimits = (budget: Budget, profile: Profile): Limits => {
  const window = profile.contextWindow > 0 ? profile.contextWindow : Infinity
  const own = leavesRoom(profile.reserveOutput, window)
    ? profile.reserveOutput
    : Math.floor(window / 4)
  const reserve = Math.max(0, budget.reserveOutput ?? own)
  const margin = marginOf(window)
  const { limits } = profile
  return {
    tokens: Math.max(1, least(budget.tokens, window - Math.min(reserve, window) - margin)),
    images: least(budget.images, limits.images),
    imagesPerMessage: least(budget.imagesPerMessage, limits.imagesPerMessage),
    imageBytes: least(budget.imageBytes),
    bytesPerImage: least(budget.bytesPerImage, limits.bytesPerImage),
    requestBytes: least(budget.requestBytes, limits.requestBytes),
    maxEdge: least(budget.maxEdge, limits.maxEdge),
    maxPixels: least(limits.maxPixels),
    manyImages: budget.manyImages ?? limits.manyImages,
    messages: least(limits.messages)
  }
}

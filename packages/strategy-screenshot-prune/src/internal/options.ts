import { decodeOptions, functionOption, Positive } from "@varve/core/Options"
import type { Store } from "@varve/core/Store"
import * as Schema from "effect/Schema"
import type { Look } from "./shrink.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const StoreOption = Schema.Struct({
  load: functionOption<Store["load"]>(),
  append: functionOption<Store["append"]>(),
  replace: functionOption<Store["replace"]>()
})

const ThumbnailOptions = Schema.Struct({
  /** How many images behind the full ones are thumbnails; older ones become cards. Default: all. */
  count: Schema.optionalKey(Positive),
  /** Longest edge, px; default 512. */
  edge: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 16, maximum: 8000 }))),
  /** Default `webp`. */
  format: Schema.optionalKey(Schema.Literals(["webp", "jpeg", "png"])),
  /** 1 to 100; default 60. */
  quality: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
  /** Bytes of thumbnails that are kept in memory in case the same image comes again; default 16 MB. */
  cacheBytes: Schema.optionalKey(Count),
  /** Keeps thumbnails beyond the process, by content. */
  store: Schema.optionalKey(StoreOption)
})

const NearOptions = Schema.Struct({
  /** Share of a screen that may differ, 0 to 1; default 0.001. */
  threshold: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** At least every so manieth image is left as it is, so that slow changes add up to no more; default 8. */
  streak: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(2)))
})

const Options = Schema.Struct({
  /** How many of the newest images stay as they are, or `all`; default 3. The newest one always stays. */
  keep: Schema.optionalKey(Schema.Union([Count, Schema.Literals(["all"])])),
  /**
   * Thumbnails of the images behind those: how many, `true` for all of them, or how they are made. Default
   * `false`: they become cards. Needs sharp.
   */
  thumbnails: Schema.optionalKey(Schema.Union([Schema.Boolean, Count, ThumbnailOptions])),
  /**
   * Whether an image gives way to a later one that shows the same: `exact` (the default) for equal bytes, `near`
   * for nearly equal screens too, or how near. `near` needs sharp.
   */
  duplicates: Schema.optionalKey(
    Schema.Union([Schema.Literals([false]), Schema.Literals(["exact", "near"]), NearOptions])
  ),
  /** What stands for an image: `card` (the default), or `classic`, `[Screenshot removed - Step N]`. */
  placeholder: Schema.optionalKey(Schema.Literals(["card", "classic"]))
})

/** What `screenshots` takes. */
export type ScreenshotsOptions = typeof Options.Type

/** The options with their defaults. */
export interface Settings {
  readonly keep: number
  /** How many thumbnails; 0 for none. */
  readonly thumbnails: number
  readonly look: Look | undefined
  readonly exact: boolean
  readonly near: { readonly threshold: number; readonly streak: number } | undefined
  readonly placeholder: "card" | "classic"
  readonly cacheBytes: number
  readonly store: Store | undefined
}

const CACHE_BYTES = 16_000_000

/** Decodes the options. Throws `ConfigError`. */
export const readSettings = (options: unknown): Settings => {
  const {
    duplicates = "exact",
    keep = 3,
    placeholder = "card",
    thumbnails = false
  } = decodeOptions(Options, options, "screenshots")
  const made = typeof thumbnails === "object" ? thumbnails : {}
  const count =
    typeof thumbnails === "number"
      ? thumbnails
      : thumbnails === false
        ? 0
        : (made.count ?? Number.POSITIVE_INFINITY)
  const { cacheBytes = CACHE_BYTES, edge = 512, format = "webp", quality = 60, store } = made
  const near = typeof duplicates === "object" ? duplicates : {}
  return {
    keep: keep === "all" ? Number.POSITIVE_INFINITY : keep,
    thumbnails: count,
    look: count === 0 ? undefined : { edge, format, quality },
    exact: duplicates !== false,
    near:
      duplicates === false || duplicates === "exact"
        ? undefined
        : { threshold: near.threshold ?? 0.001, streak: near.streak ?? 8 },
    placeholder,
    cacheBytes,
    store
  }
}

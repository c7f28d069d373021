import { decodeOptions } from "@varve/core/Options"
import {
  CacheRule,
  Prices,
  Profile as ProfileSchema,
  ProviderLimits,
  type Profile
} from "@varve/core/Profile"
import { ConfigError, show } from "@varve/core/VarveError"
import * as Schema from "effect/Schema"

/** All of an object's keys optional; `undefined` is the same as left out. */
type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined }

/**
 * What to change in a profile. `limits`, `cache` and `prices` are laid over field by field, everything else is
 * replaced; `undefined` is the same as left out. Units are those of `Profile`: tokens, bytes, px, ms, USD.
 */
export interface ProfileOverrides extends Optional<
  Omit<Profile, "limits" | "cache" | "prices" | "warning">
> {
  readonly limits?: Optional<ProviderLimits> | undefined
  readonly cache?: Optional<CacheRule> | undefined
  readonly prices?: Optional<Prices> | undefined
}

const partial = <F extends Schema.Struct.Fields>(schema: Schema.Struct<F>) =>
  Schema.Struct(
    Object.fromEntries(
      Object.entries(schema.fields).map(([key, field]) => [
        key,
        Schema.optional(field as Schema.Codec<unknown>)
      ])
    )
  )

const overridesSchema = Schema.Struct({
  ...partial(ProfileSchema).fields,
  limits: Schema.optional(partial(ProviderLimits)),
  cache: Schema.optional(partial(CacheRule)),
  prices: Schema.optional(partial(Prices))
})

const given = <T extends object>(value: T | undefined): Partial<T> =>
  Object.fromEntries(
    Object.entries(value ?? {}).filter(([, field]) => field !== undefined)
  ) as Partial<T>

/**
 * Lays overrides over a profile. Where only the window is given, what is kept free for the answer shrinks to a
 * quarter of it at most.
 *
 * Throws `ConfigError` for a field that doesn't exist or has a wrong value.
 *
 * @example
 * ```ts
 * import { defaultProfile } from "@varve/core/Profile"
 * import { withOverrides } from "@varve/profiles/ProfileOverrides"
 *
 * const own = withOverrides(defaultProfile, { contextWindow: 32_768, limits: { images: 8 } })
 * console.log(own.contextWindow, own.limits.images) // => 32768 8
 * ```
 */
export const withOverrides = (profile: Profile, overrides: ProfileOverrides = {}): Profile => {
  const { classify, ...data } = overrides ?? {}
  if (classify !== undefined && typeof classify !== "function") {
    throw new ConfigError([
      { path: "overrides.classify", given: show(classify), allowed: "a function" }
    ])
  }
  decodeOptions(overridesSchema, data, "overrides")
  const { limits, cache, prices, ...rest } = data
  const out = { ...profile, ...given(rest) } as Profile
  return {
    ...out,
    reserveOutput:
      rest.contextWindow !== undefined && rest.reserveOutput === undefined
        ? Math.min(profile.reserveOutput, Math.floor(rest.contextWindow / 4))
        : out.reserveOutput,
    limits: { ...profile.limits, ...given(limits) } as ProviderLimits,
    cache: { ...profile.cache, ...given(cache) } as CacheRule,
    prices: { ...profile.prices, ...given(prices) } as Prices,
    ...(classify === undefined ? {} : { classify })
  }
}

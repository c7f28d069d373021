import type { CacheRule, Prices, Profile, ProviderLimits } from "@varve/core/Profile"
import { show } from "@varve/core/VarveError"
import { classify } from "./Classify.ts"
import { reserveFor } from "./internal/Facts.ts"
import { resolve } from "./internal/resolve.ts"
import { warn } from "./internal/warn.ts"
import { type ProfileOverrides, withOverrides } from "./ProfileOverrides.ts"
import type { ProfileOptions } from "./Profiles.ts"

/** Prices of a pi-ai model, USD for a million tokens; 0 is "not known" or "not offered". */
export interface PiCost {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** What is read of a pi-ai model object, of `@mariozechner/pi-ai` and `@earendil-works/pi-ai` alike. */
export interface PiModel {
  readonly id: string
  readonly provider: string
  readonly contextWindow?: number | undefined
  readonly maxTokens?: number | undefined
  readonly input?: ReadonlyArray<string> | undefined
  readonly cost?:
    | (PiCost & {
        readonly tiers?: ReadonlyArray<PiCost & { readonly inputTokensAbove: number }> | undefined
      })
    | undefined
  readonly inputLimits?:
    | {
        readonly maxRequestBytes?: number | undefined
        readonly images?:
          | {
              readonly maxPerMessage?: number | undefined
              readonly maxPerRequest?: number | undefined
            }
          | undefined
      }
    | undefined
  /** Lifetimes of the prompt cache in seconds. */
  readonly promptCache?:
    | { readonly short?: number | undefined; readonly long?: number | undefined }
    | undefined
}

const isCount = (u: unknown): u is number => Number.isSafeInteger(u) && (u as number) > 0

const isPrice = (u: unknown): u is number => typeof u === "number" && Number.isFinite(u) && u >= 0

const rates = ({ input, output, cacheRead, cacheWrite }: PiCost, readShare: number): Prices => ({
  input,
  output: isPrice(output) ? output : input,
  // No provider reads its cache for nothing: 0 says that the price is not known, or that there is no cache.
  cacheRead: isPrice(cacheRead) && cacheRead > 0 ? cacheRead : input * readShare,
  cacheWrite: isPrice(cacheWrite) && cacheWrite > 0 ? cacheWrite : input
})

const pricesOf = (cost: PiModel["cost"], known: Profile | undefined): Prices | undefined => {
  if (!isPrice(cost?.input) || cost.input === 0) return undefined
  const readShare = known === undefined ? 1 : known.prices.cacheRead / known.prices.input
  const tiers = (Array.isArray(cost.tiers) ? cost.tiers : []).filter(
    (tier) => isCount(tier?.inputTokensAbove) && isPrice(tier.input)
  )
  return {
    ...rates(cost, readShare),
    ...(tiers.length === 0
      ? {}
      : {
          tiers: tiers.map((tier) => ({ above: tier.inputTokensAbove, ...rates(tier, readShare) }))
        })
  }
}

const msOf = (seconds: unknown): number | undefined => {
  const ms = isCount(seconds) ? seconds * 1000 : undefined
  return isCount(ms) ? ms : undefined
}

/** pi's lifetimes over our rule; none where reading would cost as much as sending. */
const cacheOf = (
  rule: CacheRule,
  model: Partial<PiModel>,
  prices: Prices | undefined
): CacheRule => {
  if (prices !== undefined && prices.cacheRead >= prices.input) return { ...rule, kind: "none" }
  const short = msOf(model.promptCache?.short)
  const long = msOf(model.promptCache?.long)
  return {
    ...rule,
    ...(short === undefined ? {} : { lifetime: short }),
    ...(long === undefined ? {} : { long: { lifetime: long, write: rule.long?.write ?? 1 } })
  }
}

const limitsOf = (model: Partial<PiModel>): ProviderLimits => {
  const limits = model.inputLimits
  const images = limits?.images
  return {
    ...(isCount(limits?.maxRequestBytes) ? { requestBytes: limits.maxRequestBytes } : {}),
    ...(isCount(images?.maxPerRequest) ? { images: images.maxPerRequest } : {}),
    ...(isCount(images?.maxPerMessage) ? { imagesPerMessage: images.maxPerMessage } : {})
  }
}

/**
 * What is kept free for the answer. pi states a smaller window than the model has where the rest costs more; the
 * room for input then needs no second cut.
 */
const reserveOf = (window: number, maxTokens: number, known: Profile | undefined): number => {
  const own = reserveFor(window, maxTokens)
  if (known === undefined || window > known.contextWindow) return own
  const room = known.contextWindow - known.reserveOutput
  return Math.max(own, window - room)
}

/**
 * A profile from a pi-ai model object: what pi states (window, prices, input kinds, limits, cache lifetimes) over
 * the facts known here (image rule, cache rule, reasoning). Works with `@mariozechner/pi-ai` 0.73 and
 * `@earendil-works/pi-ai` 1.6; neither is loaded.
 *
 * Fields that are missing or odd are passed over. Throws `ConfigError` for a wrong override. Where the model is not
 * listed here, a warning says what is a guess, as in `profile`.
 *
 * @example
 * ```ts
 * import { fromPiModel } from "@varve/profiles"
 *
 * const model = { provider: "anthropic", id: "claude-opus-5-5", contextWindow: 400_000, maxTokens: 64_000 }
 * const profile = fromPiModel(model)
 * console.log(profile.contextWindow, profile.image.rule) // => 400000 claude
 * ```
 */
export const fromPiModel = (
  model: PiModel,
  overrides: ProfileOverrides = {},
  options: ProfileOptions = {}
): Profile => {
  const given: Partial<PiModel> = model ?? {}
  const name = [given.provider, given.id].filter((part) => typeof part === "string").join("/")
  const facts = resolve(name)
  const known = facts.warning === undefined ? facts : undefined
  const window = isCount(given.contextWindow) ? given.contextWindow : facts.contextWindow
  const maxTokens = isCount(given.maxTokens) ? given.maxTokens : facts.reserveOutput
  const prices = pricesOf(given.cost, known)
  const found: Profile = {
    ...facts,
    contextWindow: window,
    reserveOutput: reserveOf(window, maxTokens, known),
    vision: Array.isArray(given.input) ? given.input.includes("image") : facts.vision,
    limits: { ...facts.limits, ...limitsOf(given) },
    cache: cacheOf(facts.cache, given, prices),
    prices: prices ?? facts.prices,
    source: `window, prices and limits: the pi-ai model object; the rest: ${facts.source}`,
    ...(known === undefined
      ? {
          warning:
            `No facts about the model ${show(name)} but pi's own. Its image rule, ` +
            `cache rule and reasoning are guesses (${facts.source}). Pass overrides where they differ.`
        }
      : {}),
    classify
  }
  const out = withOverrides(found, overrides)
  warn(out, options.onWarning)
  return out
}

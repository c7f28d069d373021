import type { CacheRule, ImageRule, Prices, Profile, ProviderLimits } from "@varve/core/Profile"

/** Facts about one model, as a data file states them. What it leaves out comes from its provider. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly window: number
  /** Most tokens of one answer. */
  readonly output: number
  /** Most tokens of input, where the provider has a limit of its own below the window. */
  readonly input?: number
  readonly prices: Prices
  readonly vision?: boolean
  readonly image?: ImageRule
  /** Laid over the provider's, field by field. */
  readonly limits?: ProviderLimits
  /** Laid over the provider's, field by field. */
  readonly cache?: Partial<CacheRule>
  readonly reasoning?: Profile["reasoning"]
  readonly encoding?: string
  readonly ratio?: number
  /** Where this row differs from the provider's source, or what in it is assumed. */
  readonly source?: string
}

/** Facts about one provider and its models. */
export interface ProviderFacts {
  readonly provider: string
  /** What else this provider is called in front of a model's name. */
  readonly aliases: ReadonlyArray<string>
  /** Bare model names that are this provider's. */
  readonly names: RegExp
  readonly source: string
  /** When the sources were read, `YYYY-MM-DD`. */
  readonly date: string
  readonly vision: boolean
  readonly image: ImageRule
  readonly limits: ProviderLimits
  readonly cache: CacheRule
  readonly reasoning: Profile["reasoning"]
  readonly startsWithUser: boolean
  /** True where a call must stand behind a user's message or a result. */
  readonly alternates?: boolean
  readonly encoding: string
  /** Left out where nobody measured it. */
  readonly ratio?: number
  /** By name in normal form: lower case, versions with a dot, no date. */
  readonly models: Readonly<Record<string, ModelFacts>>
  /** Whose facts stand in for a model that is not listed: the first family that its name starts with. */
  readonly standIns: ReadonlyArray<readonly [family: string, model: string]>
}

/** Prices in USD for a million tokens; without a price of its own, a written token costs what an input token does. */
export const prices = (
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number = input,
  tiers?: Prices["tiers"]
): Prices => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  ...(tiers === undefined ? {} : { tiers })
})

/** The longest answer that is kept free for by default. A longer one has to be asked for: `reserveOutput`. */
const usualAnswer = 32_000

/** Tokens to keep free for the answer: never so many that no room for input is left. */
export const reserveFor = (window: number, output: number): number =>
  Math.min(output, usualAnswer, Math.floor(window / 4))

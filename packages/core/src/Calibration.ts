import * as Schema from "effect/Schema"

/**
 * What was learned about a model's counts, JSON-serialisable, to be saved with the session: one for each
 * model, since models differ in both the ratio and the anchor.
 */
export const Calibration = Schema.Struct({
  /** The provider's tokens for one token of the counter. */
  ratio: Schema.Finite,
  /** Tokens that the ratio stands on; at most 4 000, so that old ones fade. */
  weight: Schema.Finite,
  /** The newest valid figure of the provider, and what the counter says of the same content. */
  anchor: Schema.optionalKey(
    Schema.Struct({ actual: Schema.Finite, estimate: Schema.Finite, fixed: Schema.Finite })
  )
})
export type Calibration = typeof Calibration.Type

/** One figure of the provider beside the counter's. All in tokens. */
export interface Observation {
  /**
   * What the counter says of the request as it was sent: all of it, after every edit that was in force then.
   * The caller keeps this figure with each request; counting the host's history when the usage comes in would
   * be wrong wherever an edit stood in between.
   */
  readonly estimate: number
  /** The part of `estimate` that is in the provider's own tokens, such as images by the model's rule; default 0. */
  readonly fixed?: number | undefined
  /** What the provider says: `usageTokens(usage)`, or the number in an overflow error. */
  readonly actual: number
  /** The answer to that request, which is part of the next one: the counter's figure and the output reported. */
  readonly answer?: { readonly estimate: number; readonly output?: number | undefined } | undefined
}

/** The weight that a profile's ratio starts with. */
const PRIOR = 1000
/** With more than this, one observation moves the ratio by at most `STEP`: hosts add text that nobody counts. */
const SETTLED = 2000
const STEP = 0.15
const MOST = 4000
/** Smaller changes are mostly what a host or a provider puts around a message. */
const LEAST = 50
const LOWEST = 0.5
const HIGHEST = 3

/** A figure that can be one of tokens: what is beyond, no arithmetic could take back. */
const isCount = (n: number): boolean => n >= 0 && n <= 1e12

/** Tokens that a host may add unseen: a large system prompt with its tools. */
const MOST_HIDDEN = 60_000

/**
 * What a figure has at least of what the counter says of the text, which may be in characters, and of the images,
 * whose price may be another in the request's own settings; less a few tokens.
 */
const LEAST_OF_TEXT = 0.1
const LEAST_OF_IMAGES = 0.02
const FEW = 100

/**
 * True for a figure that can be one of all of a request. Some servers report only what their cache didn't hold,
 * and some the figures of another request: against one of those, no limit would ever be reached.
 *
 * @example
 * ```ts
 * import { isPlausible } from "@varve/core/Calibration"
 *
 * console.log(isPlausible({ estimate: 20_000, actual: 23_000 })) // => true
 * console.log(isPlausible({ estimate: 20_000, actual: 300 })) // => false
 * ```
 */
export const isPlausible = ({ actual, estimate, fixed = 0 }: Observation): boolean =>
  [actual, estimate, fixed].every(isCount) &&
  actual > 0 &&
  estimate > 0 &&
  actual >= LEAST_OF_TEXT * (estimate - fixed) + LEAST_OF_IMAGES * fixed - FEW &&
  actual <= 10 * estimate + MOST_HIDDEN

const clamp = (n: number, low: number, high: number): number => Math.min(high, Math.max(low, n))

/** A calibration that has seen nothing: the ratio of the profile, or 1. */
export const startCalibration = (profile: { readonly ratio?: number | undefined }): Calibration => {
  const ratio = profile.ratio ?? 1
  return { ratio: Number.isFinite(ratio) ? clamp(ratio, LOWEST, HIGHEST) : 1, weight: PRIOR }
}

/**
 * Takes in a figure of the provider: learns the ratio and sets the anchor.
 *
 * The ratio is learned from increments: what the provider's figure grew or shrank by since the last one,
 * against what the counter's did. An increment counts by its tokens and older ones fade; one that is below
 * 50 tokens or out of 0.5 to 3 teaches nothing.
 *
 * The anchor is set behind the answer, so that the next estimate has only new messages to guess. The output
 * that the provider reported stands for the answer, unless it is far from the counter's figure: then it
 * holds reasoning that isn't sent again.
 *
 * Usage that doesn't belong to what was sent must not come in: of aborted or failed answers, of another
 * model, of the call that wrote a summary. Figures that can't be those of all of the request are passed over.
 *
 * @example
 * ```ts
 * import { applyCalibration, observe, startCalibration } from "@varve/core/Calibration"
 *
 * const first = observe(startCalibration({}), { estimate: 1000, actual: 5200 })
 * const second = observe(first, { estimate: 3000, actual: 7600 })
 *
 * console.log(second.ratio.toFixed(2)) // => 1.13
 * console.log(applyCalibration(second, 4000).tokens) // => 8733
 * ```
 */
export const observe = (state: Calibration, seen: Observation): Calibration => {
  const { actual, estimate, fixed = 0, answer } = seen
  if (!isPlausible(seen)) return state
  const { ratio, weight } = learn(state, actual - fixed, estimate - fixed)
  const { tokens, counted } = answerTokens(answer, ratio)
  return {
    ratio,
    weight,
    anchor: { actual: actual + tokens, estimate: estimate + counted, fixed }
  }
}

/**
 * Takes in the figure of an error that says how many tokens a request had. Where nothing was reported before,
 * the whole difference is taken for the counter's: of a request that fills a window, what a host hides is little.
 *
 * @example
 * ```ts
 * import { applyCalibration, observeOverflow, startCalibration } from "@varve/core/Calibration"
 *
 * const state = observeOverflow(startCalibration({}), { estimate: 200_000, actual: 300_000 })
 * console.log(applyCalibration(state, 100_000).tokens) // => 150000
 * ```
 */
export const observeOverflow = (state: Calibration, seen: Observation): Calibration => {
  const { actual, estimate, fixed = 0 } = seen
  const ratio = (actual - fixed) / (estimate - fixed)
  const isFirst = state.anchor === undefined && ratio >= LOWEST && ratio <= HIGHEST
  return observe(isFirst ? { ...state, ratio } : state, seen)
}

const learn = (state: Calibration, actual: number, estimate: number): Calibration => {
  const { anchor, ratio, weight } = state
  if (anchor === undefined) return state
  const counted = estimate - (anchor.estimate - anchor.fixed)
  const sample = (actual - (anchor.actual - anchor.fixed)) / counted
  const tokens = Math.abs(counted)
  if (!(tokens >= LEAST) || !(sample >= LOWEST && sample <= HIGHEST)) return state
  const near = weight > SETTLED ? clamp(sample, ratio / (1 + STEP), ratio * (1 + STEP)) : sample
  return {
    ratio: clamp(ratio + (tokens / (tokens + weight)) * (near - ratio), LOWEST, HIGHEST),
    weight: Math.min(MOST, weight + tokens)
  }
}

const answerTokens = (answer: Observation["answer"], ratio: number) => {
  if (answer === undefined || !isCount(answer.estimate)) return { tokens: 0, counted: 0 }
  const guess = ratio * answer.estimate
  const { output } = answer
  const plausible = output !== undefined && output >= 0.5 * guess && output <= 1.3 * guess
  return { tokens: plausible ? output : guess, counted: answer.estimate }
}

/**
 * What the provider will count for a request, from what the counter says of it.
 *
 * With an anchor: the provider's last figure, moved by the ratio times what was added since, less what our
 * own edits took away. Without one: the ratio times the count. `fixed` is the part of `estimate` that is in
 * the provider's own tokens (images by the model's rule); no ratio scales it. Whole tokens, at least 0.
 */
export const applyCalibration = (
  state: Calibration,
  estimate: number,
  fixed = 0
): { readonly tokens: number; readonly source: "usage" | "estimated" } => {
  const { anchor, ratio } = state
  const from = anchor ?? { actual: 0, estimate: 0, fixed: 0 }
  const scaled = estimate - fixed - (from.estimate - from.fixed)
  const tokens = from.actual + (fixed - from.fixed) + ratio * scaled
  return {
    tokens: Math.max(0, Math.round(tokens)),
    source: anchor === undefined ? "estimated" : "usage"
  }
}

/**
 * The tokens of a request by the usage that a host reports, in pi's form: `input + cacheRead + cacheWrite`.
 * Nothing where that is no figure: fields that are missing or no numbers, or all zero, as after an abort.
 *
 * @example
 * ```ts
 * import { usageTokens } from "@varve/core/Calibration"
 *
 * console.log(usageTokens({ input: 6, cacheRead: 37_072, cacheWrite: 580, output: 79 })) // => 37658
 * console.log(usageTokens({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 })) // => undefined
 * ```
 */
export const usageTokens = (usage: unknown): number | undefined => {
  if (typeof usage !== "object" || usage === null) return undefined
  const { input, cacheRead = 0, cacheWrite = 0 } = usage as Record<string, unknown>
  const parts = [input, cacheRead, cacheWrite]
  if (!parts.every((n) => typeof n === "number" && Number.isFinite(n) && n >= 0)) return undefined
  const sum = (parts as Array<number>).reduce((a, b) => a + b, 0)
  return sum > 0 ? sum : undefined
}

/**
 * What an assistant message says about the request that it answers: the request's tokens, its own output and
 * its model. Nothing for any other message, for one without a valid usage, and for an answer that was
 * aborted or failed, whose usage may be of any state in between.
 */
export const reportedUsage = (
  message: unknown
):
  | {
      readonly actual: number
      readonly output: number | undefined
      readonly model: string | undefined
    }
  | undefined => {
  if (typeof message !== "object" || message === null) return undefined
  const { role, usage, stopReason, model } = message as Record<string, unknown>
  if (role !== "assistant" || stopReason === "aborted" || stopReason === "error") return undefined
  const actual = usageTokens(usage)
  if (actual === undefined) return undefined
  const { output } = usage as Record<string, unknown>
  return {
    actual,
    output:
      typeof output === "number" && Number.isFinite(output) && output >= 0 ? output : undefined,
    model: typeof model === "string" ? model : undefined
  }
}

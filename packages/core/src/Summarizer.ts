import * as Effect from "effect/Effect"
import type { SummaryError } from "./VarveError.ts"

/** One piece of what is to be summarised: data, never an instruction. */
export interface Material {
  /** Who said it: `user`, `assistant`, `tool NAME`, `step`. */
  readonly from: string
  readonly text: string
}

/** What a summarizer is asked for. No images, no base64, no usage figures. */
export interface SummaryRequest {
  /** The summary so far; the answer replaces it. */
  readonly previous: string | undefined
  /** What is new since then, oldest first. */
  readonly material: ReadonlyArray<Material>
  /** Texts that must stand in the answer word for word. */
  readonly keep: ReadonlyArray<string>
  /** Most tokens that the answer may have. */
  readonly targetTokens: number
  /** Counts tokens as the memory does. */
  readonly count: (text: string) => number
  /** How long the answer is waited for, in ms; what comes later is not taken. */
  readonly timeout?: number
}

/** What came back. */
export interface SummaryResult {
  readonly text: string
  /** Why the maker stopped; only `stop` is accepted. */
  readonly stopReason: string
  /** Who made it: a model's name, or `clip`. */
  readonly model?: string
  readonly usage?: { readonly input: number; readonly output: number }
  /** Parsed parts of the answer, where the maker has them; JSON. */
  readonly structure?: unknown
}

/** What a summarizer says of what it costs; a function that says nothing is taken for a model that reads all. */
export interface SummarizerCost {
  /** True where it calls no model: it is asked without a question whether that pays. */
  readonly free?: boolean
  /** Most tokens that it reads of one result of a tool: the price of its call is estimated by it. */
  readonly resultTokens?: number
}

/** Makes a summary. A function, so that any maker can stand in for any other. */
export interface Summarizer extends SummarizerCost {
  (request: SummaryRequest): Effect.Effect<SummaryResult, SummaryError>
}

/**
 * What a summarizer, or a function in its place, says of its cost. What is no number, or a negative one, counts as
 * nothing said.
 *
 * @example
 * ```ts
 * import { clipSummarizer } from "@varve/core/ClipSummarizer"
 * import { costOf } from "@varve/core/Summarizer"
 *
 * console.log(costOf(clipSummarizer())) // => { free: true }
 * ```
 */
export const costOf = (given: AnySummarizer): SummarizerCost => {
  const { free, resultTokens } = given as SummarizerCost
  return {
    ...(free === true ? { free } : {}),
    ...(typeof resultTokens === "number" && resultTokens >= 0 ? { resultTokens } : {})
  }
}

/** A summarizer, or a function of yours in its place: it may give an Effect, a promise or the result itself. */
export type AnySummarizer = (
  request: SummaryRequest
) => Effect.Effect<SummaryResult, unknown> | PromiseLike<SummaryResult> | SummaryResult

/**
 * A summarizer from any of these functions. What it throws or rejects with becomes a `SummaryError` where a
 * strategy asks it.
 *
 * @example
 * ```ts
 * import { toSummarizer } from "@varve/core/Summarizer"
 * import * as Effect from "effect/Effect"
 *
 * const mine = toSummarizer(async ({ material }) => ({
 *   text: `${material.length} messages about dinner.`,
 *   stopReason: "stop"
 * }))
 * const { text } = await Effect.runPromise(
 *   mine({
 *     previous: undefined,
 *     material: [{ from: "user", text: "Book a table for two." }],
 *     keep: [],
 *     targetTokens: 100,
 *     count: (text) => text.length / 4
 *   })
 * )
 * console.log(text) // => 1 messages about dinner.
 * ```
 */
export const toSummarizer =
  (given: AnySummarizer): Summarizer =>
  (request) =>
    Effect.suspend(() => {
      const answer = given(request)
      if (Effect.isEffect(answer)) return answer as ReturnType<Summarizer>
      return typeof (answer as Partial<PromiseLike<SummaryResult>> | undefined)?.then === "function"
        ? Effect.promise(async () => answer)
        : Effect.succeed(answer as SummaryResult)
    })

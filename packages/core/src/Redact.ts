import * as Context from "effect/Context"

/**
 * Takes out of a text what nobody may see. It gets each text by itself and may get one that it gave: what it
 * has taken out it must not take for something else.
 */
export type Redact = (text: string) => string

/**
 * The `redact` of the memory that a strategy is started for; where the memory has none, what gives a text back
 * as it is. Edits and steps are redacted by the memory itself: a strategy needs it for what it sends elsewhere.
 *
 * @example
 * ```ts
 * import { CurrentRedact } from "@varve/core/Redact"
 * import { make } from "@varve/core/Strategy"
 * import * as Effect from "effect/Effect"
 *
 * const sent: Array<string> = []
 * const telling = make(
 *   "telling",
 *   Effect.map(CurrentRedact, (redact) => (view) =>
 *     Effect.sync(() => {
 *       sent.push(...view.results.map(({ text }) => redact(text)))
 *       return []
 *     })
 *   )
 * )
 * console.log(telling.name) // => telling
 * ```
 */
export const CurrentRedact = Context.Reference<Redact>("@varve/core/Redact", {
  defaultValue: () => (text) => text
})

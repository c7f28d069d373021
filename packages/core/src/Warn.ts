import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { summaryError } from "./internal/box.ts"
import { CurrentRedact } from "./Redact.ts"
import type { SummaryError } from "./VarveError.ts"
import { isVarveError } from "./VarveError.ts"

/**
 * Tells the host of the memory that an effect runs for, with a `warning` event: one for each `cause`, a word or
 * two that stay the same as long as it is the same trouble. Outside of a memory nobody is told.
 *
 * @example
 * ```ts
 * import { createMemory } from "@varve/core"
 * import { strategy } from "@varve/core/Strategy"
 * import { Warn } from "@varve/core/Warn"
 * import * as Effect from "effect/Effect"
 *
 * const warnings: Array<string> = []
 * const memory = createMemory({
 *   pipeline: [
 *     strategy("mine", () => Effect.map(Warn, (warn) => (warn("index", "my index is not there"), [])))
 *   ],
 *   onEvent: (event) => event.type === "warning" && warnings.push(event.message)
 * })
 * await memory.prepare([{ role: "user", content: "Hello" }])
 * await memory.prepare([{ role: "user", content: "Hello again" }])
 * console.log(warnings) // => [ 'my index is not there' ]
 * await memory.close()
 * ```
 */
export const Warn = Context.Reference<(cause: string, message: string) => void>(
  "@varve/core/Warn",
  { defaultValue: () => () => undefined }
)

/** What is the same for each failure that has the same trouble behind it. */
const causeOf = ({ cause, message, reason }: SummaryError): string => {
  if (isVarveError(cause) && cause._tag === "SummaryError") return causeOf(cause)
  if (reason !== "failed") return reason
  // Figures and ids change from one failure to the next; a status, first in what a provider says, does not.
  return message.replace(/(?<!: |^)\b[\w-]*\d[\w-]*\b/g, "#")
}

/**
 * Tells the host that there is no summary, or what else came of it, and why: once as long as it is the same trouble, also where the error
 * says that it is the consequence of another `SummaryError`, its `cause`.
 *
 * @example
 * ```ts
 * import { Warn, warnOf } from "@varve/core/Warn"
 * import { SummaryError } from "@varve/core/VarveError"
 * import * as Effect from "effect/Effect"
 *
 * const tell = (cause: string, message: string) => console.log(message)
 * Effect.runSync(
 *   Effect.provideService(warnOf(new SummaryError("failed", "401 no such key")), Warn, tell)
 * ) // => no summary: 401 no such key
 * ```
 */
export const warnOf = (error: unknown, outcome = "no summary"): Effect.Effect<void> =>
  Effect.gen(function* () {
    const warn = yield* Warn
    const failure = summaryError(error, yield* CurrentRedact)
    warn(`summary ${causeOf(failure)}`, `${outcome}: ${failure.message}`)
  })

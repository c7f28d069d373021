import * as Schema from "effect/Schema"

export { decodeOptions } from "./internal/decodeOptions.ts"

/** A whole number of at least 1. */
export const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** Whole ms of at least 1 that a timer can hold: one above 2 147 483 647 goes off at once. */
export const Timeout = Positive.check(Schema.isLessThanOrEqualTo(2_147_483_647))

/** A number above 0 and at most 1. */
export const Share = Schema.Finite.check(
  Schema.isBetween({ minimum: 0, maximum: 1, exclusiveMinimum: true })
)

/**
 * An option that is a function; what it takes and gives can't be checked.
 *
 * @example
 * ```ts
 * import { decodeOptions, functionOption } from "@varve/core/Options"
 * import * as Schema from "effect/Schema"
 *
 * const Options = Schema.Struct({ redact: functionOption<(text: string) => string>() })
 * const { redact } = decodeOptions(Options, { redact: (text: string) => text.trim() }, "mine")
 * console.log(redact(" secret ")) // => secret
 * ```
 */
export const functionOption = <F>() =>
  Schema.declare((u: unknown): u is F => typeof u === "function", { expected: "a function" })

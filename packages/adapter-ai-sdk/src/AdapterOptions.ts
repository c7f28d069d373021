import { Timeout } from "@varve/core/Options"
import * as Schema from "effect/Schema"

/** The options that both ways into the AI SDK take, as a Schema. */
export const AdapterOptions = Schema.Struct({
  /**
   * The argument of your tools that says what a call is for. Default: none; a step's goal is then the call
   * itself, as in `click(label: "Save")`.
   */
  goalArgument: Schema.optional(Schema.NonEmptyString),
  /** `true`: Anthropic's cache marks stand where the memory says that they do most good. Default: none. */
  marks: Schema.optional(Schema.Boolean),
  /**
   * Longest that a request waits for the memory, ms; default 120 000, at most 2 147 483 647. Then it goes on
   * without it.
   */
  timeout: Schema.optional(Timeout)
})
export type AdapterOptions = typeof AdapterOptions.Type

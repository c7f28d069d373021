import type { Counter, CounterMaker } from "@varve/core/Counter"
import { decodeOptions, functionOption } from "@varve/core/Options"
import type { Profile } from "@varve/core/Profile"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { encodingNames } from "./Encoding.ts"
import { chooseEncoding, counterOn } from "./internal/counterOn.ts"
import { holdEncoder } from "./internal/Encoder.ts"

const Options = Schema.Struct({
  encodings: Schema.optionalKey(Schema.Record(Schema.String, Schema.Literals(encodingNames))),
  onWarning: Schema.optionalKey(functionOption<(warning: string) => void>())
})

/** How texts are counted. */
export interface TiktokenOptions {
  /** Encodings by beginnings of model names; they come before the profile's and the built-in ones. */
  readonly encodings?: Readonly<Record<string, (typeof encodingNames)[number]>>
  /** Where warnings go; default the console, each once. */
  readonly onWarning?: (warning: string) => void
}

/**
 * A counter on tiktoken, for `createMemory`: texts by the model's encoding, images by `Profile.image`, and what
 * the provider puts around both.
 *
 * tiktoken and the encoding are loaded (about 170 ms, 35 MB) by `counter.ready`, once in a process for all
 * memories that use the encoding, and freed when the last one closes. Until then, and where loading fails,
 * counts are core's estimates, and `request` says so. Counts of texts equal tiktoken's own, with special
 * tokens as text; only where an unbroken run would take too long it is counted in parts, and the count is
 * `estimated`. A model with a vocabulary of its own (Claude, Gemini, Qwen) is counted with the nearest
 * encoding: always `estimated`, and brought near the truth by `Profile.ratio` and calibration.
 *
 * Throws `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import { defaultProfile } from "@varve/core/Profile"
 * import { tiktokenCounter } from "@varve/tokenizer/Tiktoken"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const counter = yield* tiktokenCounter().start({ ...defaultProfile, model: "openai/gpt-5.5" })
 *   yield* counter.ready ?? Effect.void
 *   return counter.request({ messages: [{ role: "user", content: "Click the <|endoftext|> button." }] })
 * })
 *
 * const { source, tokens } = await Effect.runPromise(Effect.scoped(program))
 * console.log(tokens, source) // => 15 counted
 * ```
 */
export const tiktokenCounter = (options: TiktokenOptions = {}): CounterMaker => {
  const { encodings = {}, onWarning } = decodeOptions(Options, options, "tiktokenCounter")
  return {
    name: "tiktoken",
    start: (profile: Profile) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => {
            const choice = chooseEncoding(profile, encodings)
            return { choice, ref: holdEncoder(choice.encoding) }
          }),
          ({ ref }) => Effect.sync(ref.release)
        ),
        ({ choice, ref }): Counter => counterOn(ref, choice, profile, onWarning)
      )
  }
}

import * as Edit from "@varve/core/Edit"
import { decodeOptions } from "@varve/core/Options"
import type { Strategy } from "@varve/core/Strategy"
import { strategy } from "@varve/core/Strategy"
import * as Schema from "effect/Schema"

const Options = Schema.Struct({
  /** Shorter results are left alone, in characters; default 200. */
  atLeast: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})

/** What `repeatedResults` takes. */
export type RepeatedResultsOptions = typeof Options.Type

/**
 * Puts a note in the place of a tool result that a later result repeats word for word, as when an agent reads one
 * file several times. The newest one always stays.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit } from "@varve/core"
 * import { repeatedResults } from "@varve-examples/strategy-template"
 *
 * const memory = createMemory({ pipeline: [repeatedResults(), hardLimit()] })
 * const { messages } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(messages.length) // => 1
 * ```
 */
export const repeatedResults = (options?: RepeatedResultsOptions): Strategy => {
  const { atLeast = 200 } = decodeOptions(Options, options, "repeatedResults")
  return strategy("repeatedResults", (view) => {
    const seen = new Set<string>()
    const edits: Array<Edit.Edit> = []
    for (const { block, rank, text, toolName } of view.results.toReversed()) {
      const isRepeated = seen.has(text)
      seen.add(text)
      if (!isRepeated || rank > 0 || text.length < atLeast) continue
      if (view.protection(block) !== undefined) continue
      edits.push(Edit.replace(block, `[${toolName} gave the same again later]`))
    }
    return edits
  })
}

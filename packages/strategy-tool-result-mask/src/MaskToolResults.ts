import { clipText } from "@varve/core/Clip"
import * as Edit from "@varve/core/Edit"
import { decodeOptions, Positive } from "@varve/core/Options"
import { CurrentRedact } from "@varve/core/Redact"
import type { Redact } from "@varve/core/Redact"
import type { Strategy } from "@varve/core/Strategy"
import { make } from "@varve/core/Strategy"
import type { ResultRef, View } from "@varve/core/View"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Options = Schema.Struct({
  /** How many of the newest results stay whole; default 10. */
  keep: Schema.optional(Count),
  /** Tokens that stay of an older result, head and tail together; default 120. */
  tokens: Schema.optional(Positive),
  /** Tools whose results stay whole. */
  except: Schema.optional(Schema.Array(Schema.String)),
  /** True to leave results that report an error whole; default true. */
  keepErrors: Schema.optional(Schema.Boolean)
})

/** What `maskToolResults` takes. */
export type MaskToolResultsOptions = typeof Options.Type

/**
 * Clips old tool results to head and tail, with a marker that says how many tokens were left out and the id
 * for `recall`. It says what may go; the commit rule says when.
 *
 * A result is clipped where that takes away at least half of it. Results with an error stay whole unless
 * `keepErrors` is false.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit } from "@varve/core"
 * import { maskToolResults } from "@varve/strategy-tool-result-mask"
 *
 * const memory = createMemory({ pipeline: [maskToolResults({ keep: 5 }), hardLimit()] })
 * const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(report.strategies[0]?.name) // => maskToolResults
 * ```
 */
export const maskToolResults = (options?: MaskToolResultsOptions): Strategy => {
  const {
    keep = 10,
    tokens = 120,
    except = [],
    keepErrors = true
  } = decodeOptions(Options, options, "maskToolResults")
  const spared = new Set(except)
  const isOpen = (result: ResultRef): boolean =>
    result.rank === 0 && !spared.has(result.toolName) && !(keepErrors && result.isError)
  const masked = (view: View, redact: Redact): ReadonlyArray<Edit.Edit> => {
    const { counter, results } = view
    const edits: Array<Edit.Edit> = []
    for (const result of keep === 0 ? results : results.slice(0, -keep)) {
      if (!isOpen(result) || view.protection(result.block) !== undefined) continue
      // No text has more tokens than twice its length: short ones need no count.
      if (2 * result.text.length < 2 * tokens || counter.text(result.text) < 2 * tokens) continue
      // Redacted before it is cut: half of a secret is not found any more.
      const text = clipText(redact(result.text), tokens, counter.text, {
        marker: (left) => `\n[… ${left} tokens left out; recall ${result.block}]\n`
      })
      edits.push(Edit.replace(result.block, text, 1))
    }
    return edits
  }
  return make(
    "maskToolResults",
    Effect.map(
      CurrentRedact,
      (redact) => (view: View) =>
        Effect.sync(() => {
          const edits = masked(view, redact)
          return edits.length === 0 ? [] : [Edit.proposal("maskToolResults", edits)]
        })
    )
  )
}

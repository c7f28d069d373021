import { conversationSummary, hardLimit } from "@varve/core"
import type { MemoryOptions } from "@varve/core/Memory"
import { decodeOptions, functionOption } from "@varve/core/Options"
import type { AnySummarizer } from "@varve/core/Summarizer"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { maskToolResults } from "@varve/strategy-tool-result-mask"
import * as Schema from "effect/Schema"

const Options = Schema.Struct({
  /** How many of the newest tool results stay whole; default 10. */
  keep: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** Names of tools whose results are not clipped, as that of a plan; default: none. */
  except: Schema.optional(Schema.Array(Schema.String)),
  /** Who writes the summary of old groups; default: the extractive one, without a model. */
  summarizer: Schema.optional(functionOption<AnySummarizer>())
})

/** What `codingAgent` takes. */
export type CodingAgentOptions = typeof Options.Type

/**
 * A coding agent's memory, as options to spread into `createMemory`: the newest tool results whole, older ones
 * clipped to head and tail, those with an error left alone; from 60 % of the token limit on, old groups behind a
 * summary with a registry of paths, constraints, decisions and open errors, word for word; and the guard. Edits
 * come into force when they pay.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory } from "@varve/core"
 * import { codingAgent } from "@varve/preset-coding"
 *
 * const memory = createMemory({ ...codingAgent({ keep: 5 }), session: "task-42" })
 * const { report } = await memory.prepare([{ role: "user", content: "Mend the build." }])
 * console.log(report.unguarded) // => false
 * ```
 */
export const codingAgent = (options?: CodingAgentOptions): Pick<MemoryOptions, "pipeline"> => {
  const {
    keep = 10,
    except = [],
    summarizer = extractiveSummarizer()
  } = decodeOptions(Options, options, "codingAgent")
  return {
    pipeline: [maskToolResults({ keep, except }), conversationSummary({ summarizer }), hardLimit()]
  }
}

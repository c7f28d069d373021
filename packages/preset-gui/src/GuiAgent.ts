import { conversationSummary, hardLimit, stepMemory } from "@varve/core"
import type { MemoryOptions } from "@varve/core/Memory"
import { decodeOptions, functionOption } from "@varve/core/Options"
import type { AnySummarizer } from "@varve/core/Summarizer"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { screenshots } from "@varve/strategy-screenshot-prune"
import * as Schema from "effect/Schema"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Options = Schema.Struct({
  /** How many of the newest screenshots stay as they are; default 3. */
  keep: Schema.optional(Count),
  /** How many behind those are thumbnails; default 5, 0 for none. More than 0 needs sharp. */
  thumbnails: Schema.optional(Count),
  /** True to let nearly equal screens give way to the later one; needs sharp; default: true with thumbnails. */
  near: Schema.optional(Schema.Boolean),
  /** Who writes the summaries; default: the extractive one, without a model. */
  summarizer: Schema.optional(functionOption<AnySummarizer>())
})

/** What `guiAgent` takes. */
export type GuiAgentOptions = typeof Options.Type

/**
 * A GUI agent's memory, as options to spread into `createMemory`: the newest screenshots whole, older ones as
 * thumbnails and then cards, nearly equal screens once; the steps as a memo; old groups behind a summary; and the
 * guard. Edits come into force when they pay.
 *
 * Throws `ConfigError` for wrong options, and where thumbnails are asked for and sharp is not there.
 *
 * @example
 * ```ts
 * import { createMemory } from "@varve/core"
 * import { guiAgent } from "@varve/preset-gui"
 *
 * const memory = createMemory({ ...guiAgent({ thumbnails: 0 }), session: "task-42" })
 * const { report } = await memory.prepare([{ role: "user", content: "Open the orders." }])
 * console.log(report.unguarded) // => false
 * ```
 */
export const guiAgent = (options?: GuiAgentOptions): Pick<MemoryOptions, "pipeline"> => {
  const {
    keep = 3,
    thumbnails = 5,
    near = thumbnails > 0,
    summarizer = extractiveSummarizer()
  } = decodeOptions(Options, options, "guiAgent")
  return {
    pipeline: [
      screenshots({ keep, thumbnails, duplicates: near ? "near" : "exact" }),
      stepMemory({ summarizer }),
      conversationSummary({ summarizer }),
      hardLimit()
    ]
  }
}

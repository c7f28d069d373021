import { Commit, hardLimit, makeCounter, stepMemory } from "@varve/core"
import type { Counter } from "@varve/core"
import type { MemoryOptions } from "@varve/core/Memory"
import { decodeOptions, functionOption } from "@varve/core/Options"
import type { AnySummarizer } from "@varve/core/Summarizer"
import { screenshots } from "@varve/strategy-screenshot-prune"
import * as Schema from "effect/Schema"

/** The classic figures: characters, tokens and images. */
export const classic = {
  /** Characters for one token, and tokens for one image. */
  charactersPerToken: 3,
  imageTokens: 800,
  /** 90 % of a window of 128 000 tokens. */
  tokens: 115_200,
  /** Screenshots that stay. */
  keep: 3,
  /** Characters of the recent layer and of the summary. */
  recent: 500,
  summary: 2000
} as const

const Options = Schema.Struct({
  /** Who summarises the steps; without one they are clipped. */
  summarizer: Schema.optional(functionOption<AnySummarizer>())
})

/** What `guiClassic` takes. */
export type GuiClassicOptions = typeof Options.Type

/** Counts as the classic memory did: three characters a token, rounded up, and 800 tokens an image. */
export const classicCounter = (): Counter =>
  makeCounter({
    name: "classic",
    text: (text) => Math.ceil(text.length / classic.charactersPerToken),
    image: () => classic.imageTokens,
    perMessage: 0,
    perResult: 0,
    perCall: 0
  })

const inTokens = (characters: number): number => Math.ceil(characters / classic.charactersPerToken)

/**
 * The behaviour that this project began from, figure for figure and without its faults: the last three
 * screenshots, one leaving in every step; three layers of steps with 500 and 2 000 characters; 115 200 tokens
 * by characters / 3 and 800 an image. For most agents `guiAgent()` does the same better and for less.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory } from "@varve/core"
 * import { guiClassic } from "@varve/preset-gui"
 *
 * const memory = createMemory(guiClassic())
 * const { report } = await memory.prepare([{ role: "user", content: "Open the orders." }])
 * console.log(report.after.tokens) // => 6
 * ```
 */
export const guiClassic = (
  options?: GuiClassicOptions
): Pick<MemoryOptions, "pipeline" | "commit" | "counter" | "budget"> => {
  const { summarizer } = decodeOptions(Options, options, "guiClassic")
  return {
    pipeline: [
      screenshots({ keep: classic.keep, placeholder: "classic", duplicates: false }),
      stepMemory({
        recentTokens: inTokens(classic.recent),
        summaryTokens: inTokens(classic.summary),
        ...(summarizer === undefined ? {} : { summarizer })
      }),
      hardLimit()
    ],
    commit: Commit.immediate,
    counter: classicCounter(),
    budget: { tokens: classic.tokens }
  }
}

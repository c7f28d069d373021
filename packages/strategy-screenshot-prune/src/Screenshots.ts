import * as Edit from "@varve/core/Edit"
import { imageCard } from "@varve/core/ImageCard"
import { decodeOptions } from "@varve/core/Options"
import type { Strategy } from "@varve/core/Strategy"
import { strategy } from "@varve/core/Strategy"
import * as Schema from "effect/Schema"

const Options = Schema.Struct({
  /** How many of the newest images stay; default 3. */
  keep: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
})

/** What `screenshots` takes. */
export type ScreenshotsOptions = typeof Options.Type

/**
 * Keeps the newest images of a history; older ones become cards with step, goal, outcome, size in px and an
 * id for `recall`. It says what may go; the commit rule says when.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit } from "@varve/core"
 * import { screenshots } from "@varve/strategy-screenshot-prune"
 *
 * const memory = createMemory({ pipeline: [screenshots({ keep: 3 }), hardLimit()] })
 * const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(report.after.images) // => 0
 * ```
 */
export const screenshots = (options?: ScreenshotsOptions): Strategy => {
  const { keep = 3 } = decodeOptions(Options, options, "screenshots")
  return strategy("screenshots", (view) =>
    view.images
      .slice(0, -keep)
      .filter((image) => view.protection(image.block) === undefined)
      .map((image) => Edit.replace(image.block, imageCard(image, view, "an older screenshot")))
  )
}

import { beside } from "@varve/core/Beside"
import type { Strategy } from "@varve/core/Strategy"
import { make } from "@varve/core/Strategy"
import * as Effect from "effect/Effect"
import type { ScreenshotsOptions } from "./internal/options.ts"
import { readSettings } from "./internal/options.ts"
import { planView } from "./internal/plan.ts"
import { requireSharp } from "./internal/sharp.ts"
import { planWith } from "./internal/work.ts"
import { Workshop } from "./internal/Workshop.ts"

export type { ScreenshotsOptions } from "./internal/options.ts"

/**
 * Keeps the newest images of a history, makes older ones thumbnails, and still older ones cards with step, goal,
 * outcome, size in px, the reason and an id for `recall`. An image that a later one repeats gives way to it. The
 * image limits of the budget and the profile are kept by smaller copies where thumbnails are on, else by cards.
 *
 * It says what may go; the commit rule says when. What is protected it leaves alone, the newest image always.
 * Thumbnails are made beside the agent when an image arrives, each once in its life; they carry the scale in a
 * text of their own, and one that would not be cheaper by the model's rule is not made.
 *
 * Throws `ConfigError` for wrong options, and where thumbnails or `near` were asked for and sharp is not there.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit } from "@varve/core"
 * import { screenshots } from "@varve/strategy-screenshot-prune"
 *
 * const memory = createMemory({ pipeline: [screenshots({ keep: 3, thumbnails: 5 }), hardLimit()] })
 * const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(report.after.images) // => 0
 * ```
 */
export const screenshots = (options?: ScreenshotsOptions): Strategy => {
  const settings = readSettings(options)
  if (settings.look !== undefined) requireSharp("screenshots.thumbnails")
  if (settings.near !== undefined) requireSharp("screenshots.duplicates")
  return make(
    "screenshots",
    Effect.map(beside, (fork) => {
      const workshop = new Workshop(fork, settings.cacheBytes, settings.store)
      return (view) =>
        // Where the model sees no images, none are sent; they are there again for a model that does.
        view.images.length === 0 || !view.profile.vision
          ? Effect.succeed([])
          : planWith(view, workshop, (find) => planView(view, settings, find))
    })
  )
}

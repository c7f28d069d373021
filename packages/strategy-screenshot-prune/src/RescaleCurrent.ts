import { beside } from "@varve/core/Beside"
import type { Proposal } from "@varve/core/Edit"
import { decodeOptions } from "@varve/core/Options"
import type { Strategy } from "@varve/core/Strategy"
import { make } from "@varve/core/Strategy"
import type { View } from "@varve/core/View"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { planLimits } from "./ImageLimits.ts"
import type { Find, Wish } from "./internal/ladder.ts"
import type { Plan } from "./internal/plan.ts"
import { limitStep, proposalOf } from "./internal/plan.ts"
import type { Look } from "./internal/shrink.ts"
import { requireSharp } from "./internal/sharp.ts"
import { planWith } from "./internal/work.ts"
import { Workshop } from "./internal/Workshop.ts"

const Options = Schema.Struct({
  /** Default `webp`. */
  format: Schema.optionalKey(Schema.Literals(["webp", "jpeg", "png"]))
})

/** What `rescaleCurrent` takes. */
export type RescaleCurrentOptions = typeof Options.Type

/** What is over a limit by itself: its edge, its pixels, its bytes, its edge among many. Oldest first. */
const planFor = (view: View, look: Look, find: Find): Plan => {
  const { images, limits } = view
  const held = images.map((image) => ({
    message: image.message,
    width: image.size?.width ?? 0,
    height: image.size?.height ?? 0,
    bytes: image.bytes,
    fixed: view.protection(image.block)?.level === "hard",
    scalable: image.rank === 0 && image.data !== undefined && image.size !== undefined
  }))
  const { bytesPerImage, manyImages, maxEdge, maxPixels } = limits
  const asked = planLimits(held, { bytesPerImage, manyImages, maxEdge, maxPixels }, 0)
  const proposals: Array<Proposal> = []
  const missing: Array<Wish> = []
  for (const [at, limit] of asked) {
    const image = images[at]!
    if (limit.to === "card") continue
    const step = limitStep(view, { look }, image, limit, find, missing)
    if (step?.to !== "copy") continue
    const proposal = proposalOf(view, { placeholder: "card" }, image, step)
    if (proposal !== undefined) proposals.push(proposal)
  }
  return { proposals, missing, ahead: [] }
}

/**
 * A guard for the place before `hardLimit()`: where an image is over a limit by itself (px, bytes), the current
 * screenshot too, it puts in a copy that is not, with from, to and scale beside it. Without this guard the
 * current screenshot is never scaled, and `hardLimit()` puts a card where the provider would refuse it.
 *
 * The agent must map coordinates from the copy to the screen; that is why this has to be asked for.
 *
 * Throws `ConfigError` for wrong options, and where sharp is not there.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit } from "@varve/core"
 * import { rescaleCurrent, screenshots } from "@varve/strategy-screenshot-prune"
 *
 * const memory = createMemory({ pipeline: [screenshots(), rescaleCurrent(), hardLimit()] })
 * const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(report.guarded) // => 0
 * ```
 */
export const rescaleCurrent = (options?: RescaleCurrentOptions): Strategy => {
  const { format = "webp" } = decodeOptions(Options, options, "rescaleCurrent")
  requireSharp("rescaleCurrent")
  const look: Look = { edge: 8000, format, quality: 60 }
  return make(
    "rescale-current",
    Effect.map(beside, (fork) => {
      const workshop = new Workshop(fork, 0, undefined)
      return (view) =>
        view.images.length === 0
          ? Effect.succeed([])
          : planWith(view, workshop, (find) => planFor(view, look, find))
    }),
    { guard: true }
  )
}

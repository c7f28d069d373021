import type { Proposal } from "@varve/core/Edit"
import * as Edit from "@varve/core/Edit"
import type { ImageRef, View } from "@varve/core/View"
import type { LimitStep } from "../ImageLimits.ts"
import { planLimits } from "../ImageLimits.ts"
import { isTiny, placeholder } from "../Placeholder.ts"
import { scaledBlocks, scalingOf, scalingText } from "../Thumbnail.ts"
import type { Find, Step, Wish } from "./ladder.ts"
import { planLadder } from "./ladder.ts"
import type { Settings } from "./options.ts"
import type { Order, Small } from "./shrink.ts"

/** Quality of a copy that a limit asks for: it stands for one of the newest images. */
const COPY_QUALITY = 85

export interface Plan {
  readonly proposals: ReadonlyArray<Proposal>
  readonly missing: ReadonlyArray<Wish>
  readonly ahead: ReadonlyArray<Wish>
}

const bytesOf = (image: ImageRef, step: Step | undefined): number =>
  step?.to === "copy" ? step.small.data.length : image.bytes

/** The images that are left once the ladder's steps are taken, as limits see them, with their positions. */
const heldImages = (view: View, settings: Settings, steps: ReadonlyMap<number, Step>) => {
  const at: Array<number> = []
  const held = view.images.flatMap((image, i) => {
    const step = steps.get(i)
    if (step?.to === "card") return []
    at.push(i)
    const { height, width } =
      step?.to === "copy" ? step.small : (image.size ?? { width: 0, height: 0 })
    return [
      {
        message: image.message,
        width,
        height,
        bytes: bytesOf(image, step),
        fixed: view.protection(image.block) !== undefined || isTiny(image, view),
        scalable:
          settings.look !== undefined &&
          step === undefined &&
          image.rank === 0 &&
          image.data !== undefined &&
          image.size !== undefined
      }
    ]
  })
  return { at, held }
}

/** True where a limit of the provider or of the budget could ask for anything. */
const isLimited = ({ limits }: View): boolean =>
  limits.manyImages !== undefined ||
  [
    limits.images,
    limits.imagesPerMessage,
    limits.imageBytes,
    limits.bytesPerImage,
    limits.requestBytes,
    limits.maxEdge,
    limits.maxPixels
  ].some(Number.isFinite)

/** The ladder's steps, and on top of them what the limits ask for. */
const withLimits = (
  view: View,
  settings: Settings,
  steps: ReadonlyMap<number, Step>,
  find: Find,
  missing: Array<Wish>
): ReadonlyMap<number, Step> => {
  if (!isLimited(view)) return steps
  const { at, held } = heldImages(view, settings, steps)
  const { images, limits, usage } = view
  const gone = images.reduce(
    (sum, image, i) =>
      sum + image.bytes - (steps.get(i)?.to === "card" ? 0 : bytesOf(image, steps.get(i))),
    0
  )
  const asked = planLimits(held, limits, usage.requestBytes - gone)
  if (asked.size === 0) return steps
  const all = new Map(steps)
  for (const [i, limit] of asked) {
    const position = at[i]!
    const step = limitStep(view, settings, images[position]!, limit, find, missing)
    if (step !== undefined) all.set(position, step)
  }
  return all
}

/** What a limit makes of an image: a copy where one can be made that keeps the limit; else a card. */
export const limitStep = (
  view: View,
  { look }: Pick<Settings, "look">,
  image: ImageRef,
  asked: LimitStep,
  find: Find,
  missing: Array<Wish>
): Step | undefined => {
  const { limit } = asked
  const card: Step = { to: "card", reason: `over the limit of ${limit}` }
  if (asked.to === "card" || look === undefined) return card
  for (const quality of asked.thumbnail ? [look.quality] : [COPY_QUALITY, look.quality]) {
    const edge = asked.thumbnail ? Math.min(look.edge, asked.edge) : asked.edge
    const order: Order = { look: { edge, format: look.format, quality }, grey: false }
    const made = find(image, order)
    if (made === undefined) {
      missing.push({ image, order })
      return undefined
    }
    const { small } = made
    if (small !== undefined && isBetter(view, image, small)) return { to: "copy", small, limit }
  }
  return card
}

/** True where a copy takes fewer bytes than the image and no more tokens, its text included. */
const isBetter = (view: View, image: ImageRef, small: Small): boolean => {
  const { counter, limits } = view
  if (small.data.length >= Math.min(image.bytes, limits.bytesPerImage + 1)) return false
  const text = scaledBlocks(image, small)[1]
  const words = text?.type === "text" ? counter.text(text.text) : 0
  const { height, width } = small
  return counter.image({ width, height, format: "" }) + words <= image.tokens
}

/** The proposal that a step is, or nothing where no text is cheap enough. */
export const proposalOf = (
  view: View,
  settings: Pick<Settings, "placeholder">,
  image: ImageRef,
  step: Step
): Proposal | undefined => {
  if (step.to === "card") {
    const text = placeholder(image, view, step.reason, settings.placeholder)
    return text === undefined
      ? undefined
      : Edit.proposal(step.reason, [Edit.replace(image.block, text)])
  }
  const { limit, small } = step
  const how = scalingText(scalingOf(image.size ?? small, small))
  const reason = limit === undefined ? `thumbnail: ${how}` : `over the limit of ${limit}: ${how}`
  return Edit.proposal(reason, [Edit.replace(image.block, scaledBlocks(image, small), 1)])
}

/** What to propose for a view, from what is known of its images by now. */
export const planView = (view: View, settings: Settings, find: Find): Plan => {
  const ladder = planLadder(view, settings, find)
  const missing = [...ladder.missing]
  const steps = withLimits(view, settings, ladder.steps, find, missing)
  const proposals: Array<Proposal> = []
  for (const [at, step] of [...steps].sort(([a], [b]) => a - b)) {
    const proposal = proposalOf(view, settings, view.images[at]!, step)
    if (proposal !== undefined) proposals.push(proposal)
  }
  return { proposals, missing, ahead: ladder.ahead }
}

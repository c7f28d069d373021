import { imageCard } from "@varve/core/ImageCard"
import type { ImageRef, View } from "@varve/core/View"
import { scaledText, scalingOf } from "./Thumbnail.ts"

/** Which text stands for an image: a card, or the short text that this project started from. */
export type PlaceholderKind = "card" | "classic"

/** The card of an image whose tokens are fewer than those of a real card. */
const SHORT = "[image left out]"

/**
 * `[Screenshot removed - Step N]`: the step of its call where the host told one, else which image of the history
 * it is.
 *
 * @example
 * ```ts
 * import { classicText } from "@varve/strategy-screenshot-prune/Placeholder"
 *
 * console.log(classicText({ callId: undefined, ordinal: 4 }, { stepOf: () => undefined }))
 * // => [Screenshot removed - Step 4]
 * ```
 */
export const classicText = (
  image: Pick<ImageRef, "callId" | "ordinal">,
  view: Pick<View, "stepOf">
): string => {
  const step = image.callId === undefined ? undefined : view.stepOf(image.callId)
  return `[Screenshot removed - Step ${step?.step ?? image.ordinal}]`
}

/** True where every text would cost more than the image does. */
export const isTiny = (image: ImageRef, view: Pick<View, "counter">): boolean =>
  image.rank === 0 && view.counter.text(SHORT) > image.tokens

/** The text that stands for an image, or nothing where every text would cost more than the image does. */
export const placeholder = (
  image: ImageRef,
  view: View,
  reason: string,
  kind: PlaceholderKind
): string | undefined => {
  const { original, size } = image
  // What stands beside a copy leaves with it.
  const scaled = original !== undefined && size !== undefined && original.width !== size.width
  const beside = scaled ? view.counter.text(scaledText(scalingOf(original, size), image.block)) : 0
  const first = kind === "classic" ? classicText(image, view) : imageCard(image, view, reason)
  return [first, SHORT].find((text) => view.counter.text(text) <= image.tokens + beside)
}

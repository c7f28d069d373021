import type { Block, BlockId } from "@varve/core/Message"
import { withImage } from "@varve/core/Message"
import type { ImageRef, View } from "@varve/core/View"

/** Width and height, px. */
export interface Pixels {
  readonly width: number
  readonly height: number
}

/**
 * The size that an image has once its longest edge is at most `edge` px: in its aspect, never enlarged.
 *
 * @example
 * ```ts
 * import { thumbnailSize } from "@varve/strategy-screenshot-prune/Thumbnail"
 *
 * console.log(thumbnailSize({ width: 1920, height: 1080 }, 512)) // => { width: 512, height: 288 }
 * ```
 */
export const thumbnailSize = ({ width, height }: Pixels, edge: number): Pixels => {
  const scale = Math.min(1, edge / Math.max(width, height))
  return scale === 1
    ? { width, height }
    : {
        width: Math.max(1, Math.round(width * scale)),
        height: Math.max(1, Math.round(height * scale))
      }
}

/** How coordinates in a scaled copy and in the original go together. */
export interface Scaling {
  readonly from: Pixels
  readonly to: Pixels
  /** `to` over `from`, of the longest edge. */
  readonly scale: number
}

/** What became of the pixels, to four digits. */
export const scalingOf = (from: Pixels, to: Pixels): Scaling => ({
  from,
  to,
  scale: Number((Math.max(to.width, to.height) / Math.max(from.width, from.height)).toPrecision(4))
})

/** A scaling in words, as a reason has it: `1280x720 to 512x288 px, scale 0.4`. */
export const scalingText = ({ from, to, scale }: Scaling): string =>
  `${from.width}x${from.height} to ${to.width}x${to.height} px, scale ${scale}`

/** The text that stands beside a scaled copy, so that the model and the host can map coordinates. */
export const scaledText = (scaling: Scaling, block: BlockId): string =>
  `[scaled from ${scalingText(scaling)}; recall ${block}]`

/**
 * The blocks that stand for an image once it is scaled: the smaller copy in the host's own shape, and beside
 * it what was scaled how. Where only the encoding changed, the copy alone.
 */
export const scaledBlocks = (
  image: ImageRef,
  small: Pixels & { readonly data: string; readonly mimeType: string }
): ReadonlyArray<Block> => {
  const copy = withImage(image.shown, small)
  const from = image.size
  if (from === undefined || (from.width === small.width && from.height === small.height))
    return [copy]
  return [copy, { type: "text", text: scaledText(scalingOf(from, small), image.block) }]
}

/** True where a scaled copy would cost less by the model's own rule, the text beside it included. */
export const isCheaper = (
  image: ImageRef,
  edge: number,
  counter: Pick<View["counter"], "image" | "text">
): boolean => {
  const { size } = image
  if (size === undefined) return false
  const to = thumbnailSize(size, edge)
  if (to.width === size.width && to.height === size.height) return false
  const text = counter.text(scaledText(scalingOf(size, to), image.block))
  return counter.image({ ...size, ...to }) + text < image.tokens
}

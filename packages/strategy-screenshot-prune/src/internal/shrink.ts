import type { ImageSize } from "@varve/core/ImageSize"
import type { Grey } from "../NearIdentical.ts"
import { GREY_EDGE } from "../NearIdentical.ts"
import { loadSharp } from "./sharp.ts"

/** More pixels than these are not decoded: an 8K screen has 33 million, a bomb has billions. */
const MAX_PIXELS = 40_000_000

/** Longest that one image may take, s. */
const MAX_SECONDS = 10

/** How an image is made smaller. */
export interface Look {
  /** Longest edge, px. */
  readonly edge: number
  readonly format: "webp" | "jpeg" | "png"
  /** 1 to 100; for PNG the quality of its palette. */
  readonly quality: number
}

/** What is to be made of an image in one decoding. */
export interface Order {
  readonly look: Look | undefined
  /** The small grey copy that frames are compared by. */
  readonly grey: boolean
}

/** A smaller copy. */
export interface Small {
  /** Base64. */
  readonly data: string
  readonly mimeType: string
  readonly width: number
  readonly height: number
}

/** What came of an order; `fault` says in a few words why nothing did. */
export interface Made {
  readonly small?: Small
  readonly grey?: Grey
  readonly fault?: string
}

const faultOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : ""
  if (/timeout/i.test(text)) return `it took longer than ${MAX_SECONDS} s to read`
  if (/pixel limit/i.test(text)) return "it has too many pixels"
  if (/unsupported image format/i.test(text)) return "it is of a kind that can't be read"
  // Not the decoder's own words: they may hold bytes of the file.
  return "it is damaged"
}

/**
 * Makes an image smaller. Upright by its EXIF rotation, in its aspect, never larger, alpha kept where the
 * format has it and else on white; of an animation the first frame. Never rejects.
 */
export const shrink = async (
  base64: string,
  size: ImageSize | undefined,
  order: Order
): Promise<Made> => {
  if (size === undefined) return { fault: "it is not an image of a known kind" }
  if (size.width * size.height > MAX_PIXELS) return { fault: "it has too many pixels" }
  let sharp: Awaited<ReturnType<typeof loadSharp>>
  try {
    sharp = await loadSharp()
  } catch {
    return { fault: "sharp could not be loaded" }
  }
  const { look, grey } = order
  const source = () =>
    sharp(Buffer.from(base64, "base64"), { limitInputPixels: MAX_PIXELS, failOn: "error" })
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(inside(look?.edge ?? GREY_EDGE))
  const encode = async (image: ReturnType<typeof source>, { format, quality }: Look) => {
    const opaque = format === "jpeg" ? image.flatten({ background: "#fff" }) : image
    const { data, info } = await opaque
      .toFormat(format, { quality })
      .toBuffer({ resolveWithObject: true })
    const { width, height } = info
    return { data: data.toString("base64"), mimeType: `image/${format}`, width, height }
  }
  try {
    if (!grey) return look === undefined ? {} : { small: await encode(source(), look) }
    // Decoding is what is dear: both copies come from one.
    const { data, info } = await source()
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width, height, channels } = info
    const again = () => sharp(data, { raw: { width, height, channels } })
    const grey8 = await again()
      .flatten({ background: "#fff" })
      .resize(inside(GREY_EDGE))
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true })
    return {
      grey: { width: grey8.info.width, height: grey8.info.height, cells: greyCells(grey8) },
      ...(look === undefined ? {} : { small: await encode(again(), look) })
    }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

const inside = (edge: number) =>
  ({ width: edge, height: edge, fit: "inside", withoutEnlargement: true }) as const

/** One byte a cell, whatever channels came. */
const greyCells = ({
  data,
  info
}: {
  readonly data: Buffer
  readonly info: { readonly channels: number }
}): Uint8Array =>
  info.channels === 1
    ? Uint8Array.from(data)
    : Uint8Array.from(
        { length: data.length / info.channels },
        (_, i) => data[i * info.channels] ?? 0
      )

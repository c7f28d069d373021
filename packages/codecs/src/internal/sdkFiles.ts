import type { Block } from "@varve/core/Message"
import { imageOf } from "@varve/core/Message"
import type { Loose } from "./values.ts"
import { isRecord } from "./values.ts"

const isImageType = (mediaType: unknown): boolean =>
  typeof mediaType === "string" && (mediaType === "image" || mediaType.startsWith("image/"))

/** The parts of the AI SDK that hold a file, and the field that it is in. */
const FIELD: Readonly<Record<string, string>> = {
  image: "image",
  file: "data",
  media: "data",
  "file-data": "data",
  "image-data": "data",
  "file-url": "url",
  "image-url": "url"
}

const base64 = (bytes: Uint8Array): string => {
  let text = ""
  for (let i = 0; i < bytes.length; i += 0x8000)
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
  return btoa(text)
}

const SIGNATURES = [
  ["iVBOR", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"]
] as const

const sniffed = (data: string): string =>
  SIGNATURES.find(([start]) => data.startsWith(start))?.[1] ?? "image/png"

const made = (data: string, mediaType: unknown): Block =>
  Object.freeze({
    type: "image",
    data,
    mimeType: typeof mediaType === "string" && mediaType.includes("/") ? mediaType : sniffed(data)
  })

const linked = (url: string): Block =>
  Object.freeze({ type: "image_url", image_url: Object.freeze({ url }) }) as unknown as Block

/** An image as a block: a URL, base64 or bytes, of a type or of the one that its first bytes tell. */
export const blockOfData = (data: unknown, mediaType: unknown): Block | undefined => {
  if (data instanceof URL) return linked(data.href)
  if (typeof data === "string")
    return /^(data:|https?:)/.test(data) ? linked(data) : made(data, mediaType)
  if (data instanceof Uint8Array) return made(base64(data), mediaType)
  if (data instanceof ArrayBuffer) return made(base64(new Uint8Array(data)), mediaType)
  if (!isRecord(data)) return undefined
  if (data.type === "data") return blockOfData(data.data, mediaType)
  return data.type === "url" ? blockOfData(data.url, mediaType) : undefined
}

/**
 * The image that a part holds, as a block: bytes as base64, whatever they stand in. The part itself where
 * core reads it as it is; nothing where it holds no image, or only a name for one.
 */
export const imageBlock = (part: Loose): Block | undefined => {
  const type = part.type as string
  const field = FIELD[type]
  if (field === undefined) return undefined
  if (!type.startsWith("image") && !isImageType(part.mediaType)) return undefined
  const own = part as unknown as Block
  const image = imageOf(own)
  if (image !== undefined && (image.data === undefined || image.mimeType !== undefined)) return own
  return blockOfData(part[field], part.mediaType)
}

/** A part like another one, with the image of a block in it. */
export const imagePart = (block: Block, like: Loose): unknown => {
  const image = imageOf(block)
  const field = FIELD[like.type as string]
  if (image === undefined) return block
  if (image.data === undefined)
    return image.url === undefined ? block : { type: "image", image: image.url }
  const { data, mimeType: mediaType } = image
  if (String(like.type).startsWith("image-file-")) {
    const { fileId: _, providerReference: __, ...rest } = like
    return { ...rest, type: "image-data", data, mediaType }
  }
  if (field === undefined) return { type: "image", image: data, mediaType }
  if (field === "url") {
    const { url: _, ...rest } = like
    return { ...rest, type: "image-data", data, mediaType }
  }
  const tagged = isRecord(like[field]) && !ArrayBuffer.isView(like[field])
  const isTagged = tagged && typeof (like[field] as Loose).type === "string"
  return { ...like, [field]: isTagged ? { type: "data", data } : data, mediaType }
}

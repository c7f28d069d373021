import { readFileSync } from "node:fs"
import type { ImageBlock } from "../Message.ts"
import { fail, type Place } from "./json.ts"

/** The type by the first bytes: the names of some of these files lie (`.png` with a JPEG inside). */
const mimeType = (bytes: Buffer): string | undefined => {
  if (bytes.subarray(0, 4).toString("hex") === "89504e47") return "image/png"
  if (bytes.subarray(0, 3).toString("hex") === "ffd8ff") return "image/jpeg"
  return undefined
}

/** A PNG or JPEG file as an image block. */
export const imageFile = (file: string): ImageBlock => {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    return fail({ file }, "can't be read: is the image there?", cause)
  }
  const type = mimeType(bytes) ?? fail({ file }, "neither PNG nor JPEG by its first bytes")
  return { type: "image", data: bytes.toString("base64"), mimeType: type }
}

/** A `data:` URI with base64 as an image block. */
export const dataUri = (place: Place, uri: string, what: string): ImageBlock => {
  const head = /^data:([^;,]+);base64,/.exec(uri.slice(0, 128))
  if (head?.[1] === undefined) return fail(place, `${what} should be a data: URI with base64`)
  return { type: "image", data: uri.slice(head[0].length), mimeType: head[1] }
}

import type { Block, Message } from "@varve/core/Message"
import { blocksOf, imageOf, withImage } from "@varve/core/Message"
import { GREY } from "./grey.ts"
import { blockOfData } from "./sdkFiles.ts"
import type { Loose } from "./values.ts"
import { isRecord, without } from "./values.ts"

/** An image that the provider keeps. */
const stored = (id: unknown): Block =>
  Object.freeze({ type: "image", source: Object.freeze({ file_id: id }) }) as unknown as Block

/** The image of a part in a form that core reads: the part itself wherever that can be. */
const imageBlock = (part: Loose): Block | undefined => {
  const own = part as unknown as Block
  const image = imageOf(own)
  if (image !== undefined && (image.data === undefined || image.mimeType !== undefined)) return own
  if (part.type !== "image") return image === undefined ? undefined : own
  const { data, fileId, id, mimeType, mime_type: mime, source_type: source, url } = part
  const found = blockOfData(data ?? url, mimeType ?? mime)
  if (found !== undefined) return found
  const file = fileId ?? (source === "id" ? id : undefined)
  return typeof file === "string" ? stored(file) : undefined
}

/** A part of a message's content as a block; the part itself where it is one, or nothing that is known. */
export const blockOf = (part: Loose): Block => imageBlock(part) ?? (part as unknown as Block)

/** A part like another one, with an image that is not in the host's shape yet. */
const imagePart = (data: string, mimeType: string, like: Loose): unknown => {
  if (like.type === "image" && like.source_type !== undefined) {
    const rest = without(like, "url", "id")
    return { ...rest, source_type: "base64", data, mime_type: mimeType }
  }
  if (like.type === "image" && !isRecord(like.source))
    return { ...without(like, "url", "fileId"), data, mimeType }
  return imageOf(like) === undefined
    ? { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } }
    : withImage(like, { data, mimeType })
}

/** A new block in LangChain's shape, in the place of a part whose cache mark it may carry. */
export const partOf = (block: Block, like: unknown, carriesMark: boolean): unknown => {
  const from = isRecord(like) ? like : {}
  if (block.type === "text") {
    const hint =
      carriesMark && from.cache_control != null ? { cache_control: from.cache_control } : {}
    return { type: "text", text: block.text, ...hint }
  }
  const image = imageOf(block)
  return image?.data === undefined || image.mimeType === undefined
    ? block
    : imagePart(image.data, image.mimeType, from)
}

/** True for the result of OpenAI's computer tool, which has to hold a picture. */
const isComputer = ({ additional_kwargs: kwargs }: Loose): boolean =>
  isRecord(kwargs) && kwargs.type === "computer_call_output"

const isPicture = (part: unknown): part is Loose => isRecord(part) && imageOf(part) !== undefined

/** The picture of a computer's result; nothing for any other. */
export const pictureOf = (host: Loose): Block | undefined => {
  if (!isComputer(host)) return undefined
  const { content } = host
  if (typeof content === "string")
    return Object.freeze({ type: "input_image", image_url: content }) as unknown as Block
  const found = Array.isArray(content) ? content.find(isPicture) : undefined
  return found === undefined ? undefined : blockOf(found)
}

/** The content of a computer's result with another picture; a grey one where it has left. */
export const withPicture = ({ content }: Loose, after: Message): unknown => {
  const block = blocksOf(after).find(isPicture)
  const image = block === undefined ? undefined : imageOf(block)
  const url =
    image === undefined
      ? GREY
      : image.data === undefined
        ? image.url
        : `data:${image.mimeType};base64,${image.data}`
  return typeof content === "string" ? url : [{ type: "input_image", image_url: url }]
}

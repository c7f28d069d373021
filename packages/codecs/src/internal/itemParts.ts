import type { Block } from "@varve/core/Message"
import { imageOf } from "@varve/core/Message"
import type { Loose } from "./values.ts"
import { isRecord, textBlock } from "./values.ts"

/** A part of a message item as a block. */
export const partBlock = (part: unknown): Block => {
  const isText =
    isRecord(part) &&
    (part.type === "input_text" || part.type === "output_text" || part.type === "text") &&
    typeof part.text === "string"
  return isText ? textBlock(part.text as string) : (part as Block)
}

/** A new block as a part that is given to the model, in the place of a part whose mark it may carry. */
export const inputPart = (block: Block, like: unknown, carriesMark = false): unknown => {
  const from: Loose = isRecord(like) ? like : {}
  const hint =
    !carriesMark || from.prompt_cache_breakpoint == null
      ? {}
      : { prompt_cache_breakpoint: from.prompt_cache_breakpoint }
  if (block.type === "text") return { type: "input_text", text: block.text, ...hint }
  const image = imageOf(block)
  if (image === undefined || (block.type as string) === "input_image") return block
  const image_url =
    image.data === undefined ? image.url : `data:${image.mimeType};base64,${image.data}`
  return { type: "input_image", image_url, detail: image.detail ?? "auto", ...hint }
}

/** A new block as a part of what the model said; an image can't stand there. */
export const outputPart = (block: Block): unknown =>
  block.type === "text" ? { type: "output_text", text: block.text, annotations: [] } : block

import { readImageSize } from "../ImageSize.ts"
import type { Block, Message } from "../Message.ts"
import { imageOf, visitBlocks } from "../Message.ts"
import type { Redact } from "../Redact.ts"
import type { Material } from "../Summarizer.ts"
import { mapTexts } from "./redact.ts"

/** Runs of base64's characters from this length on are data, not words. */
const RUN = 256

const isCode = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) ||
  (unit >= 65 && unit <= 90) ||
  (unit >= 47 && unit <= 57) ||
  unit === 43 ||
  unit === 45 ||
  unit === 95

/**
 * A text without base64: what was there is said with its length. A loop, since a regular expression
 * overflows the stack on a run of some megabytes.
 */
export const withoutBase64 = (text: string): string => {
  let out = ""
  let kept = 0
  let start = 0
  for (let i = 0; i <= text.length; i++) {
    if (i < text.length && isCode(text.charCodeAt(i))) continue
    if (i - start >= RUN) {
      out += `${text.slice(kept, start)}[${i - start} characters of data]`
      kept = i
    }
    start = i + 1
  }
  return kept === 0 ? text : out + text.slice(kept)
}

const same: Redact = (text) => text

/**
 * A value as JSON without base64; what is no JSON is left out. Each of its texts is redacted before it becomes
 * JSON, where quotes, backslashes and line breaks have other characters.
 */
export const jsonText = (value: unknown, redact: Redact = same): string => {
  try {
    const json = JSON.stringify(value) ?? ""
    if (redact === same || json === "") return withoutBase64(json)
    return withoutBase64(JSON.stringify(mapTexts(JSON.parse(json), redact)))
  } catch {
    return "[not JSON]"
  }
}

const blockText = (block: Block, redact: Redact): string => {
  const image = imageOf(block)
  if (image !== undefined) {
    const size = image.data === undefined ? undefined : readImageSize(image.data)
    return size === undefined ? "[image]" : `[image ${size.width}x${size.height}]`
  }
  if (block.type === "text")
    return typeof block.text === "string" ? withoutBase64(redact(block.text)) : ""
  if (block.type === "toolCall")
    return `[call of ${String(block.name)} with ${jsonText(block.arguments, redact)}]`
  return ""
}

const from = (message: Message): string => {
  if (message.role !== "toolResult") return message.role
  return `tool ${message.toolName}${message.isError ? " (error)" : ""}`
}

/**
 * Messages as material for a summary: texts, tool calls with their arguments, images as placeholders with
 * their size. Reasoning is left out, and so is base64 wherever it stands, and what `redact` takes out.
 */
export const materialOf = (
  messages: ReadonlyArray<Message>,
  redact: Redact = same
): Array<Material> => {
  const material: Array<Material> = []
  for (const message of messages) {
    const parts: Array<string> = []
    const { content } = message
    if (typeof content === "string") parts.push(withoutBase64(redact(content)))
    else visitBlocks(message, (block) => parts.push(blockText(block, redact)))
    const text = parts.filter((part) => part.trim() !== "").join("\n")
    // Once more, for what stands in several blocks.
    if (text !== "") material.push({ from: from(message), text: redact(text).toWellFormed() })
  }
  return material
}

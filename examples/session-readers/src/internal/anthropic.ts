import type { Block } from "../Message.ts"
import { defined } from "./Builder.ts"
import { isObject, type Json, type Place, string } from "./json.ts"

/** A block of an Anthropic message. Those of other types (server tools) pass through as they are. */
export const block = (place: Place, from: Json): Block => {
  const text = (value: unknown, what: string) => string(place, value, `${what} of a block`)
  if (from.type === "text") return { type: "text", text: text(from.text, "text") }
  if (from.type === "thinking") {
    const signature = from.signature === undefined ? undefined : text(from.signature, "signature")
    const thinking = text(from.thinking, "thinking")
    return defined({ type: "thinking" as const, thinking, thinkingSignature: signature })
  }
  if (from.type === "redacted_thinking") {
    const data = text(from.data, "data")
    return { type: "thinking", thinking: "", thinkingSignature: data, redacted: true }
  }
  if (from.type === "tool_use") {
    return {
      type: "toolCall",
      id: text(from.id, "id"),
      name: text(from.name, "name"),
      arguments: from.input
    }
  }
  if (from.type === "image" && isObject(from.source) && from.source.type === "base64") {
    const { data, media_type } = from.source
    return {
      type: "image",
      data: text(data, "source.data"),
      mimeType: text(media_type, "source.media_type")
    }
  }
  return from as unknown as Block
}

/** Splits a user message: in the neutral shape each of its results is a message of its own. */
export const split = (blocks: ReadonlyArray<Json>) => ({
  results: blocks.filter(({ type }) => type === "tool_result"),
  others: blocks.filter(({ type }) => type !== "tool_result")
})

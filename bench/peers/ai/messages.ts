// The AI SDK's model messages beside ours; Mastra's prompts have the same shape.
import type { Block, Message } from "@varve/core"
import { blocksOf, pairs } from "../../src/peers/Pairs.ts"

/** `taskAsSystem`: the first message goes as the system message, where a peer keeps only that. */
export const shapes = (taskAsSystem = false) => {
  const parts = new WeakMap<object, Block>()
  const keep = <P extends object>(part: P, block: Block): P => {
    parts.set(part, block)
    return part
  }
  const { pair, write } = pairs<any>((m): Message => {
    const content = m.content.map((part: any) => parts.get(part) ?? part)
    return m.role === "tool"
      ? { role: "toolResult", toolCallId: "", toolName: "", isError: false, content }
      : { role: m.role, content }
  })
  let seen = 0
  const one = (message: Message): any => {
    const isFirst = seen++ === 0
    const blocks = blocksOf(message.content)
    if (message.role === "toolResult") {
      const value = blocks.map((block) =>
        block.type === "image"
          ? { type: "image-data", data: block.data, mediaType: block.mimeType }
          : block
      )
      const { toolCallId, toolName } = message
      const output = { type: "content", value }
      return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
    }
    if (message.role === "system" || (taskAsSystem && isFirst)) {
      const text = blocks.map((b) => (b.type === "text" ? b.text : "")).join("\n")
      return { role: "system", content: text }
    }
    const content = blocks.map((block) => {
      switch (block.type) {
        case "toolCall": {
          const { id: toolCallId, name: toolName, arguments: input } = block
          return keep({ type: "tool-call", toolCallId, toolName, input }, block)
        }
        case "thinking":
          return keep({ type: "reasoning", text: block.thinking }, block)
        case "image":
          return keep({ type: "file", data: block.data, mediaType: block.mimeType }, block)
        default:
          return keep({ ...block }, block)
      }
    })
    return { role: message.role === "assistant" ? "assistant" : "user", content }
  }
  return {
    read: (fresh: ReadonlyArray<Message>): ReadonlyArray<any> => fresh.map((m) => pair(one(m), m)),
    // A message from which all was kept is new, and as it was.
    write: (sent: ReadonlyArray<any>): ReadonlyArray<Message> => write(sent)
  }
}

import {
  ImageBlock,
  Message,
  ReasoningBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock
} from "@strands-agents/sdk"
import type { Block, Message as Ours } from "@varve/core"
import { blocksOf, pairs, withResultsJoined } from "../../src/peers/Pairs.ts"

const content = (block: Block): any => {
  switch (block.type) {
    case "toolCall": {
      const { id: toolUseId, name, arguments: input } = block
      return new ToolUseBlock({ toolUseId, name, input } as any)
    }
    case "thinking":
      return new ReasoningBlock({ text: block.thinking })
    case "image":
      // Its blocks hold bytes. The figures don't look at them, so few are enough.
      return new ImageBlock({ format: "png", source: { bytes: new Uint8Array(8) } })
    default:
      return new TextBlock(String((block as { text?: unknown }).text ?? ""))
  }
}

const back = (blocks: ReadonlyArray<any>): Array<Block> =>
  blocks.flatMap((b) => (b.type === "textBlock" ? [{ type: "text" as const, text: b.text }] : []))

/** Messages of Strands beside ours: results in a row are one message of the user. */
export const shapes = () => {
  const { pair, write } = pairs<Message>((m): Ours => {
    const result: any = m.content.find((b) => b.type === "toolResultBlock")
    if (result !== undefined)
      return {
        role: "toolResult",
        toolCallId: result.toolUseId,
        toolName: "",
        isError: result.status === "error",
        content: back(result.content)
      }
    return { role: m.role, content: back(m.content) }
  })
  const one = (group: ReadonlyArray<Ours>): Message => {
    const [first] = group
    if (first?.role === "toolResult") {
      const results = group.map((m) =>
        m.role === "toolResult"
          ? new ToolResultBlock({
              toolUseId: m.toolCallId,
              status: m.isError ? "error" : "success",
              content: blocksOf(m.content).map(content)
            })
          : content({ type: "text", text: "" })
      )
      return new Message({ role: "user", content: results })
    }
    const role = first?.role === "assistant" ? "assistant" : "user"
    return new Message({ role, content: blocksOf(first?.content ?? "").map(content) })
  }
  return {
    read: (fresh: ReadonlyArray<Ours>) =>
      withResultsJoined(fresh).map((group) => pair(one(group), ...group)),
    write
  }
}

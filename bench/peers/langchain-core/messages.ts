// LangChain's messages beside ours. The package is that of the folder that calls.
import type { Message } from "@varve/core"
import { blocksOf, pairs, textIn } from "../../src/peers/Pairs.ts"

/** The classes of `@langchain/core/messages`, as the caller has them. */
export interface Classes {
  readonly AIMessage: any
  readonly HumanMessage: any
  readonly SystemMessage: any
  readonly ToolMessage: any
}

const contentOf = (content: Message["content"]): unknown => {
  const blocks = blocksOf(content)
  if (blocks.every(({ type }) => type === "text")) return textIn(blocks)
  return blocks.flatMap((block) =>
    block.type === "image"
      ? [{ type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } }]
      : block.type === "toolCall"
        ? []
        : [block]
  )
}

const partsBack = (content: unknown): any =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** `taskAsSystem`: the first message goes as the system message, where a peer keeps only that. */
export const shapes = (classes: Classes, taskAsSystem = false) => {
  const { AIMessage, HumanMessage, SystemMessage, ToolMessage } = classes
  const { pair, write } = pairs<any>((m) =>
    ToolMessage.isInstance(m)
      ? {
          role: "toolResult",
          toolCallId: m.tool_call_id,
          toolName: m.name ?? "",
          isError: m.status === "error",
          content: partsBack(m.content)
        }
      : AIMessage.isInstance(m)
        ? { role: "assistant", content: partsBack(m.content) }
        : { role: "user", content: partsBack(m.content) }
  )
  /** Some of its functions copy messages: the same id and the same content is the same message. */
  const byId = new Map<string, { readonly content: unknown; readonly ours: Message }>()
  let seen = 0
  const one = (message: Message): any => {
    const content = contentOf(message.content)
    const id = `m${seen++}`
    if (message.role === "assistant") {
      const calls = blocksOf(message.content).flatMap((block) =>
        block.type === "toolCall"
          ? [{ type: "tool_call", id: block.id, name: block.name, args: block.arguments }]
          : []
      )
      return new AIMessage({ id, content, tool_calls: calls })
    }
    if (message.role === "toolResult") {
      const { toolCallId: tool_call_id, toolName: name } = message
      return new ToolMessage({ id, content, tool_call_id, name })
    }
    const isSystem = message.role === "system" || (taskAsSystem && id === "m0")
    return isSystem ? new SystemMessage({ id, content }) : new HumanMessage({ id, content })
  }
  return {
    read: (fresh: ReadonlyArray<Message>) =>
      fresh.map((m) => {
        const theirs = pair(one(m), m)
        byId.set(theirs.id, { content: theirs.content, ours: m })
        return theirs
      }),
    write: (sent: ReadonlyArray<any>) =>
      sent.flatMap((m) => {
        const known = byId.get(m.id)
        return known !== undefined && known.content === m.content ? [known.ours] : write([m])
      })
  }
}

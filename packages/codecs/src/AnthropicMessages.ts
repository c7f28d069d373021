import type { Block } from "@varve/core/Message"
import { blocksOf, imageOf, nestedOf } from "@varve/core/Message"
import type { Codec } from "./Codec.ts"
import { marksOf } from "./internal/lifetimes.ts"
import { makeCodec } from "./internal/makeCodec.ts"
import type { PartResult, PartShape } from "./internal/parts.ts"
import { readParts, writeParts } from "./internal/parts.ts"
import type { Shape } from "./internal/Shape.ts"
import type { LinkOf } from "./internal/together.ts"
import { together } from "./internal/together.ts"
import type { Loose } from "./internal/values.ts"
import { asObject, isRecord, jsonText, without } from "./internal/values.ts"

/** A message of Anthropic's Messages API, read structurally. */
export interface AnthropicMessage {
  readonly role: string
  readonly content: string | ReadonlyArray<unknown>
}

const NONE: ReadonlyArray<never> = []

const blockOf = (part: Loose): Block => {
  if (part.type === "tool_use") {
    const { id, input, name } = part
    return Object.freeze({ type: "toolCall", id, name, arguments: input }) as Block
  }
  if (part.type === "redacted_thinking") {
    const signature = typeof part.data === "string" ? { thinkingSignature: part.data } : {}
    return Object.freeze({ type: "thinking", thinking: "", ...signature, redacted: true })
  }
  return part as unknown as Block
}

const resultOf = (part: Loose): PartResult | undefined => {
  if (part.type !== "tool_result") return undefined
  const { content, is_error: failed, tool_use_id: id } = part
  const text = content === undefined || content === null ? "" : jsonText(content)
  return {
    id,
    name: part.name,
    content: Array.isArray(content) ? content.map((c) => (isRecord(c) ? blockOf(c) : c)) : text,
    from: Array.isArray(content) ? content : NONE,
    isError: failed === true
  }
}

const imagePart = (block: Block): unknown => {
  const image = imageOf(block)
  if (image === undefined || isRecord((block as unknown as Loose).source)) return block
  const source =
    image.data === undefined
      ? { type: "url", url: image.url }
      : { type: "base64", media_type: image.mimeType, data: image.data }
  return { type: "image", source }
}

const partOf = (block: Block, like: unknown, carriesMark: boolean): unknown => {
  const from = isRecord(like) ? like : {}
  const hint =
    carriesMark && from.cache_control != null && from.role === undefined
      ? { cache_control: from.cache_control }
      : {}
  if (block.type === "text") return { type: "text", text: block.text, ...hint }
  if (block.type === "toolCall") {
    const input = asObject(block.arguments)
    return from.type === "tool_use"
      ? { ...from, input }
      : { type: "tool_use", id: block.id, name: block.name, input }
  }
  if (imageOf(block) !== undefined) return { ...(imagePart(block) as Loose), ...hint }
  const nested = nestedOf(block as unknown as Loose)
  return nested === undefined ? block : { ...block, content: nested.map(nestedPart) }
}

/** A block inside a block that was edited there. */
const nestedPart = (block: unknown): unknown =>
  isRecord(block) && typeof block.data === "string" && block.type === "image"
    ? imagePart(block as unknown as Block)
    : block

const withContent: PartShape["withContent"] = (part, content, edited) => {
  if (!edited) return part
  if (content.length > 0) return { ...part, content }
  const { content: _, ...rest } = part
  return rest
}

/** Server-side tools: a result ends its call, a call made by code speaks of the code. */
const linkOf: LinkOf = (part, role) => {
  const { caller, id, tool_use_id: ended, type } = part
  if (type === "server_tool_use" || type === "mcp_tool_use") return { opens: id }
  if (type !== "tool_result" && typeof ended === "string") return { closes: ended }
  return role === "assistant" && isRecord(caller) && caller.tool_id !== undefined
    ? { refers: caller.tool_id }
    : undefined
}

const isResult = (part: unknown): part is Loose => isRecord(part) && part.type === "tool_result"

const hasResult = ({ content }: Loose): boolean => Array.isArray(content) && content.some(isResult)

const isReasoning = ({ type }: Loose): boolean =>
  type === "thinking" || type === "redacted_thinking"

const mayCarryMark = (part: unknown): part is Loose =>
  isRecord(part) &&
  !isReasoning(part) &&
  !(part.type === "text" && (typeof part.text !== "string" || part.text.trim() === ""))

const mark: Shape["mark"] = (host, message, made) => {
  const { content } = host
  // Answers and results may be read together.
  if ((host.role === "assistant") !== (message.role === "assistant")) return undefined
  if (typeof content === "string") {
    return content.trim() === "" || message.role === "toolResult"
      ? undefined
      : { ...host, content: [{ type: "text", text: content, cache_control: made([]) }] }
  }
  if (!Array.isArray(content)) return undefined
  const parts = content as ReadonlyArray<unknown>
  const at = parts.findLastIndex((part) =>
    message.role === "toolResult"
      ? isResult(part) && part.tool_use_id === message.toolCallId
      : mayCarryMark(part) && (message.role !== "user" || !isResult(part))
  )
  const part = parts[at]
  if (!isRecord(part)) return undefined
  // One inside of it does: which of the two the provider takes for the earlier is not documented.
  if (marksOf(part).length > 0) return host
  const now = { ...part, cache_control: made(marksOf({ content: parts.slice(at + 1) })) }
  return { ...host, content: parts.with(at, now) }
}

const unmark: Shape["unmark"] = (host, message) => {
  const { content } = host
  if (message.role !== "toolResult" || !Array.isArray(content)) return undefined
  const at = content.findIndex(
    (part) =>
      isResult(part) && part.tool_use_id === message.toolCallId && part.cache_control != null
  )
  if (at < 0) return undefined
  const part = content[at] as Loose
  const now = { ...host, content: content.with(at, without(part, "cache_control")) }
  return [now, part.cache_control]
}

const compose: Shape["compose"] = (message) => {
  if (message.role === "toolResult") {
    const content =
      typeof message.content === "string"
        ? message.content
        : blocksOf(message).map((block) => partOf(block, undefined, false))
    const result = {
      type: "tool_result",
      tool_use_id: message.toolCallId,
      ...(content.length === 0 ? {} : { content }),
      ...(message.isError ? { is_error: true } : {})
    }
    return [{ role: "user", content: [result] }]
  }
  if (typeof message.content === "string") return [{ role: message.role, content: message.content }]
  const content = blocksOf(message).flatMap((block) => {
    if (block.type !== "thinking") return [partOf(block, undefined, false)]
    const { thinking, thinkingSignature: signature } = block
    if (signature === undefined) return []
    return block.redacted === true
      ? [{ type: "redacted_thinking", data: signature }]
      : [{ type: "thinking", thinking, signature }]
  })
  return [{ role: message.role, content }]
}

/** Results of one turn stand in one message: a result of ours joins those that are there. */
const append: Shape["append"] = (out, made, message) => {
  const last = out.at(-1)
  if (
    message.role !== "toolResult" ||
    !isRecord(last) ||
    last.role !== "user" ||
    !hasResult(last)
  ) {
    out.push(made)
    return
  }
  const parts = last.content as ReadonlyArray<unknown>
  const at = parts.findLastIndex(isResult) + 1
  out[out.length - 1] = {
    ...last,
    content: parts.toSpliced(at, 0, ...(made.content as ReadonlyArray<unknown>))
  }
}

const parts: PartShape = {
  blockOf,
  resultOf,
  rides: () => false,
  partOf,
  withContent,
  linkOf,
  isReasoning
}

/**
 * Anthropic's Messages API: `messages` of a request, and what came back as `{ role, content }`.
 *
 * Each `tool_result` is a result of its own and goes back into the user message that it came from. What a
 * server-side tool does over several messages (a paused turn, calls made by code) is one group. Signatures
 * are byte-exact or gone. Cache marks are `cache_control`, four in a request with those of system text and
 * tools (provider's documentation, 2026-08). One that is set lives as long as the longest-lived of yours behind
 * it: a longer one behind a shorter is refused.
 *
 * @example
 * ```ts
 * import { anthropicMessages } from "@varve/codecs/AnthropicMessages"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [] })
 * const history = [{ role: "user", content: "Hello" }]
 * const { messages } = await anthropicMessages.prepare(memory, history, { system: "Be brief." })
 * console.log(messages[0] === history[0]) // => true
 * ```
 */
export const anthropicMessages: Codec<AnthropicMessage> = makeCodec({
  name: "anthropic-messages",
  marks: 4,
  extent: (host, at) =>
    together(host, at, linkOf, (message) => message.role !== "assistant" && !hasResult(message)),
  read: (host, names) => readParts(parts, host, names),
  write: (segment, messages) => writeParts(parts, segment, messages),
  compose,
  append,
  mark,
  unmark,
  marksOf
})

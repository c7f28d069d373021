import type { Message } from "@varve/core/Message"
import { blocksOf, withoutRoom } from "@varve/core/Message"
import type { Codec } from "./Codec.ts"
import { changes, written } from "./internal/changes.ts"
import { readAnswer, writeAnswer } from "./internal/langChainAnswers.ts"
import { classed, typeOf, withFields } from "./internal/langChainClasses.ts"
import { blockOf, partOf, pictureOf, withPicture } from "./internal/langChainParts.ts"
import { marksOf } from "./internal/lifetimes.ts"
import { makeCodec } from "./internal/makeCodec.ts"
import type { Read, Shape } from "./internal/Shape.ts"
import { placeOf } from "./internal/Shape.ts"
import type { Loose } from "./internal/values.ts"
import { asObject, isRecord, joined, jsonText, resultMessage } from "./internal/values.ts"

/** A message of LangChain: an instance of one of its classes, or what LangChain makes one of. Read structurally. */
export interface LangChainMessage {
  readonly content?: unknown
  readonly type?: unknown
  readonly role?: unknown
}

const ROLES: Readonly<Record<string, Message["role"]>> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  tool: "toolResult",
  system: "system",
  developer: "system"
}

const hasContent = ({ content }: Loose): boolean =>
  typeof content === "string" || Array.isArray(content)

const roleOf = (host: Loose): Message["role"] | undefined =>
  hasContent(host) ? ROLES[typeOf(host)] : undefined

const isTool = (host: unknown): host is Loose => isRecord(host) && roleOf(host) === "toolResult"

const named = ({ id }: Loose): object => (typeof id === "string" ? { id } : {})

/** Calls that LangChain has no arguments for, or only in the form of a provider: they count where they have results. */
const mayHaveMore = ({ additional_kwargs: kwargs, invalid_tool_calls: invalid }: Loose): boolean =>
  (Array.isArray(invalid) && invalid.length > 0) ||
  (isRecord(kwargs) && Array.isArray(kwargs.tool_calls))

const readOne = (
  host: Loose,
  nameOf: (id: unknown) => string,
  results: ReadonlySet<unknown>
): Read => {
  const role = roleOf(host)
  const { content } = host
  if (role === "assistant") return readAnswer(host, named(host), results)
  const picture = role === "toolResult" ? pictureOf(host) : undefined
  if (picture !== undefined) {
    const { tool_call_id: id } = host
    const message = { ...resultMessage(id, nameOf(id), [picture], false), ...named(host) }
    return { message: withoutRoom(message), from: [host] }
  }
  const from = Array.isArray(content) ? (content as ReadonlyArray<unknown>) : []
  const blocks = Array.isArray(content)
    ? from.map((part) => (isRecord(part) ? blockOf(part) : part))
    : content
  if (role === "toolResult") {
    const { name, status, tool_call_id: id } = host
    const tool = typeof name === "string" ? name : nameOf(id)
    const read = resultMessage(id, tool, blocks as string, status === "error")
    return { message: { ...read, ...named(host) }, from }
  }
  const message = { role: role ?? typeOf(host), content: blocks, ...named(host) }
  return { message: message as unknown as Message, from }
}

const read: Shape["read"] = (host, names) => {
  const results = new Set(host.slice(1).map(({ tool_call_id: id }) => id))
  const [answer, ...rest] = host.map((message) => message)
  if (answer === undefined) return []
  const first = readOne(answer, (id) => names(String(id)) ?? "unknown", results)
  const called = new Map(
    blocksOf(first.message).flatMap((b) => (b?.type === "toolCall" ? [[b.id, b.name]] : []))
  )
  const nameOf = (id: unknown): string => called.get(String(id)) ?? names(String(id)) ?? "unknown"
  return [first, ...rest.map((message) => readOne(message, nameOf, results))]
}

/** Content with other blocks in it: a text stays a text as long as it is nothing else. */
const contentNow = (before: Message, after: Message, from: ReadonlyArray<unknown>): unknown => {
  if (typeof after.content === "string") return after.content
  if (typeof before.content === "string") {
    const blocks = blocksOf(after)
    return blocks.every((b) => b?.type === "text")
      ? joined(blocks)
      : blocks.map((b) => partOf(b, {}, false))
  }
  const was = blocksOf(before)
  const parts = changes(before, after).flatMap((blocks, i) =>
    written(blocks, was[i], from[i], partOf)
  )
  return parts.length === 0 ? "" : parts
}

const write: Shape["write"] = (segment, messages) =>
  messages.flatMap((after): ReadonlyArray<Loose> => {
    const { index } = placeOf(after)!
    const host = segment.host[index]!
    const before = segment.messages[index]!
    const { from } = segment.reads[index]!
    if (after === before) return [host]
    if (after.role === "assistant") return writeAnswer(host, before, after, from)
    const content = from[0] === host ? withPicture(host, after) : contentNow(before, after, from)
    return [withFields(host, { content })]
  })

const compose: Shape["compose"] = (message) => {
  const blocks = blocksOf(message)
  const content =
    typeof message.content === "string"
      ? message.content
      : blocks.every((block) => block?.type === "text")
        ? joined(blocks)
        : blocks
            .filter((block) => block.type !== "thinking" && block.type !== "toolCall")
            .map((block) => partOf(block, {}, false))
  if (message.role === "toolResult") {
    const { isError, toolCallId, toolName } = message
    const status = isError ? { status: "error" } : {}
    return [{ role: "tool", content, tool_call_id: toolCallId, name: toolName, ...status }]
  }
  const calls = blocks.flatMap((block) =>
    block?.type === "toolCall"
      ? [{ type: "tool_call", id: block.id, name: block.name, args: asObject(block.arguments) }]
      : []
  )
  return [{ role: message.role, content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }]
}

const REASONING = /^(?:redacted_)?thinking$|^reasoning/

const mayCarryMark = (part: unknown): part is Loose =>
  isRecord(part) &&
  !REASONING.test(String(part.type)) &&
  !(part.type === "text" && jsonText(part.text).trim() === "")

const mark: Shape["mark"] = (host, message, made) => {
  const { content } = host
  // An answer and its results may be read together.
  if ((roleOf(host) ?? typeOf(host)) !== message.role) return undefined
  if (message.role === "toolResult" && host.tool_call_id !== message.toolCallId) return undefined
  if (typeof content === "string")
    return content.trim() === ""
      ? undefined
      : withFields(host, { content: [{ type: "text", text: content, cache_control: made([]) }] })
  if (!Array.isArray(content)) return undefined
  const parts = content as ReadonlyArray<unknown>
  const at = parts.findLastIndex(mayCarryMark)
  const part = parts[at]
  if (!isRecord(part)) return undefined
  // One inside of it does: which of the two the provider takes for the earlier is not documented.
  if (marksOf(part).length > 0) return host
  const now = { ...part, cache_control: made(marksOf({ content: parts.slice(at + 1) })) }
  return withFields(host, { content: parts.with(at, now) })
}

/** An answer with calls that only their results tell of is read together with these. */
const extent: Shape["extent"] = (host, at) => {
  const first = host[at]
  let end = at + 1
  if (isRecord(first) && roleOf(first) === "assistant" && mayHaveMore(first))
    while (isTool(host[end])) end++
  return end - at
}

/**
 * LangChain's messages, as `createAgent` keeps them: instances of its classes, and the plain objects
 * (`{ role, content }`) that it makes them of.
 *
 * A message that is edited is a copy of the same class, with all of its fields; LangChain itself is not
 * imported. An answer's call stands in `tool_calls`, in its content or in both, and is edited in all places.
 * `invalid_tool_calls` count as calls where they have a result. What the Responses API has stored of an
 * answer (`response_metadata.output`) leaves with an edit, since it would be sent in its place. Cache marks
 * are Anthropic's `cache_control`, four in a request; one that is set lives as long as the longest-lived of
 * yours behind it. Serialized messages (`{ lc, kwargs }`,
 * `{ type, data }`) pass through in place, unread: revive them first.
 *
 * @example
 * ```ts
 * import { langChain } from "@varve/codecs/LangChain"
 * import { HumanMessage } from "@langchain/core/messages"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [] })
 * const history = [new HumanMessage("Hello")]
 * const { messages } = await langChain.prepare(memory, history, { system: "Be brief." })
 * console.log(messages[0] === history[0]) // => true
 * ```
 */
export const langChain: Codec<LangChainMessage> = makeCodec({
  name: "langchain",
  marks: 4,
  extent,
  read,
  write,
  compose,
  finish: classed,
  mark,
  marksOf
})

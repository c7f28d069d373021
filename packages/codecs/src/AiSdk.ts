import type { Block } from "@varve/core/Message"
import { blocksOf, imageOf, isTail, nestedOf } from "@varve/core/Message"
import type { Codec } from "./Codec.ts"
import { makeCodec } from "./internal/makeCodec.ts"
import type { PartResult, PartShape } from "./internal/parts.ts"
import { readParts, writeParts } from "./internal/parts.ts"
import { imageBlock, imagePart } from "./internal/sdkFiles.ts"
import type { Shape } from "./internal/Shape.ts"
import type { LinkOf } from "./internal/together.ts"
import { together } from "./internal/together.ts"
import type { Loose } from "./internal/values.ts"
import { isRecord, joined, jsonText, without } from "./internal/values.ts"

/** A `ModelMessage` of the AI SDK 5, 6 or 7, read structurally. */
export interface AiSdkMessage {
  readonly role: string
  readonly content: string | ReadonlyArray<unknown>
}

const NONE: ReadonlyArray<never> = []

const blockOf = (part: Loose): Block => {
  const { type } = part
  if (type === "reasoning" || type === "reasoning-file") {
    const thinking = typeof part.text === "string" ? part.text : ""
    return Object.freeze({ type: "thinking", thinking })
  }
  if (type === "tool-call" && part.providerExecuted !== true) {
    const { input, toolCallId: id, toolName: name } = part
    return Object.freeze({ type: "toolCall", id, name, arguments: input }) as Block
  }
  return imageBlock(part) ?? (part as unknown as Block)
}

const isError = (type: unknown): boolean =>
  type === "error-text" || type === "error-json" || type === "execution-denied"

const resultOf = (part: Loose): PartResult | undefined => {
  if (part.type !== "tool-result") return undefined
  const { output, toolCallId: id, toolName: name } = part
  const { reason, type, value } = isRecord(output) ? output : { value: output }
  if (type === "content" && Array.isArray(value)) {
    const content = value.map((v) => (isRecord(v) ? blockOf(v) : v))
    return { id, name, content, from: value, isError: false }
  }
  const content = jsonText(type === "execution-denied" ? (reason ?? "") : (value ?? ""))
  return { id, name, content, from: NONE, isError: isError(type) }
}

const withContent: PartShape["withContent"] = (part, content, edited) => {
  if (!edited) return part
  const output = isRecord(part.output) ? part.output : {}
  if (Array.isArray(content) && output.type === "content")
    return { ...part, output: { ...output, value: content } }
  const text = typeof content === "string" ? content : joined(content)
  if (output.type === "execution-denied") return { ...part, output: { ...output, reason: text } }
  const type = isError(output.type) ? "error-text" : "text"
  return { ...part, output: { ...output, type, value: text } }
}

/** The provider's own options of a part without what binds it to a stored item. */
const unbound = (part: Loose): Loose => {
  const { providerOptions } = part
  if (!isRecord(providerOptions) || itemOf(part) === undefined) return part
  const left = Object.entries(providerOptions).map(
    ([name, options]) => [name, isRecord(options) ? without(options, "itemId") : options] as const
  )
  return { ...part, providerOptions: Object.fromEntries(left) }
}

/** The id of the item that a provider has stored for a part (OpenAI). */
const itemOf = ({ providerOptions }: Loose): unknown =>
  isRecord(providerOptions)
    ? Object.values(providerOptions).find((o): o is Loose => isRecord(o) && o.itemId != null)
        ?.itemId
    : undefined

const partOf = (block: Block, like: unknown, carriesMark: boolean): unknown => {
  const from = isRecord(like) && like.role === undefined ? like : {}
  const kept =
    carriesMark && from.providerOptions !== undefined ? unbound(from).providerOptions : undefined
  const hint = kept === undefined ? {} : { providerOptions: kept }
  if (block.type === "text") return { type: "text", text: block.text, ...hint }
  if (block.type === "thinking") return { type: "reasoning", text: block.thinking }
  if (block.type === "toolCall") {
    const input = block.arguments
    return from.type === "tool-call"
      ? { ...from, input }
      : { type: "tool-call", toolCallId: block.id, toolName: block.name, input }
  }
  if (imageOf(block) !== undefined) return imagePart(block, from)
  const nested = nestedOf(block as unknown as Loose)
  if (nested === undefined || !isRecord(like)) return block
  const was = nestedOf(like) ?? []
  const value = nested.map((b, i) =>
    isRecord(b) && !was.includes(b) ? partOf(b as unknown as Block, was[i], true) : b
  )
  return { ...like, output: { ...(like.output as Loose), value } }
}

const APPROVAL = "tool-approval-response"

/** Approvals, and tools that the provider runs: a later part ends what an earlier one began. */
const linkOf: LinkOf = ({ approvalId, providerExecuted, toolCallId, type }, role) => {
  if (type === "tool-approval-request") return { opens: approvalId }
  if (type === APPROVAL) return { closes: approvalId }
  if (type === "tool-call" && providerExecuted === true) return { opens: toolCallId }
  return type === "tool-result" && role === "assistant" ? { closes: toolCallId } : undefined
}

/**
 * A tool message holds results and approvals alone. Where a provider has stored items, an edit to one of an
 * answer would be ignored or leave its reasoning alone: the reasoning goes, what stays is sent in full.
 */
const settle: PartShape["settle"] = (now, before) => {
  const isBound = (part: unknown): boolean => isRecord(part) && itemOf(part) !== undefined
  const { content } = now
  if (!Array.isArray(content)) return now
  if (now.role === "tool") return { ...now, content: content.filter(isOfTool) }
  if (now.role !== "assistant" || ![before.content].flat().some(isBound)) return now
  const left = content.filter((part) => !(isBound(part) && isReasoning(part as Loose)))
  const full = left.map((part) => (isRecord(part) ? unbound(part) : part))
  return { ...now, content: full }
}

const isOfTool = (part: unknown): boolean =>
  isRecord(part) && (part.type === "tool-result" || part.type === APPROVAL)

const isReasoning = ({ type }: Loose): boolean => type === "reasoning" || type === "reasoning-file"

const parts: PartShape = {
  blockOf,
  resultOf,
  rides: (part) => part.type === APPROVAL,
  partOf,
  withContent,
  linkOf,
  isReasoning,
  settle
}

const compose: Shape["compose"] = (message) => {
  if (message.role === "toolResult") {
    const { content, isError: failed, toolCallId, toolName } = message
    const blocks = typeof content === "string" ? [] : blocksOf(message)
    const output = blocks.some((block) => block.type !== "text")
      ? {
          type: "content",
          value: blocks.map((block) => partOf(block, { type: "image-data" }, false))
        }
      : {
          type: failed ? "error-text" : "text",
          value: typeof content === "string" ? content : joined(blocks)
        }
    return [{ role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }]
  }
  const { content, role } = message
  if (typeof content === "string") return [{ role, content }]
  if (role === "system") return [{ role, content: joined(blocksOf(message)) }]
  return [{ role, content: blocksOf(message).map((block) => partOf(block, undefined, false)) }]
}

const markOf = ({ providerOptions }: Loose): unknown =>
  isRecord(providerOptions) && isRecord(providerOptions.anthropic)
    ? (providerOptions.anthropic.cacheControl ?? providerOptions.anthropic.cache_control)
    : undefined

/** A result's output, and what that holds: a mark there is one of the whole result. */
const withinOf = ({ output, type }: Loose): ReadonlyArray<Loose> =>
  type === "tool-result" && isRecord(output) ? [output, output.value].flat().filter(isRecord) : []

/** The mark that a part is sent with, in a message whose own mark is one of its last part. */
const markAtPart = (host: Loose, list: ReadonlyArray<unknown>, at: number): unknown => {
  const part = list[at]
  const inPart = isRecord(part) ? [part, ...withinOf(part)].map(markOf) : []
  return inPart.find((mark) => mark != null) ?? (at === list.length - 1 ? markOf(host) : undefined)
}

const marksOf = (host: Loose): ReadonlyArray<unknown> => {
  const { content } = host
  const marks = Array.isArray(content)
    ? content.map((_, at) => markAtPart(host, content, at))
    : [markOf(host)]
  return marks.filter((mark) => mark != null)
}

const marked = (value: Loose, like: unknown): Loose => {
  const given = isRecord(value.providerOptions) ? value.providerOptions : {}
  const anthropic = { ...(isRecord(given.anthropic) ? given.anthropic : {}), cacheControl: like }
  return { ...value, providerOptions: { ...given, anthropic } }
}

const mark: Shape["mark"] = (host, message, made) => {
  const { content } = host
  // An answer and its results may be read together.
  if ((host.role === "tool") !== (message.role === "toolResult")) return undefined
  if (typeof content === "string") {
    if (content.trim() === "" || message.role === "toolResult") return undefined
    return markOf(host) == null ? marked(host, made([])) : host
  }
  if (!Array.isArray(content)) return undefined
  const list = content as ReadonlyArray<unknown>
  const at = list.findLastIndex(
    (part) =>
      isRecord(part) &&
      (message.role === "toolResult"
        ? part.type === "tool-result" && part.toolCallId === message.toolCallId
        : !isReasoning(part) && !(part.type === "text" && part.text === ""))
  )
  const part = list[at]
  if (!isRecord(part)) return undefined
  if (markAtPart(host, list, at) != null) return host
  const behind = marksOf({ ...host, content: list.slice(at + 1) })
  return { ...host, content: list.with(at, marked(part, made(behind))) }
}

const unmarked = (value: Loose): Loose => {
  const { providerOptions: options } = value
  if (!isRecord(options) || !isRecord(options.anthropic) || markOf(value) == null) return value
  const anthropic = without(options.anthropic, "cacheControl", "cache_control")
  const rest = without(options, "anthropic")
  const left = Object.keys(anthropic).length === 0 ? rest : { ...rest, anthropic }
  return Object.keys(left).length === 0
    ? without(value, "providerOptions")
    : { ...value, providerOptions: left }
}

/** A result without its mark, wherever it has one. */
const unmarkedResult = (part: Loose): Loose => {
  const { output } = part
  if (withinOf(part).every((within) => markOf(within) == null)) return unmarked(part)
  const { value } = output as Loose
  const values = Array.isArray(value)
    ? { value: value.map((v: unknown) => (isRecord(v) ? unmarked(v) : v)) }
    : {}
  return { ...unmarked(part), output: { ...unmarked(output as Loose), ...values } }
}

/** The mark of a message is one at its end: of a user's it goes to the part before the tail. */
const unmark: Shape["unmark"] = (host, message) => {
  const { content } = host
  if (!Array.isArray(content)) return undefined
  const own = markOf(host)
  const now = unmarked(host)
  if (message.role !== "toolResult") {
    const at = content.length - blocksOf(message).filter(isTail).length - 1
    const part: unknown = content[at]
    return own == null || !isRecord(part)
      ? undefined
      : [{ ...now, content: content.with(at, markOf(part) == null ? marked(part, own) : part) }]
  }
  const at = content.findIndex(
    (part) =>
      isRecord(part) && part.type === "tool-result" && part.toolCallId === message.toolCallId
  )
  if (at < 0) return undefined
  const part = content[at] as Loose
  const mine = markAtPart(host, content, at) ?? own
  return mine == null
    ? undefined
    : [{ ...now, content: content.with(at, unmarkedResult(part)) }, mine]
}

/**
 * The AI SDK's `ModelMessage`s, versions 5 to 7: `messages` of `generateText`, `streamText` and of an agent's
 * `prepareStep`.
 *
 * Each `tool-result` of a tool message is a result of its own. An approval belongs to the call that it is
 * about. Bytes and URLs of images are read and given back as they were. Where a part is bound to an item that
 * OpenAI stores, an edit to its answer takes the reasoning and the binding out, since the provider would
 * ignore it otherwise. Cache marks are Anthropic's `cacheControl`, four in a request; one that is set lives as
 * long as the longest-lived of yours behind it.
 *
 * @example
 * ```ts
 * import { aiSdk } from "@varve/codecs/AiSdk"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [] })
 * const history = [{ role: "user", content: "Hello" }]
 * const { messages } = await aiSdk.prepare(memory, history, { system: "Be brief." })
 * console.log(messages[0] === history[0]) // => true
 * ```
 */
export const aiSdk: Codec<AiSdkMessage> = makeCodec({
  name: "ai-sdk",
  marks: 4,
  extent: (host, at) =>
    together(host, at, linkOf, ({ role }) => role !== "assistant" && role !== "tool"),
  read: (host, names) => readParts(parts, host, names),
  write: (segment, messages) => writeParts(parts, segment, messages),
  compose,
  mark,
  unmark,
  marksOf
})

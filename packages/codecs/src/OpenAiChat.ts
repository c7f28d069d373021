import type { Block, Message, ToolCallBlock } from "@varve/core/Message"
import { blocksOf, imageOf } from "@varve/core/Message"
import type { Codec } from "./Codec.ts"
import { changes, written } from "./internal/changes.ts"
import { makeCodec } from "./internal/makeCodec.ts"
import type { Read, Segment, Shape } from "./internal/Shape.ts"
import { placeOf } from "./internal/Shape.ts"
import type { Loose } from "./internal/values.ts"
import {
  isRecord,
  joined,
  jsonText,
  parsed,
  resultMessage,
  sameItems,
  textBlock,
  without
} from "./internal/values.ts"

/** A message of OpenAI's Chat Completions API, read structurally. */
export interface OpenAiChatMessage {
  readonly role: string
  readonly content?: string | ReadonlyArray<unknown> | null | undefined
}

/** The fields in which compatible providers give reasoning; they stay or leave together. */
const REASONING = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"]

/** Keys for what a message has beside the parts of its content. */
const TEXT = Symbol("content")
const REFUSAL = Symbol("refusal")
const THOUGHT = Symbol("reasoning")
const AUDIO = Symbol("audio")

const named = (id: unknown): object => (typeof id === "string" ? { id } : {})

const argumentsOf = ({ custom, function: called }: Loose): ToolCallBlock["arguments"] =>
  isRecord(custom) ? custom.input : isRecord(called) ? parsed(called.arguments) : undefined

const nameOf = ({ custom, function: called }: Loose): unknown =>
  isRecord(custom) ? custom.name : isRecord(called) ? called.name : undefined

const callBlock = (call: Loose): Block =>
  Object.freeze({
    type: "toolCall",
    id: call.id,
    name: nameOf(call),
    arguments: argumentsOf(call)
  }) as Block

/** The id of a call in the old form, which had none. */
const oldId = (name: unknown): string => `function:${String(name)}`

const readAssistant = (message: Loose): Read => {
  const blocks: Array<Block> = []
  const from: Array<unknown> = []
  const add = (block: Block, key: unknown): void => {
    blocks.push(block)
    from.push(key)
  }
  const { audio, content, function_call: old, refusal, tool_calls: calls } = message
  const thought = REASONING.map((field) => message[field]).find((v) => isThought(v))
  if (thought !== undefined) {
    const thinking = typeof thought === "string" ? thought : ""
    add(Object.freeze({ type: "thinking", thinking }), THOUGHT)
  }
  if (typeof content === "string" && content !== "") add(textBlock(content), TEXT)
  if (Array.isArray(content)) for (const part of content) add(part as Block, part)
  if (typeof refusal === "string" && refusal !== "") add(textBlock(refusal), REFUSAL)
  if (isRecord(audio)) add({ type: "audio", audio } as unknown as Block, AUDIO)
  for (const call of Array.isArray(calls) ? (calls as ReadonlyArray<unknown>) : [])
    if (isRecord(call)) add(callBlock(call), call)
  if (isRecord(old)) {
    const call = { id: oldId(old.name), function: old }
    add(callBlock(call), old)
  }
  return {
    message: { role: "assistant", content: blocks, ...named(message.id) } as unknown as Message,
    from
  }
}

const isThought = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : Array.isArray(value) && value.length > 0

const read: Shape["read"] = ([message], names) => {
  if (message === undefined) return []
  const { content, role } = message
  if (role === "assistant") return [readAssistant(message)]
  const from = Array.isArray(content) ? content : []
  if (role === "tool" || role === "function") {
    const id = role === "tool" ? message.tool_call_id : oldId(message.name)
    const name = typeof message.name === "string" ? message.name : (names(String(id)) ?? "unknown")
    const blocks = Array.isArray(content) ? content.slice() : jsonText(content ?? "")
    const result = resultMessage(id, name, blocks, false)
    return [{ message: { ...result, ...named(message.id) }, from }]
  }
  const same = {
    role: role === "developer" ? "system" : role,
    content: Array.isArray(content) ? content.slice() : content,
    ...named(message.id)
  }
  return [{ message: same as unknown as Message, from }]
}

const hintOf = (like: unknown, carriesMark: boolean): object =>
  carriesMark && isRecord(like) && like.prompt_cache_breakpoint != null
    ? { prompt_cache_breakpoint: like.prompt_cache_breakpoint }
    : {}

const partOf = (block: Block, like: unknown, carriesMark = false): unknown => {
  if (block.type === "text") return { type: "text", text: block.text, ...hintOf(like, carriesMark) }
  const image = imageOf(block)
  if (image === undefined || (block.type as string) === "image_url") return block
  const url = image.data === undefined ? image.url : `data:${image.mimeType};base64,${image.data}`
  return { type: "image_url", image_url: { url }, ...hintOf(like, carriesMark) }
}

/** Content with other blocks in it: a text stays a text as long as it is nothing else. */
const contentOf = (before: Message, after: Message, from: ReadonlyArray<unknown>): unknown => {
  if (typeof after.content === "string") return after.content
  if (typeof before.content === "string") {
    const blocks = blocksOf(after)
    return blocks.every((b) => b?.type === "text")
      ? joined(blocks)
      : blocks.map((b) => partOf(b, {}))
  }
  const was = blocksOf(before)
  const parts = changes(before, after).flatMap((blocks, i) =>
    written(blocks, was[i], from[i], partOf)
  )
  return parts.length === 0 ? "" : parts
}

const withArguments = (call: Loose, block: ToolCallBlock): Loose => {
  const { arguments: given } = block
  if (isRecord(call.custom)) {
    const input = isRecord(given) && Object.keys(given).length === 0 ? "" : jsonText(given)
    return { ...call, custom: { ...call.custom, input } }
  }
  return isRecord(call.function)
    ? { ...call, function: { ...call.function, arguments: jsonText(given) } }
    : { ...call, arguments: jsonText(given) }
}

const writeAssistant = (
  host: Loose,
  before: Message,
  after: Message,
  from: ReadonlyArray<unknown>
): ReadonlyArray<Loose> => {
  const was = blocksOf(before)
  const now = new Map<unknown, ReadonlyArray<Block>>()
  const kept = new Set<unknown>()
  changes(before, after).forEach((blocks, i) => {
    now.set(from[i], blocks)
    if (blocks.length === 1 && blocks[0] === was[i]) kept.add(from[i])
  })
  const texts = (key: symbol): string => joined(now.get(key) ?? [])
  let next: Loose = host
  const set = (field: string, value: unknown): void => {
    next = value === undefined ? without(next, field) : { ...next, [field]: value }
  }
  if (now.has(THOUGHT) && !kept.has(THOUGHT)) next = without(next, ...REASONING)
  if (now.has(AUDIO) && !kept.has(AUDIO)) set("audio", undefined)
  if (now.has(REFUSAL) && !kept.has(REFUSAL)) set("refusal", texts(REFUSAL) || null)
  // A text of ours in the place of reasoning or audio joins the content.
  const ours = [THOUGHT, AUDIO].flatMap((key) => (kept.has(key) ? [] : (now.get(key) ?? [])))
  const { content, function_call: old, tool_calls: calls } = host
  if (Array.isArray(content)) {
    const parts = (content as ReadonlyArray<unknown>).flatMap((part) =>
      kept.has(part) ? [part] : written(now.get(part) ?? [], undefined, part, partOf)
    )
    const all = [...ours.map((block) => partOf(block, {})), ...parts]
    if (!sameItems(all, content)) set("content", all.length === 0 ? null : all)
  } else if (!kept.has(TEXT) && (now.has(TEXT) || ours.length > 0))
    set("content", joined([...ours, ...(now.get(TEXT) ?? [])]) || null)
  if (Array.isArray(calls)) {
    const left = (calls as ReadonlyArray<unknown>).flatMap((call) => {
      if (kept.has(call)) return [call]
      const [block] = now.get(call) ?? []
      return block?.type === "toolCall" ? [withArguments(call as Loose, block)] : []
    })
    if (!sameItems(left, calls)) set("tool_calls", left.length === 0 ? undefined : left)
  }
  if (isRecord(old) && !kept.has(old)) {
    const [block] = now.get(old) ?? []
    set("function_call", block?.type === "toolCall" ? withArguments(old, block) : undefined)
  }
  return [next]
}

const write = (segment: Segment, messages: ReadonlyArray<Message>): ReadonlyArray<Loose> => {
  const [host] = segment.host
  const [after] = messages
  if (host === undefined || after === undefined) return []
  const { index } = placeOf(after)!
  const before = segment.messages[index]!
  const { from } = segment.reads[index]!
  return after.role === "assistant"
    ? writeAssistant(host, before, after, from)
    : [{ ...host, content: contentOf(before, after, from) }]
}

const compose: Shape["compose"] = (message) => {
  const blocks = blocksOf(message)
  const isText = blocks.every((block) => block?.type === "text")
  const content =
    typeof message.content === "string"
      ? message.content
      : isText
        ? joined(blocks)
        : blocks
            .filter((block) => block.type !== "thinking" && block.type !== "toolCall")
            .map((block) => partOf(block, {}))
  if (message.role === "toolResult")
    return [{ role: "tool", tool_call_id: message.toolCallId, content }]
  const calls = blocks.flatMap((block) =>
    block?.type === "toolCall"
      ? [
          {
            id: block.id,
            type: "function",
            function: { name: block.name, arguments: jsonText(block.arguments) }
          }
        ]
      : []
  )
  return [
    {
      role: message.role,
      content: content.length === 0 && calls.length > 0 ? null : content,
      ...(calls.length > 0 ? { tool_calls: calls } : {})
    }
  ]
}

const MARK = { prompt_cache_breakpoint: { mode: "explicit" } }

/** Marks stand on what is given to the model, never on what it said. */
const mark: Shape["mark"] = (host) => {
  const { content, role } = host
  if (role === "assistant") return undefined
  if (typeof content === "string")
    return content === ""
      ? undefined
      : { ...host, content: [{ type: "text", text: content, ...MARK }] }
  if (!Array.isArray(content)) return undefined
  const parts = content as ReadonlyArray<unknown>
  const at = parts.findLastIndex((part) => isRecord(part) && part.text !== "")
  const part = parts[at]
  if (!isRecord(part)) return undefined
  return part.prompt_cache_breakpoint == null
    ? { ...host, content: parts.with(at, { ...part, ...MARK }) }
    : host
}

const marksOf = ({ content }: Loose): ReadonlyArray<unknown> =>
  Array.isArray(content)
    ? content.filter((part) => isRecord(part) && part.prompt_cache_breakpoint != null)
    : []

/**
 * OpenAI's Chat Completions API and what is compatible with it: `messages` of a request, and
 * `choices[0].message`.
 *
 * Arguments are a JSON text for the host and an object for strategies; where they aren't JSON they stay a
 * text. A custom tool's input stays a text. The reasoning fields of compatible providers
 * (`reasoning_content`, `reasoning_details`, `thinking_blocks`) stay or leave together. Cache marks are
 * `prompt_cache_breakpoint` on what is given to the model, 50 in a request (provider's documentation, 2026-09).
 *
 * @example
 * ```ts
 * import { openAiChat } from "@varve/codecs/OpenAiChat"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [] })
 * const history = [{ role: "user", content: "Hello" }]
 * const { messages } = await openAiChat.prepare(memory, history)
 * console.log(messages[0] === history[0]) // => true
 * ```
 */
export const openAiChat: Codec<OpenAiChatMessage> = makeCodec({
  name: "openai-chat",
  marks: 50,
  extent: () => 1,
  read,
  write,
  compose,
  mark,
  marksOf
})

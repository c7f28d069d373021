import type { Block, Message } from "@varve/core/Message"
import { blocksOf, withoutRoom } from "@varve/core/Message"
import type { Codec } from "./Codec.ts"
import { changes, written } from "./internal/changes.ts"
import { argumentsOf, nameOf, withArguments } from "./internal/itemArguments.ts"
import { composeOutput, readOutput, withOutput } from "./internal/itemOutputs.ts"
import { inputPart, outputPart, partBlock } from "./internal/itemParts.ts"
import { kindOf, runFrom } from "./internal/items.ts"
import { makeCodec } from "./internal/makeCodec.ts"
import type { NameOf, Read, Segment, Shape } from "./internal/Shape.ts"
import { placeOf } from "./internal/Shape.ts"
import type { Loose } from "./internal/values.ts"
import {
  isRecord,
  joined,
  jsonText,
  resultMessage,
  sameItems,
  textBlock,
  without
} from "./internal/values.ts"

/** An input item of OpenAI's Responses API, read structurally. */
export interface OpenAiResponsesItem {
  readonly type?: string | null | undefined
  readonly role?: string | undefined
}

const textsOf = (value: unknown): string =>
  Array.isArray(value) ? joined(value) : typeof value === "string" ? value : ""

/** The blocks of an item that the model or the provider made; `from` are the item or its parts. */
const blocksOfItem = (item: Loose): { blocks: Array<Block>; from: Array<unknown> } => {
  const { content, type } = item
  if (type === "reasoning") {
    const thinking = [textsOf(item.summary), textsOf(content)].filter((t) => t !== "").join("\n")
    const sealed = item.encrypted_content
    const block: Block = {
      type: "thinking",
      thinking,
      ...(typeof sealed === "string" ? { thinkingSignature: sealed } : {})
    }
    return { blocks: [Object.freeze(block)], from: [item] }
  }
  if (kindOf(item) === "call") {
    const call = { id: item.call_id, name: nameOf(item), arguments: argumentsOf(item) }
    return { blocks: [Object.freeze({ type: "toolCall", ...call }) as Block], from: [item] }
  }
  if (item.role === "assistant") {
    if (Array.isArray(content)) return { blocks: content.map(partBlock), from: content.slice() }
    const isText = typeof content === "string" && content !== ""
    return isText ? { blocks: [textBlock(content)], from: [item] } : { blocks: [], from: [] }
  }
  return { blocks: [item as unknown as Block], from: [item] }
}

const idOf = (items: ReadonlyArray<Loose>): object => {
  const id = items.find((item) => typeof item.id === "string")?.id
  return id === undefined ? {} : { id }
}

const readResult = (item: Loose, names: NameOf): Read => {
  const { content, from } = readOutput(item)
  const name =
    typeof item.name === "string" ? item.name : (names(String(item.call_id)) ?? "unknown")
  const isError = item.type === "apply_patch_call_output" && item.status === "failed"
  const message = { ...resultMessage(item.call_id, name, content, isError), ...idOf([item]) }
  return { message: isClosed(item) ? withoutRoom(message) : message, from, part: item }
}

/** A screenshot of the computer tool, and the local shell's JSON: there is no place for a text beside them. */
const isClosed = ({ type }: Loose): boolean =>
  type === "computer_call_output" || type === "local_shell_call_output"

/** True where the provider may hold the call of an output: the list has references, or nothing that was made. */
const isHeld = (all: ReadonlyArray<unknown>, at: number): boolean =>
  all.slice(0, at).some((item) => isRecord(item) && item.type === "item_reference") ||
  !all.some((item) => isRecord(item) && /^(made|call)$/.test(kindOf(item)))

const read: Shape["read"] = (items, names, all, at) => {
  const [first] = items
  if (first === undefined) return []
  const kind = kindOf(first)
  const isOrphan = kind === "output" && names(String(first.call_id)) === undefined
  const held = isOrphan && isHeld(all, at)
  if (kind === "output" && !held) return [readResult(first, names)]
  if (held || kind === "state" || kind === "answer")
    return [{ message: { role: "item", item: first } as unknown as Message, from: [first] }]
  if (kind === "given") {
    const { content } = first
    const role = first.role === "user" ? "user" : "system"
    const blocks = Array.isArray(content) ? content.map(partBlock) : content
    const from = Array.isArray(content) ? content : []
    return [{ message: { role, content: blocks, ...idOf(items) } as unknown as Message, from }]
  }
  const blocks: Array<Block> = []
  const from: Array<unknown> = []
  const results: Array<Read> = []
  const called = new Map<unknown, string>()
  for (const item of items) {
    if (kindOf(item) === "call") called.set(item.call_id, nameOf(item))
    if (kindOf(item) === "output") {
      results.push(readResult(item, (id) => called.get(id) ?? names(id)))
      continue
    }
    const of = blocksOfItem(item)
    blocks.push(...of.blocks)
    from.push(...of.from)
  }
  const made = { role: "assistant", content: blocks, ...idOf(items) } as unknown as Message
  return [{ message: made, from }, ...results]
}

/** A message item of the model with what is left of it. */
const messageNow = (item: Loose, now: Map<unknown, ReadonlyArray<unknown>>): Loose | undefined => {
  const { content } = item
  if (Array.isArray(content)) {
    const parts = content.flatMap((part) => now.get(part) ?? [])
    if (sameItems(parts, content)) return item
    return parts.length === 0 ? undefined : { ...item, content: parts }
  }
  const parts = now.get(item) ?? []
  if (parts[0] === item || content === "") return item
  return parts.length === 0 ? undefined : { ...item, content: joined(parts) }
}

const said = (parts: ReadonlyArray<unknown>): Loose => ({
  type: "message",
  role: "assistant",
  content: parts
})

/** What is left of one item that the model or the provider made. */
const itemNow = (item: Loose, now: Map<unknown, ReadonlyArray<unknown>>): Loose | undefined => {
  if (item.role === "assistant") return messageNow(item, now)
  const parts = now.get(item) ?? []
  const [part] = parts
  if (part === undefined) return undefined
  if (part === item) return item
  return isRecord(part) && part.type === item.type ? part : said(parts)
}

const isReasoning = (item: Loose): boolean => item.type === "reasoning"

/**
 * A provider refuses reasoning without the item that followed it, and an item by whose id it knows the
 * reasoning before it. So the reasoning goes with that item, and without it the items go without their ids.
 */
const bound = (
  items: ReadonlyArray<Loose>,
  now: ReadonlyMap<Loose, Loose | undefined>
): ReadonlyArray<Loose> => {
  const out: Array<Loose> = []
  let thoughts: Array<Loose> = []
  let free = false
  items.forEach((item, i) => {
    const left = now.get(item)
    if (isReasoning(item)) {
      if (!isReasoning(items[i - 1] ?? {})) free = false
      if (left === item) thoughts.push(item)
      else {
        free = true
        if (left !== undefined) out.push(left)
      }
      return
    }
    if (isReasoning(items[i - 1] ?? {})) {
      if (left?.type !== item.type) free = true
      if (!free) out.push(...thoughts)
      thoughts = []
    }
    if (left === undefined) return
    out.push(
      free && kindOf(item) !== "output" && item.id !== undefined ? without(left, "id") : left
    )
  })
  return [...out, ...thoughts]
}

const write = (segment: Segment, messages: ReadonlyArray<Message>): ReadonlyArray<Loose> => {
  const now = new Map<unknown, ReadonlyArray<unknown>>()
  for (const after of messages) {
    const { index } = placeOf(after)!
    const { from, part } = segment.reads[index]!
    const before = segment.messages[index]!
    if (part !== undefined) {
      const item = part as Loose
      now.set(part, [after === before ? item : withOutput(item, before, after, from)])
      continue
    }
    if (after.role !== "assistant") return [given(segment.host[0]!, before, after, from)]
    const was = blocksOf(before)
    changes(before, after).forEach((blocks, i) =>
      now.set(
        from[i],
        blocks.map((block) => (block === was[i] ? from[i] : madePart(block, from[i])))
      )
    )
  }
  const hasMade = messages.some((message) => message.role === "assistant")
  const left = segment.host.map((item) => {
    if (kindOf(item) === "output") return [item, now.get(item)?.[0] as Loose | undefined] as const
    return [item, hasMade ? itemNow(item, now) : undefined] as const
  })
  return bound(segment.host, new Map(left))
}

const madePart = (block: Block, like: unknown): unknown =>
  block.type === "toolCall" && isRecord(like) ? withArguments(like, block) : outputPart(block)

/** A message that was given to the model, with other content. */
const given = (
  item: Loose,
  before: Message,
  after: Message,
  from: ReadonlyArray<unknown>
): Loose => {
  if (typeof after.content === "string") return { ...item, content: after.content }
  const was = blocksOf(before)
  const isString = typeof before.content === "string"
  const content = changes(before, after).flatMap((blocks, i) =>
    written(blocks, isString ? undefined : was[i], from[i], inputPart)
  )
  return { ...item, content }
}

const compose: Shape["compose"] = (message, out) => {
  if (message.role === "toolResult") {
    const call = out.findLast((i) => kindOf(i) === "call" && i.call_id === message.toolCallId)
    return [composeOutput(message, call ?? {})]
  }
  const { content, role } = message
  if (typeof content === "string") return [{ role, content }]
  const blocks = blocksOf(message)
  if (role !== "assistant") return [{ role, content: blocks.map((block) => inputPart(block, {})) }]
  return blocks.flatMap((block): ReadonlyArray<Loose> => {
    if (block.type === "text") return [said([outputPart(block)])]
    if (block.type !== "toolCall") return []
    const { id: call_id, name } = block
    return [{ type: "function_call", call_id, name, arguments: jsonText(block.arguments) }]
  })
}

/** The same item twice is refused: the first one stays. */
const once = (out: Array<Loose>): Array<Loose> => {
  const seen = new Set<string>()
  let twice = false
  for (const item of out) {
    const key = itemKey(item)
    if (key === undefined) continue
    if (seen.has(key)) twice = true
    seen.add(key)
  }
  if (!twice) return out
  seen.clear()
  return out.filter((item) => {
    const key = itemKey(item)
    return key === undefined || (!seen.has(key) && seen.add(key))
  })
}

const itemKey = (item: unknown): string | undefined =>
  isRecord(item) && typeof item.id === "string" && item.id !== ""
    ? `${String(item.type)} ${item.id}`
    : undefined

const MARK = { prompt_cache_breakpoint: { mode: "explicit" } }

const isOpen = (part: unknown): part is Loose =>
  isRecord(part) &&
  (part.type === "input_text" || part.type === "input_image" || part.type === "input_file") &&
  part.text !== ""

/** Marks stand on what is given to the model: messages and outputs of functions. */
const mark: Shape["mark"] = (item, message) => {
  const kind = kindOf(item)
  const field = kind === "given" ? "content" : "output"
  if (kind === "output") {
    const { call_id, type } = item
    const mine = message.role === "toolResult" && message.toolCallId === call_id
    if (!mine || (type !== "function_call_output" && type !== "custom_tool_call_output"))
      return undefined
  } else if (kind !== "given") return undefined
  const value = item[field]
  if (typeof value === "string")
    return value === ""
      ? undefined
      : { ...item, [field]: [{ type: "input_text", text: value, ...MARK }] }
  if (!Array.isArray(value)) return undefined
  const parts = value as ReadonlyArray<unknown>
  const at = parts.findLastIndex(isOpen)
  const part = parts[at]
  if (!isRecord(part)) return undefined
  return part.prompt_cache_breakpoint == null
    ? { ...item, [field]: parts.with(at, { ...part, ...MARK }) }
    : item
}

const marksOf = ({ content, output }: Loose): ReadonlyArray<unknown> =>
  [content, output].flat().filter((part) => isRecord(part) && part.prompt_cache_breakpoint != null)

/**
 * OpenAI's Responses API: the `input` items of a request, and the `output` items of a response.
 *
 * What the model made in a row is one message: reasoning, texts, calls, server-side tools. Reasoning is
 * byte-exact or gone; where it goes, or the item behind it, the items that stay are sent without the ids
 * that would ask for it. A call's arguments stay a JSON text, a custom tool's input a text, a shell's output
 * its streams. A computer's output must be an image: in place of a card stands a grey one of 32 by 32 px.
 * References, compactions and settings pass through in place. An item with an id is sent once. Cache marks
 * are `prompt_cache_breakpoint` on what is given to the model, 50 in a request (provider's documentation,
 * 2026-09).
 *
 * @example
 * ```ts
 * import { openAiResponses } from "@varve/codecs/OpenAiResponses"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [] })
 * const history = [{ type: "message", role: "user", content: "Hello" }]
 * const { messages } = await openAiResponses.prepare(memory, history, { system: "Be brief." })
 * console.log(messages[0] === history[0]) // => true
 * ```
 */
export const openAiResponses: Codec<OpenAiResponsesItem> = makeCodec({
  name: "openai-responses",
  marks: 50,
  extent: runFrom,
  read,
  write,
  compose,
  finish: once,
  mark,
  marksOf
})

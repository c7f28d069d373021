import type { Block, Message, ToolCallBlock } from "@varve/core/Message"
import { blocksOf } from "@varve/core/Message"
import { changes } from "./changes.ts"
import { withFields } from "./langChainClasses.ts"
import { blockOf, partOf } from "./langChainParts.ts"
import type { Read } from "./Shape.ts"
import type { Loose } from "./values.ts"
import {
  asObject,
  isRecord,
  joined,
  jsonText,
  parsed,
  sameItems,
  textBlock,
  without
} from "./values.ts"

/** Keys for what a message has beside the parts of its content. */
const TEXT = Symbol("content")
const THOUGHT = Symbol("reasoning")

/** Where integrations keep reasoning beside the content; it stays or leaves as a whole. */
const REASONING = ["reasoning_content", "reasoning", "reasoning_details"]

/** By item what the Responses API has stored of an answer's calls. */
const ITEM_IDS = "__openai_function_call_ids__"

const list = (value: unknown): ReadonlyArray<Loose> =>
  Array.isArray(value) ? (value as ReadonlyArray<unknown>).filter(isRecord) : []

const fieldsOf = (value: unknown): Loose => (isRecord(value) ? value : {})

const isThought = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : typeof value === "object" && value !== null

const isCallPart = ({ type }: Loose): boolean => type === "tool_use" || type === "tool_call"

const isReasoning = (part: unknown): boolean =>
  isRecord(part) && /^(?:redacted_)?thinking$|^reasoning(?:_content)?$/.test(String(part.type))

const thinking = (text: unknown): Block =>
  Object.freeze({ type: "thinking", thinking: typeof text === "string" ? text : "" })

const callBlock = (id: unknown, name: unknown, args: unknown): Block =>
  Object.freeze({ type: "toolCall", id, name, arguments: args }) as Block

/**
 * Names the uses of an id in one list: some models use one for several calls of an answer. The n-th use in
 * one place is the n-th in another.
 */
const counting = (): ((id: unknown) => string) => {
  const uses = new Map<unknown, number>()
  return (id) => {
    const n = (uses.get(id) ?? 0) + 1
    uses.set(id, n)
    return `${n} ${String(id)}`
  }
}

const partBlock = (part: Loose, argsOf: (id: unknown) => unknown): Block => {
  if (isCallPart(part))
    return callBlock(part.id, part.name, argsOf(part.id) ?? parsed(part.args ?? part.input))
  if (part.type === "redacted_thinking") {
    const signature = typeof part.data === "string" ? { thinkingSignature: part.data } : {}
    return Object.freeze({ type: "thinking", thinking: "", ...signature, redacted: true })
  }
  if (part.type === "reasoning") return thinking(part.reasoning)
  if (part.type === "reasoning_content") return thinking(fieldsOf(part.reasoningText).text)
  return blockOf(part)
}

/** The calls that stand beside the content, each once, and those that only a result tells of. */
const callsBeside = (
  host: Loose,
  results: ReadonlySet<unknown>
): ReadonlyArray<readonly [Loose, Block]> => {
  const seen = new Set<string>()
  const inContent = counting()
  for (const part of list(host.content)) if (isCallPart(part)) seen.add(inContent(part.id))
  const found: Array<readonly [Loose, Block]> = []
  const add = (use: string, call: Loose, name: unknown, args: unknown): void => {
    if (seen.has(use)) return
    seen.add(use)
    found.push([call, callBlock(call.id, name, args)])
  }
  const beside = counting()
  for (const call of list(host.tool_calls)) add(beside(call.id), call, call.name, call.args)
  for (const call of list(host.invalid_tool_calls)) {
    const use = beside(call.id)
    if (results.has(call.id)) add(use, call, call.name, parsed(call.args))
  }
  const raw = counting()
  for (const call of list(fieldsOf(host.additional_kwargs).tool_calls)) {
    const { arguments: args, name } = fieldsOf(call.function)
    const use = raw(call.id)
    if (results.has(call.id)) add(use, call, name, parsed(args))
  }
  return found
}

/** An answer. `results` are the calls that the messages right behind it answer. */
export const readAnswer = (host: Loose, id: object, results: ReadonlySet<unknown>): Read => {
  const blocks: Array<Block> = []
  const from: Array<unknown> = []
  const add = (block: Block, key: unknown): void => {
    blocks.push(block)
    from.push(key)
  }
  const { additional_kwargs: kwargs, content, tool_calls: calls } = host
  const thought = REASONING.map((field) => fieldsOf(kwargs)[field]).find(isThought)
  if (thought !== undefined) add(thinking(thought), THOUGHT)
  if (typeof content === "string" && content !== "") add(textBlock(content), TEXT)
  if (Array.isArray(content)) {
    const beside = counting()
    const args = new Map(list(calls).map((call) => [beside(call.id), call.args]))
    const use = counting()
    for (const part of content as ReadonlyArray<unknown>)
      add(isRecord(part) ? partBlock(part, (id) => args.get(use(id))) : (part as Block), part)
  }
  for (const [call, block] of callsBeside(host, results)) add(block, call)
  const message = { role: "assistant", content: blocks, ...id }
  return { message: message as unknown as Message, from }
}

const withArguments = (call: Loose, { arguments: args }: ToolCallBlock): Loose => {
  if (isRecord(call.function))
    return { ...call, function: { ...call.function, arguments: jsonText(args) } }
  // The arguments of an invalid call are a text.
  if (typeof call.args === "string") return { ...call, args: jsonText(args) }
  return call.type === "tool_use"
    ? { ...call, input: asObject(args) }
    : { ...call, args: asObject(args) }
}

/** What became of the calls of an answer, by use of their ids: nothing said of one means that it stays. */
type Fates = ReadonlyMap<string, ToolCallBlock | undefined>

const callsNow = (calls: unknown, fates: Fates, use = counting()): unknown => {
  if (!Array.isArray(calls)) return calls
  const left = (calls as ReadonlyArray<unknown>).flatMap((call) => {
    const own = isRecord(call) ? use(call.id) : ""
    if (!isRecord(call) || !fates.has(own)) return [call]
    const block = fates.get(own)
    return block === undefined ? [] : [withArguments(call, block)]
  })
  return sameItems(left, calls) ? calls : left
}

/** What binds an answer to items that the Responses API has stored: sent along, they would undo the edit. */
const unbound = (host: Loose, fields: Loose): Loose => {
  const { additional_kwargs, id, response_metadata: metadata } = { ...host, ...fields }
  const kwargs = fieldsOf(additional_kwargs)
  const isBound = Array.isArray(fieldsOf(metadata).output) || kwargs[ITEM_IDS] !== undefined
  if (!isBound && !(typeof id === "string" && id.startsWith("msg_"))) return fields
  return {
    ...fields,
    ...(typeof id === "string" && id.startsWith("msg_") ? { id: undefined } : {}),
    response_metadata: without(fieldsOf(metadata), "output"),
    additional_kwargs: without(
      kwargs,
      ITEM_IDS,
      ...(isRecord(kwargs.reasoning) ? ["reasoning"] : [])
    )
  }
}

const contentNow = (
  { content }: Loose,
  now: ReadonlyMap<unknown, ReadonlyArray<Block>>,
  kept: ReadonlySet<unknown>
): unknown => {
  // A text of ours in the place of reasoning joins the content.
  const ours = kept.has(THOUGHT) ? [] : (now.get(THOUGHT) ?? [])
  if (!Array.isArray(content)) {
    if (kept.has(TEXT) || (!now.has(TEXT) && ours.length === 0)) return content
    return joined([...ours, ...(now.get(TEXT) ?? [])])
  }
  const parts = (content as ReadonlyArray<unknown>).flatMap((part) =>
    kept.has(part)
      ? [part]
      : (now.get(part) ?? []).map((block, k, all) =>
          block.type === "toolCall" && isRecord(part)
            ? withArguments(part, block)
            : partOf(block, part, k === all.length - 1)
        )
  )
  const all = [...ours.map((block) => partOf(block, {}, false)), ...parts]
  return sameItems(all, content) ? content : all.length === 0 ? "" : all
}

/** An edited answer; nothing where only reasoning is left of it. */
export const writeAnswer = (
  host: Loose,
  before: Message,
  after: Message,
  from: ReadonlyArray<unknown>
): ReadonlyArray<Loose> => {
  const was = blocksOf(before)
  const now = new Map<unknown, ReadonlyArray<Block>>()
  const kept = new Set<unknown>()
  const fates = new Map<string, ToolCallBlock | undefined>()
  const use = counting()
  changes(before, after).forEach((blocks, i) => {
    const block = was[i]!
    const [first] = blocks
    const own = block?.type === "toolCall" ? use(block.id) : undefined
    now.set(from[i], blocks)
    if (blocks.length === 1 && first === block) kept.add(from[i])
    else if (own !== undefined) fates.set(own, first?.type === "toolCall" ? first : undefined)
  })
  const fields: Record<string, unknown> = {}
  const set = (field: string, value: unknown): void => {
    if (value !== host[field]) fields[field] = value
  }
  set("content", contentNow(host, now, kept))
  const beside = counting()
  for (const field of ["tool_calls", "invalid_tool_calls"])
    set(field, callsNow(host[field], fates, beside))
  if (fates.size > 0 && Array.isArray(host.tool_call_chunks)) set("tool_call_chunks", [])
  if (isRecord(host.additional_kwargs)) {
    let kwargs = host.additional_kwargs
    if (now.has(THOUGHT) && !kept.has(THOUGHT)) kwargs = without(kwargs, ...REASONING)
    const calls = callsNow(kwargs.tool_calls, fates)
    if (calls !== kwargs.tool_calls)
      kwargs =
        list(calls).length === 0 ? without(kwargs, "tool_calls") : { ...kwargs, tool_calls: calls }
    set("additional_kwargs", kwargs)
  }
  const next = withFields(host, unbound(host, fields))
  return saysNothing(next) ? [] : [next]
}

const saysNothing = ({ additional_kwargs: kwargs, content, tool_calls: calls }: Loose): boolean =>
  list(calls).length === 0 &&
  fieldsOf(kwargs).tool_calls === undefined &&
  (Array.isArray(content) ? content.every(isReasoning) : content === "")

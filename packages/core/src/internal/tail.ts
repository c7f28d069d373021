import type { Memo } from "../Edit.ts"
import type { Block, Message } from "../Message.ts"
import { blocksOf, hasRoom, imageOf } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import type { Report } from "../Report.ts"
import { bytesOf } from "./bytes.ts"
import { frozen } from "./facts.ts"
import type { Item } from "./items.ts"
import { GroupItem } from "./items.ts"
import type { Sent } from "./Session.ts"
import { TAIL } from "./signs.ts"
import type { MemoItem, Totals, ViewContext, ViewState } from "./ViewState.ts"

/**
 * True where a text at the end of a request may be another one in the next request. Where reasoning is bound to
 * all that stands before it, the reasoning of every answer would be refused or dropped by the next request.
 */
export const mayChangeTail = ({ reasoning }: Profile): boolean => reasoning === "none"

/** True for a memo that stands at the end of each request and not behind the task. */
export const isAtTail = (edit: Memo, profile: Profile): boolean =>
  edit.tail === true && edit.aside !== true && mayChangeTail(profile)

/** The memos at the tail: the last blocks of the newest message that may hold them. */
export interface Tail {
  readonly blocks: ReadonlyArray<Block>
  /** The item of that message, and its place in it. */
  readonly item: number
  readonly message: number
  readonly tokens: number
  readonly bytes: number
}

/** The items of a view; `null` where a fold took one. */
interface Slots {
  readonly length: number
  readonly at: (slot: number) => Item | null | undefined
}

/** A text or an image, beside which a text may stand. */
const isOpen = (block: Block | null | undefined): boolean =>
  block?.type === "text"
    ? typeof block.text === "string" && block.text.trim() !== ""
    : imageOf(block) !== undefined

/** A message that a text may be added to: what a user or a tool says, where it is no error and not empty. */
const mayHold = (message: Message): boolean =>
  (message.role === "user" || (message.role === "toolResult" && message.isError !== true)) &&
  hasRoom(message) &&
  blocksOf(message).some(isOpen)

const isGiven = ({ role }: Message): boolean => role === "user" || role === "toolResult"

/** Messages of users and tools at the end of which one at least has to have room. */
const NEAR = 8

/**
 * True where one of the newest messages of users and tools may hold a text. Where none may, it would stand far up, and
 * all behind it would be another request each time.
 */
export const hasRoomNear = (messages: ReadonlyArray<Message>): boolean => {
  let seen = 0
  for (let i = messages.length - 1; i >= 0 && seen < NEAR; i--) {
    const message = messages[i]!
    if (mayHold(message)) return true
    if (isGiven(message)) seen++
  }
  // Nobody has said as much yet.
  return seen < NEAR
}

const holderIn = (slots: Slots): Pick<Tail, "item" | "message"> | undefined => {
  for (let i = slots.length - 1; i >= 0; i--) {
    const item = slots.at(i)
    // What a card stands for is what the host's shape has room for.
    const given = item instanceof GroupItem ? item.group.entries : []
    const message = item?.messages.findLastIndex(
      (m, k) => mayHold(m) && mayHold(given[k]?.message ?? m)
    )
    if (message !== undefined && message >= 0) return { item: i, message }
  }
  return undefined
}

/** The lines around a text at the tail: it is known by them, wherever a host puts it and whoever reads it. */
const OPEN = "[Memo, made anew for each request:]"
const CLOSE = "[End of the memo]"
const END = "\n" + CLOSE

/** A text between these lines; they stand nowhere inside of it. */
const framed = (text: string): string => {
  const inside = [OPEN, CLOSE].reduce((t, line) => t.replaceAll(line, "(" + line.slice(1)), text)
  return `${OPEN}\n${inside}\n${CLOSE}`
}

const tailBlock = (text: string): Block =>
  Object.freeze(Object.defineProperty({ type: "text" as const, text }, TAIL, { value: true }))

interface Laid {
  readonly block: Block
  readonly tokens: number
  readonly bytes: number
}

const laid = new WeakMap<MemoItem, Laid>()

/** A memo as a block of a message, with what it costs. */
const layOf = (memo: MemoItem, { counter }: ViewContext): Laid => {
  let found = laid.get(memo)
  if (found === undefined) {
    const text = framed(memo.text)
    const block = tailBlock(text)
    found = { block, tokens: counter.text(text), bytes: bytesOf(block) + 1 }
    laid.set(memo, found)
  }
  return found
}

/**
 * Where the memos at the tail stand in a view of these items: in the newest message of a user or a tool that is no
 * error. There they change no role, no pair of call and result and no turn: a user's message of ours behind results
 * would be refused by some providers, and read as the end of the turn by others. Nothing where there is no such
 * message, or no such memo.
 */
export const tailOf = (
  slots: Slots,
  aside: ReadonlyMap<string, MemoItem>,
  context: ViewContext
): Tail | undefined => {
  if (aside.size === 0) return undefined
  const memos = [...aside.values()]
    .filter(({ edit }) => isAtTail(edit, context.profile))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const holder = memos.length === 0 ? undefined : holderIn(slots)
  if (holder === undefined) return undefined
  const { content } = slots.at(holder.item)!.messages[holder.message]!
  // A text becomes the first block of several.
  let bytes = typeof content === "string" ? bytesOf(blocksOf({ content })) - bytesOf(content) : 0
  let tokens = 0
  const blocks = memos.map((memo) => {
    const one = layOf(memo, context)
    tokens += one.tokens
    bytes += one.bytes
    return one.block
  })
  return { ...holder, blocks, tokens, bytes }
}

/** What a view costs with its tail. */
export const withCost = (body: Totals, tail: Tail | undefined): Totals =>
  tail === undefined
    ? body
    : { ...body, tokens: body.tokens + tail.tokens, bytes: body.bytes + tail.bytes }

/** Messages that were without a tail before, or have been brought back to that. */
const known = new WeakMap<object, { content: unknown; size: number; own: object }>()

const sizeOf = (content: unknown): number => (Array.isArray(content) ? content.length : 0)

const know = <M extends object>(message: object, own: M): M => {
  const { content } = message as { readonly content?: unknown }
  known.set(message, { content, size: sizeOf(content), own })
  return own
}

/** Puts the tail into the message at `at`: a copy of it, since the message itself is the host's. */
export const layTail = (messages: Array<Message>, { blocks }: Tail, at: number): Array<Message> => {
  const message = messages[at]!
  const held = frozen({ ...message, content: [...blocksOf(message), ...blocks] })
  know(held, message)
  messages[at] = held
  return messages
}

/** A message of a view as its item knows it: without the tail that the view put there. */
export const withoutOwnTail = (message: Message): Message =>
  (known.get(message)?.own ?? message) as Message

/** What stood at the tail of a request. */
export interface SentTail {
  /** The message that held it. */
  readonly at: number
  /** Tokens before that message, as counted. */
  readonly before: number
}

export const sentTail = (view: ViewState): SentTail | undefined => {
  const { context, list, tail, tailAt, totals } = view
  if (tail === undefined) return undefined
  let before = totals.tokens + context.overheadTokens
  for (let i = tail.item; i < list.length; i++) {
    const { messages } = list.at(i)!
    for (const message of i === tail.item ? messages.slice(tail.message) : messages)
      before -= context.counter.message(message)
  }
  return { at: tailAt, before }
}

export const tailReport = ({ tail, tailAt }: ViewState): Pick<Report, "tail"> =>
  tail === undefined ? {} : { tail: { at: tailAt, tokens: tail.tokens } }

/** How much of the last request stands in this one, where all of `kept` does but for its tail. */
export const keptBefore = (last: Sent | undefined, kept: Report["kept"]): Report["kept"] => {
  if (last?.tail === undefined) return kept
  const { at, before } = last.tail
  const tokens = Math.min(kept.tokens, before)
  return { messages: Math.min(kept.messages, at), tokens, share: tokens / last.estimate }
}

const isRecord = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

/** What joins two texts into one. */
const JOINT = /^(?:\r?\n| )/
const JOINT_BEFORE = /(?:\r?\n| )$/

/** A text without what stood at a tail, and without what joins that to the rest. */
const withoutFrames = (text: string): string => {
  let rest = text
  let from = 0
  for (let at = rest.indexOf(END); at >= 0; at = rest.indexOf(END, from)) {
    const open = rest.slice(from, at).lastIndexOf(OPEN)
    const end = at + END.length
    if (open < 0) {
      from = end
      continue
    }
    const before = rest.slice(0, from + open)
    const behind = rest.slice(end)
    const own = before.replace(JOINT_BEFORE, "")
    rest = before === "" ? behind.replace(JOINT, "") : own + behind
    from = own.length
  }
  return rest
}

/** False where nothing of a content stood at a tail: so it is with nearly all. */
const mayHaveFrames = (content: unknown): boolean => {
  if (typeof content === "string") return content.includes(END)
  if (!Array.isArray(content)) return false
  for (const block of content)
    if (isRecord(block) && typeof block["text"] === "string" && block["text"].includes(END))
      return true
  return false
}

/** A block without what stood at a tail; nothing where it is that and nothing else. */
const blockWithout = (block: unknown): unknown => {
  if (!isRecord(block) || typeof block["text"] !== "string") return block
  const text = withoutFrames(block["text"])
  if (text === block["text"]) return block
  return text.trim() === "" ? undefined : { ...block, text }
}

/** A message without what stood at a tail in it; itself where there is none, or nothing else. */
const withoutTail = (message: unknown): unknown => {
  if (!isRecord(message) || (message["role"] !== "user" && message["role"] !== "toolResult"))
    return message
  const { content } = message
  if (!mayHaveFrames(content)) return message
  const found = known.get(message)
  if (found?.content === content && found?.size === sizeOf(content)) return found.own
  if (typeof content === "string") {
    const text = withoutFrames(content)
    return text === content || text.trim() === ""
      ? message
      : know(message, { ...message, content: text })
  }
  if (!Array.isArray(content)) return message
  const blocks = content.map(blockWithout)
  const own = blocks.filter((block, i) => block !== undefined || content[i] === undefined)
  const same = own.length === content.length && own.every((block, i) => block === content[i])
  return same || own.length === 0 ? message : know(message, { ...message, content: own })
}

/**
 * The host's list without what stood at the tail of a request before, of this memory or another: a host that keeps,
 * or goes on with, what was sent would gather one tail after the other. The first `seen` messages were looked at
 * last time.
 */
export const withoutTails = (
  messages: ReadonlyArray<unknown>,
  seen: number
): ReadonlyArray<unknown> => {
  let out: Array<unknown> | undefined
  for (let i = seen; i < messages.length; i++) {
    const own = withoutTail(messages[i])
    if (own === messages[i]) continue
    out ??= messages.slice()
    out[i] = own
  }
  return out ?? messages
}

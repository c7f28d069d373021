import type { Memo } from "../Edit.ts"
import type { Block, Message } from "../Message.ts"
import { blocksOf, imageOf } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import type { Report } from "../Report.ts"
import { bytesOf } from "./bytes.ts"
import { frozen } from "./facts.ts"
import type { Item } from "./items.ts"
import { GroupItem } from "./items.ts"
import type { Sent } from "./Session.ts"
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
  readonly memos: ReadonlyArray<MemoItem>
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

/** A text or an image, beside which a text may stand. The screenshot of OpenAI's computer tool has no such place. */
const isOpen = (block: Block | null | undefined): boolean =>
  block?.type === "text"
    ? typeof block.text === "string" && block.text.trim() !== ""
    : imageOf(block) !== undefined && (block as { readonly type?: unknown }).type !== "input_image"

/** A message that a text may be added to: what a user or a tool says, where it is no error and not empty. */
const mayHold = (message: Message): boolean =>
  (message.role === "user" || (message.role === "toolResult" && message.isError !== true)) &&
  blocksOf(message).some(isOpen)

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

const blockOf = ({ text }: MemoItem): Block => Object.freeze({ type: "text", text })

const costs = new WeakMap<MemoItem, { readonly tokens: number; readonly bytes: number }>()

/** What a memo costs as a block of a message. */
const costOf = (memo: MemoItem, { counter }: ViewContext) => {
  let cost = costs.get(memo)
  if (cost === undefined) {
    cost = { tokens: counter.text(memo.text), bytes: bytesOf(blockOf(memo)) + 1 }
    costs.set(memo, cost)
  }
  return cost
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
  let [tokens, bytes] = [0, 0]
  for (const memo of memos) {
    const cost = costOf(memo, context)
    tokens += cost.tokens
    bytes += cost.bytes
  }
  return { ...holder, memos, tokens, bytes }
}

/** What a view costs with its tail. */
export const withCost = (body: Totals, tail: Tail | undefined): Totals =>
  tail === undefined
    ? body
    : { ...body, tokens: body.tokens + tail.tokens, bytes: body.bytes + tail.bytes }

/** For a message that holds a tail, the same without it. */
const plain = new WeakMap<object, Message>()

/** Puts the tail into the message at `at`: a copy of it, since the message itself is the host's. */
export const layTail = (messages: Array<Message>, { memos }: Tail, at: number): Array<Message> => {
  const message = messages[at]!
  const content = [...blocksOf(message), ...memos.map(blockOf)]
  const held = frozen({ ...message, content })
  plain.set(held, message)
  messages[at] = held
  return messages
}

/** What stood at the tail of a request. */
export interface SentTail {
  /** The message that held it. */
  readonly at: number
  readonly texts: ReadonlyArray<string>
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
  return { at: tailAt, texts: tail.memos.map(({ text }) => text), before }
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

/** A text without these at its end, each on lines of its own: so a shape without blocks has what stood at the tail. */
const withoutEnds = (text: string, ends: ReadonlyArray<string>): string => {
  const end = ends.find((e) => text.endsWith("\n" + e))
  return end === undefined ? text : withoutEnds(text.slice(0, -1 - end.length), ends)
}

/** A message without these texts at its end; itself where it has none, or nothing else. */
const withoutTexts = (message: unknown, texts: ReadonlyArray<string>): unknown => {
  if (!isRecord(message)) return message
  const known = plain.get(message)
  if (known !== undefined) return known
  const { content } = message
  if (typeof content === "string") {
    const own = withoutEnds(content, texts)
    return own === content ? message : { ...message, content: own }
  }
  if (!Array.isArray(content)) return message
  const textIn = (block: unknown): string | undefined =>
    isRecord(block) && block["type"] === "text" && typeof block["text"] === "string"
      ? block["text"]
      : undefined
  const end = content.findLastIndex((block) => !texts.includes(textIn(block) ?? "")) + 1
  const last: unknown = content[end - 1]
  const text = textIn(last)
  const own = text === undefined ? undefined : withoutEnds(text, texts)
  if (end === 0 || (end === content.length && own === text)) return message
  const stayed = content.slice(0, end)
  if (isRecord(last) && own !== text) stayed[end - 1] = { ...last, text: own }
  return { ...message, content: stayed }
}

/**
 * The host's list without what stood at the tail of a request before: a host that goes on with what was sent would
 * gather one tail after the other. The first `known` messages are those that were looked at last time.
 */
export const withoutTails = (
  messages: ReadonlyArray<unknown>,
  known: number,
  texts: ReadonlyArray<string>
): ReadonlyArray<unknown> => {
  let out: Array<unknown> | undefined
  for (let i = known; i < messages.length; i++) {
    const own = withoutTexts(messages[i], texts)
    if (own === messages[i]) continue
    out ??= messages.slice()
    out[i] = own
  }
  return out ?? messages
}

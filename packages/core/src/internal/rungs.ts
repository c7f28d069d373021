import { clipText } from "../Clip.ts"
import type { Edit } from "../Edit.ts"
import * as EditOf from "../Edit.ts"
import { imageCard } from "../ImageCard.ts"
import type { Block, Message } from "../Message.ts"
import { blockId, visitBlocks } from "../Message.ts"
import type { ImageRef } from "../View.ts"
import type { Draft } from "./Draft.ts"
import { LEFT_OUT, less } from "./Draft.ts"
import type { Item } from "./items.ts"
import { GroupItem, textMessage } from "./items.ts"
import { protectionOf } from "./protect.ts"
import { textsOf } from "./redact.ts"
import type { Totals, ViewState } from "./ViewState.ts"

/** Old results, arguments and texts longer than this are clipped to it, in tokens. */
const CLIP = 200

/** Tokens that the words in the place of a middle take. */
const MARKER = 16

/** Under pressure, what is softly protected is clipped to this, in tokens. */
const TIGHT = 40

const levelOf = (view: ViewState, id: string): "hard" | "soft" | undefined =>
  protectionOf(view.context, id)?.level

/**
 * The steps down for one image: a card; a few words, where a card costs more than the image, so that no text
 * beside it speaks of what isn't there; nothing, where even these do.
 */
export const imageSteps = (
  view: ViewState,
  image: ImageRef,
  reason: string
): ReadonlyArray<Edit> => [
  EditOf.replace(image.block, imageCard(image, view, reason)),
  EditOf.replace(image.block, "[image left out]"),
  EditOf.replace(image.block, [])
]

/** The images that nothing protects, oldest first. */
export const oldImages = (view: ViewState): ReadonlyArray<ImageRef> =>
  view.images.filter((image) => levelOf(view, image.block) === undefined)

/** The images that only a guard may touch, the newest last. */
export const softImages = (view: ViewState): ReadonlyArray<ImageRef> =>
  view.images.filter((image) => levelOf(view, image.block) === "soft")

interface Site {
  readonly message: Message
  readonly block: Block
  readonly id: string
}

/** The blocks of a group as the host gave them, where the draft has not taken them beyond a rank. */
function* sites(draft: Draft, item: Item, rank: 0 | 1 | 2 = 0): Generator<Site> {
  if (!(item instanceof GroupItem)) return
  for (const entry of item.group.entries) {
    const found: Array<[Block, string]> = []
    visitBlocks(entry.message, (block, path) => found.push([block, path]))
    for (const [block, path] of found) {
      const id = blockId(entry.id, path)
      const now = draft.itemOf(entry.id)?.replaced?.find((edit) => edit.block === id)
      if ((now?.rank ?? 0) <= rank) yield { message: entry.message, block, id }
    }
  }
}

/** Redacted before it is cut: half of a secret is not found any more. */
const clippedArguments = ({ context }: ViewState, value: unknown, length: number): unknown =>
  clipArguments(context.redact === undefined ? value : textsOf(value, context.redact), length)

const clipArguments = (value: unknown, length: number, depth = 0): unknown => {
  if (typeof value === "string") {
    if (value.length <= length) return value
    const cut = value.slice(0, length)
    return (
      (cut.isWellFormed() ? cut : cut.slice(0, -1)) +
      ` [… ${value.length - length} characters left out]`
    )
  }
  if (typeof value !== "object" || value === null || depth > 6) return value
  if (Array.isArray(value)) return value.map((v) => clipArguments(v, length, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, clipArguments(v, length, depth + 1)])
  )
}

const clipped = (view: ViewState, text: string, tokens: number): string =>
  clipText(view.context.redact?.(text) ?? text, tokens, view.counter.text)

/** Old results to head and tail, then long arguments, then old reasoning; oldest first in each. */
export function* textRungs(view: ViewState, draft: Draft): Generator<Edit> {
  const { counter } = view
  const free = view.items.filter((i) => levelOf(view, i.id) === undefined)
  for (const item of free) {
    for (const { message, block, id } of sites(draft, item)) {
      if (message.role !== "toolResult" || block.type !== "text" || levelOf(view, id) !== undefined)
        continue
      if (counter.text(block.text) > CLIP)
        yield EditOf.replace(id, clipped(view, block.text, CLIP), 1)
    }
  }
  for (const item of free) {
    for (const { block, id } of sites(draft, item)) {
      if (block.type !== "toolCall" || levelOf(view, id) !== undefined) continue
      if (counter.text(JSON.stringify(block.arguments) ?? "") <= CLIP) continue
      yield EditOf.replace(
        id,
        { ...block, arguments: clippedArguments(view, block.arguments, 200) },
        1
      )
    }
  }
  for (const item of free) {
    for (const { block, id } of sites(draft, item)) {
      if (block.type === "thinking" && levelOf(view, id) === undefined) yield EditOf.replace(id, [])
    }
  }
}

interface Left {
  readonly of: "hardLimit"
  readonly messages: number
  /** How many of them are a user's. */
  readonly asked: number
  readonly calls: Readonly<Record<string, number>>
}

const NOTHING: Left = { of: "hardLimit", messages: 0, asked: 0, calls: {} }

const isNote = (item: Item): boolean => (item.data as Left | undefined)?.of === "hardLimit"

/** Adds what an item stands for to what has left. */
const addLeft = (left: Left, item: Item): Left => {
  const data = item.data as (Partial<Left> & { readonly results?: Left["calls"] }) | undefined
  const calls: Record<string, number> = { ...left.calls }
  const count = (name: string, n: number) => void (calls[name] = (calls[name] ?? 0) + n)
  // An earlier note and a summary both know how many results they stand for.
  for (const [name, n] of Object.entries(data?.calls ?? data?.results ?? {})) count(name, n)
  if (data?.of === "hardLimit") {
    const messages = left.messages + (data.messages ?? 0)
    return { of: "hardLimit", messages, asked: left.asked + (data.asked ?? 0), calls }
  }
  for (const message of item.messages) if (message.role === "toolResult") count(message.toolName, 1)
  return {
    of: "hardLimit",
    messages: left.messages + item.members.length,
    asked: left.asked + (isAsked(item) ? 1 : 0),
    calls
  }
}

const isAsked = (item: Item): boolean => item.kind === "group" && item.messages[0]?.role === "user"

/** The one note of what left: how many messages, whose, and which tools were called how often. */
const note = ({ messages, asked, calls }: Left): string => {
  const named = Object.entries(calls).sort(([a], [b]) => (a < b ? -1 : 1))
  const list = named
    .slice(0, 12)
    .map(([name, n]) => `${name} x ${n}`)
    .join(", ")
  const rest = named.length > 12 ? ` and ${named.length - 12} more tools` : ""
  return (
    `[${messages} earlier messages were left out to fit the limit` +
    (asked === 0 ? "" : `, ${asked} of them the user's`) +
    (list === "" ? "" : `; calls among them: ${list}${rest}; call again for what is needed`) +
    "]"
  )
}

/** The oldest groups out, as few as are enough, behind one note; what a user said in few words after the others. */
export function* groupsOut(
  view: ViewState,
  draft: Draft,
  enough: (totals: Totals) => boolean
): Generator<Edit> {
  const open = view.items.filter(
    (i) => levelOf(view, i.id) === undefined && i.closed && i.members.length > 0
  )
  // A summary carries more in its tokens than what it stands behind would: it goes after all groups.
  const isSummary = (i: Item) => i.kind === "fold" && i.messages.length > 0 && !isNote(i)
  const isBrief = (i: Item) => isAsked(i) && i.tokens <= CLIP
  const rank = (i: Item) => (isSummary(i) ? 2 : isBrief(i) ? 1 : 0)
  const free = open.toSorted((a, b) => rank(a) - rank(b))
  const out: Array<Item> = []
  let left = NOTHING
  let { totals } = draft
  for (const { id } of free) {
    const item = draft.item(id)
    if (item === undefined) continue
    out.push(item)
    left = addLeft(left, item)
    totals = less(totals, {
      tokens: item.tokens,
      bytes: item.bytes,
      images: item.imageCount,
      imageBytes: item.imageBytes,
      imageTokens: item.imageTokens,
      messages: item.messages.length
    })
    const text = note(left)
    const cost = view.counter.message(textMessage(text, undefined))
    const withNote = {
      ...totals,
      tokens: totals.tokens + cost,
      bytes: totals.bytes + text.length + 60,
      messages: totals.messages + 1
    }
    if (enough(withNote)) break
  }
  const basis = out.at(-1)?.members.at(-1)
  if (basis === undefined) return
  const ids = out.map((i) => i.id)
  yield EditOf.fold(ids, note(left), basis, left)
  // A note that costs more than the margin of a fold allows is left out: the report still says what went.
  yield EditOf.fold(ids, null, basis, left)
}

/**
 * What is softly protected, least needed first: older parts of the last groups, then results that the model
 * has not seen and the newest user message, all to head and tail; then long arguments.
 */
export function* softRungs(view: ViewState, draft: Draft, limit: number): Generator<Edit> {
  const { counter } = view
  const isSoft = (id: string) => levelOf(view, id) !== "hard"
  const { context } = view
  /** Tokens that the draft is over the limit by, as the counter counts them. */
  const excess = (): number =>
    context.calibrate(
      draft.totals.tokens + context.overheadTokens,
      draft.totals.imageTokens + context.overheadFixed
    ).tokens - limit
  for (const floor of [CLIP, TIGHT]) {
    const rank = floor === TIGHT ? 2 : 1
    for (const item of view.items) {
      for (const { message, block, id } of sites(draft, item, rank === 2 ? 1 : 0)) {
        if (block.type !== "text" || !isSoft(id) || (message.role === "assistant" && rank === 1))
          continue
        const tokens = counter.text(block.text)
        // No more than is needed goes, and at least the floor stays. Of other limits than tokens nothing is known here.
        const over = excess()
        const size = Math.max(floor, over > 0 ? tokens - over - MARKER : 0)
        if (tokens > size) yield EditOf.replace(id, clipped(view, block.text, size), rank)
      }
    }
  }
  for (const item of view.items) {
    for (const { block, id } of sites(draft, item, 1)) {
      if (block.type === "toolCall" && isSoft(id)) {
        yield EditOf.replace(
          id,
          { ...block, arguments: clippedArguments(view, block.arguments, 40) },
          1
        )
      }
    }
  }
}

/**
 * When all that was not enough: whole groups, then what is left of those that must stay. From here on
 * nothing but what is hard-protected is sure to stay.
 */
export function* lastRungs(view: ViewState, draft: Draft): Generator<Edit> {
  const isSoft = (id: string) => levelOf(view, id) !== "hard"
  const softItems = view.items.filter((i) => i.members.length > 0 && isSoft(i.id))
  const newest = softItems.at(-1)
  const out = (item: Item, text: string | null, data?: unknown): Edit =>
    EditOf.fold([item.id], text, item.members.at(-1)!, data)
  for (const item of softItems) {
    if (item !== newest && draft.item(item.id) !== undefined) yield out(item, null)
  }
  for (const id of draft.folds()) {
    const item = draft.item(id)
    if (item !== undefined) yield out(item, null)
  }
  // What the model has not seen goes last: it outlives what we say of the rest.
  for (const { aside, key } of view.memos)
    if (aside !== true) yield EditOf.memo(key, null, { cap: 1 })
  for (const text of [LEFT_OUT, ""]) {
    for (const item of view.items) {
      if (draft.item(item.id) === undefined) continue
      for (const { block, id } of sites(draft, item, 2)) {
        if (!isSoft(id)) continue
        if (block.type === "toolCall") yield EditOf.replace(id, { ...block, arguments: {} })
        else if (text === "" || block.type === "text")
          yield EditOf.replace(id, text === "" ? [] : text)
      }
    }
  }
  if (newest === undefined || draft.item(newest.id) === undefined) return
  // A request is never empty: of one that is a single step, a note of it stays where the step can't.
  const shown = draft.item(newest.id)!.messages.length
  const others = draft.conversation - shown
  const left = addLeft(NOTHING, newest)
  yield others > 0 ? out(newest, null) : out(newest, note(left), left)
  if (draft.item(newest.id) !== undefined) yield out(newest, LEFT_OUT, left)
  // A note that names what has left may be too long itself.
  for (const id of draft.folds()) {
    const item = draft.item(id)
    if (item !== undefined) yield out(item, LEFT_OUT, left)
  }
  // What had to stay because of what stood behind it (a first message of a user's, a turn between two of the
  // assistant's) may go where that is gone.
  if (!view.profile.startsWithUser && view.profile.alternates !== true) return
  for (const item of softItems) {
    const now = draft.item(item.id)
    if (now !== undefined && draft.conversation > now.messages.length) yield out(item, null)
  }
}

import type { Edit, Fold, Memo, Replace } from "../Edit.ts"
import type { Block, Message } from "../Message.ts"
import { blockAt, imageOf, isBlank, splitBlockId } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import type { Delta, Draft } from "./Draft.ts"
import { protectionOf } from "./protect.ts"
import { isAtTail } from "./tail.ts"

/** Tokens that a guard may add where an image goes. */
const WORDS = 8

/** What a fold's text may cost at most, as a share of what it stands for. */
const FOLD_SHARE = 0.8

export interface Accepted {
  readonly edit: Edit
  readonly before: number
  readonly after: number
  readonly delta: Delta
  readonly undo: () => void
  /** True for a guard's: it may touch what is softly protected. */
  readonly soft?: boolean
}

/** Who asks: a guard may touch what is softly protected. */
export interface GateOptions {
  readonly guard: boolean
}

const isText = (u: unknown): u is string => typeof u === "string" && u.trim() !== ""

/** Providers take an object, or its JSON text where the host has it so. */
const isArguments = (value: unknown): boolean =>
  (typeof value === "object" && value !== null && !Array.isArray(value)) ||
  (typeof value === "string" && value.startsWith("{"))

const blockFault = (from: Block, to: ReadonlyArray<Block>): string | undefined => {
  const { type } = from
  if (type === "toolCall") {
    // Some providers sign the call itself, arguments and all.
    if ((from as { readonly thoughtSignature?: unknown }).thoughtSignature !== undefined)
      return "a signed call stays as it is, or leaves with its group"
    const [call] = to
    const same =
      to.length === 1 &&
      call?.type === "toolCall" &&
      call.id === from.id &&
      call.name === from.name &&
      isArguments(call.arguments)
    return same ? undefined : "a call may only be replaced by one with the same id and name"
  }
  if (type === "thinking" && to.length > 0) return "reasoning may only be left out whole"
  for (const block of to) {
    if (typeof block !== "object" || block === null) return "not a block"
    if (block.type === "text") {
      if (!isText(block.text)) return "an empty text"
    } else {
      const image = imageOf(block)
      const isImage = (block as { readonly type?: unknown }).type === "image"
      if (image === undefined && !isImage) return "a block may be replaced by texts and images only"
      if (!image?.data || image.mimeType === undefined) return "not an image"
      // What counts images looks where images were.
      if (imageOf(from) === undefined) return "an image may only take the place of an image"
    }
  }
  return undefined
}

const replaceFault = (draft: Draft, edit: Replace, { guard }: GateOptions): string | undefined => {
  if (
    typeof edit.block !== "string" ||
    !Array.isArray(edit.to) ||
    (edit.rank !== 1 && edit.rank !== 2)
  ) {
    return "not a replacement: it needs block, rank 1 or 2, and a list of blocks"
  }
  const { context } = draft.base
  const [id, path] = splitBlockId(edit.block)
  const entry = context.transcript.byId.get(id)
  const from = entry === undefined ? undefined : blockAt(entry.message, path)
  if (from === undefined) return "no such block"
  const protection = protectionOf(context, edit.block)
  if (protection !== undefined && !(guard && protection.level === "soft"))
    return `protected: ${protection.reason}`
  return blockFault(from, edit.to)
}

const foldFault = (draft: Draft, edit: Fold, { guard }: GateOptions): string | undefined => {
  if (
    typeof edit.id !== "string" ||
    typeof edit.basis !== "string" ||
    !Array.isArray(edit.items) ||
    !(edit.text === null || isText(edit.text))
  ) {
    return "not a fold: it needs id, items, a basis, and a text that is not blank, or null"
  }
  if (draft.item(edit.id) !== undefined) return "a fold of this id is there already"
  for (const id of edit.items) {
    const item = draft.item(id)
    if (item === undefined) return `${id} is not there or folded already`
    const protection = protectionOf(draft.base.context, id)
    if (protection !== undefined && !(guard && protection.level === "soft"))
      return `protected: ${protection.reason}`
    if (!item.closed && !guard) return "a group with calls that have no result yet"
  }
  return undefined
}

const memoFault = (draft: Draft, edit: Memo): string | undefined => {
  if (
    typeof edit.key !== "string" ||
    edit.key === "" ||
    !(edit.text === null || isText(edit.text))
  ) {
    return "not a memo: it needs a key, and a text that is not blank, or null"
  }
  if (!(Number.isFinite(edit.cap) && edit.cap > 0))
    return "a memo needs a cap of more than 0 tokens"
  const before = draft.memo(edit.key)
  const { profile } = draft.base.context
  const samePlace =
    before === undefined ||
    ((before.aside === true) === (edit.aside === true) &&
      isAtTail(before.edit, profile) === isAtTail(edit, profile))
  return samePlace && (before?.text ?? null) === edit.text ? "unchanged" : undefined
}

const isEmptied = (message: Message): boolean => {
  if (message.role !== "user" && message.role !== "assistant") return false
  if (isBlank(message)) return true
  const { content } = message
  return (
    Array.isArray(content) && (content as ReadonlyArray<Block>).every((b) => b?.type === "thinking")
  )
}

/** Why an applied edit must not stand, by what it did. */
const effectFault = (
  draft: Draft,
  edit: Edit,
  delta: Delta,
  before: number,
  { guard }: GateOptions
): string | undefined => {
  if (edit.kind !== "replace" && edit.text === null) {
    const { opening } = draft
    if (draft.base.profile.startsWithUser && opening !== "user")
      return "the first message would not be a user's"
    if (edit.kind === "fold" && opening === undefined) return "nothing would be left to answer"
  }
  if (edit.kind === "memo") {
    const memo = draft.memo(edit.key)
    return memo !== undefined && memo.tokens > edit.cap
      ? `${memo.tokens} tokens are over its cap of ${edit.cap}`
      : undefined
  }
  // A few words may cost more than a tiny image that stands alone: where images are over a limit, that is the price.
  const grows = delta.tokens > (guard && delta.images < 0 ? WORDS : 0)
  if (grows || delta.images > 0 || delta.imageBytes > 0) return "it would grow"
  if (delta.tokens === 0 && delta.images === 0 && delta.imageBytes === 0)
    return "it would save nothing"
  if (edit.kind === "fold") {
    if (before + delta.tokens > FOLD_SHARE * before) return "it saves less than a fifth"
    const crowds = draft.base.profile.alternates === true && draft.crowds(edit)
    return crowds ? "a call would stand right behind another message of the assistant" : undefined
  }
  const item = draft.itemOf(splitBlockId(edit.block)[0])
  return item?.messages.some(isEmptied) === true ? "its message would be empty" : undefined
}

const costBefore = (draft: Draft, edit: Edit): number => {
  if (edit.kind === "memo") {
    const memo = draft.memo(edit.key)
    return memo === undefined || memo.aside === true ? 0 : memo.tokens
  }
  if (edit.kind === "fold")
    return edit.items.reduce((sum, id) => sum + (draft.item(id)?.tokens ?? 0), 0)
  const { transcript, counter } = draft.base.context
  const [id, path] = splitBlockId(edit.block)
  const entry = transcript.byId.get(id)
  const image = entry?.facts.images.find((i) => i.path === path)
  if (image !== undefined) return image.tokens
  const block = entry === undefined ? undefined : blockAt(entry.message, path)
  return block?.type === "text" ? counter.text(block.text) : 0
}

const json = (value: unknown): unknown => {
  if (typeof value === "string") return value
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

const copyBlock = (block: Block): Block =>
  Object.freeze(
    Object.fromEntries(Object.entries(block).map(([k, v]) => [k, json(v)])) as unknown as Block
  )

/**
 * A copy of what makes the edit, so that what a strategy does to its own object later does not reach the
 * ledger, nor what the ledger can't save. Throws on what is no JSON.
 */
const copy = (edit: Edit, profile: Profile): Edit => {
  const data = edit.kind === "replace" || edit.data === undefined ? {} : { data: json(edit.data) }
  switch (edit.kind) {
    case "replace": {
      const { kind, block, rank, to } = edit
      return { kind, block, rank, to: Object.freeze(to.map(copyBlock)) }
    }
    case "fold": {
      const { kind, id, items, text, basis } = edit
      return { kind, id, items: [...items], text, basis, ...data }
    }
    case "memo": {
      const { kind, key, text, basis, cap } = edit
      return {
        kind,
        key,
        text,
        basis,
        cap,
        ...(edit.aside === true ? { aside: true } : {}),
        ...(isAtTail(edit, profile) ? { tail: true } : {}),
        ...data
      }
    }
  }
}

/**
 * The acceptance gate. Applies one edit to a draft if it is a good one; else leaves the draft as it was and
 * says why in a sentence.
 */
export const accept = (draft: Draft, proposed: Edit, options: GateOptions): Accepted | string => {
  if (typeof proposed !== "object" || proposed === null) return "not an edit"
  const fault =
    proposed.kind === "replace"
      ? replaceFault(draft, proposed, options)
      : proposed.kind === "fold"
        ? foldFault(draft, proposed, options)
        : proposed.kind === "memo"
          ? memoFault(draft, proposed)
          : "not an edit"
  if (fault !== undefined) return fault
  let edit: Edit
  try {
    edit = copy(proposed, draft.base.profile)
  } catch {
    return "what it holds is not JSON"
  }
  const before = costBefore(draft, edit)
  const applied = draft.apply(edit)
  if (typeof applied === "string") return applied
  const bad = effectFault(draft, edit, applied.delta, before, options)
  if (bad !== undefined) {
    applied.undo()
    return bad
  }
  return {
    edit,
    before,
    after: before + applied.delta.tokens,
    ...applied,
    ...(options.guard ? { soft: true } : {})
  }
}

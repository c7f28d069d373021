import * as Schema from "effect/Schema"
import type { Block, BlockId, MessageId } from "./Message.ts"
import { hashText } from "./internal/hash.ts"

/** Names a group or a fold. */
export type ItemId = string

/**
 * Replaces one block. Rank 1 is a smaller form of it (a thumbnail, a clip), rank 2 a card;
 * a block only ever goes up in rank.
 */
export interface Replace {
  readonly kind: "replace"
  readonly block: BlockId
  readonly rank: 1 | 2
  readonly to: ReadonlyArray<Block>
}

/**
 * Puts one text, or nothing, in the place of groups and earlier folds. The text stands where the first
 * of them stood. `basis` is the newest message that it derives from: the fold holds while that stands.
 */
export interface Fold {
  readonly kind: "fold"
  readonly id: ItemId
  readonly items: ReadonlyArray<ItemId>
  readonly text: string | null
  readonly basis: MessageId
  /** What the strategy must remember; JSON. */
  readonly data?: unknown
}

/** Sets or removes a memo: a short text of ours behind the task or at the tail, with a cap of its own. */
export interface Memo {
  readonly kind: "memo"
  readonly key: string
  readonly text: string | null
  readonly basis: MessageId | null
  /** Most tokens that the text may have. */
  readonly cap: number
  /** True: it stands in no request, and `compose()` alone has it. */
  readonly aside?: boolean
  /**
   * True: it stands at the end of each request, between two lines of ours, and a newer one takes its place at once.
   * Where the profile says that reasoning is bound to what stands before it, it stands behind the task like any other.
   */
  readonly tail?: boolean
  readonly data?: unknown
}

/** One change of what the model sees. */
export type Edit = Replace | Fold | Memo

/**
 * Edits with their reason. Not atomic: each edit stands or falls by itself. Without edits, the reason stands in
 * the report alone: that something was begun, or why it came to nothing.
 */
export interface Proposal {
  readonly edits: ReadonlyArray<Edit>
  readonly reason: string
  readonly atomic?: boolean
}

const toBlocks = (to: string | Block | ReadonlyArray<Block>): ReadonlyArray<Block> =>
  typeof to === "string" ? [{ type: "text", text: to }] : Array.isArray(to) ? to : [to as Block]

/**
 * Replaces a block by a text, a block or blocks; an empty list takes it out.
 *
 * @example
 * ```ts
 * import * as Edit from "@varve/core/Edit"
 *
 * console.log(Edit.replace("a1/0", "[debug output removed]").rank) // => 2
 * ```
 */
export const replace = (
  block: BlockId,
  to: string | Block | ReadonlyArray<Block>,
  rank: 1 | 2 = 2
): Replace => ({ kind: "replace", block, rank, to: toBlocks(to) })

/** Folds groups and earlier folds into a text, or into nothing. The id follows from the content. */
export const fold = (
  items: ReadonlyArray<ItemId>,
  text: string | null,
  basis: MessageId,
  data?: unknown
): Fold => ({
  kind: "fold",
  id: "fold-" + hashText(items.join(" ") + "\n" + (text ?? "")),
  items,
  text,
  basis,
  ...(data === undefined ? {} : { data })
})

/** Sets a memo of at most `cap` tokens, or removes it with `null`. */
export const memo = (
  key: string,
  text: string | null,
  options: {
    readonly cap: number
    readonly basis?: MessageId | null
    readonly aside?: boolean
    readonly tail?: boolean
    readonly data?: unknown
  }
): Memo => ({
  kind: "memo",
  key,
  text,
  basis: options.basis ?? null,
  cap: options.cap,
  ...(options.aside === true ? { aside: true } : {}),
  ...(options.tail === true ? { tail: true } : {}),
  ...(options.data === undefined ? {} : { data: options.data })
})

/** A proposal of edits for one reason. */
export const proposal = (
  reason: string,
  edits: ReadonlyArray<Edit>,
  options?: { readonly atomic?: boolean }
): Proposal => ({ edits, reason, ...(options?.atomic === true ? { atomic: true } : {}) })

const BlockSchema = Schema.Record(Schema.String, Schema.Unknown)

/** The saved form of an edit. */
export const EditSchema = Schema.Union([
  Schema.Struct({
    kind: Schema.Literals(["replace"]),
    block: Schema.String,
    rank: Schema.Literals([1, 2]),
    to: Schema.Array(BlockSchema)
  }),
  Schema.Struct({
    kind: Schema.Literals(["fold"]),
    id: Schema.String,
    items: Schema.Array(Schema.String),
    text: Schema.NullOr(Schema.String),
    basis: Schema.String,
    data: Schema.optionalKey(Schema.Unknown)
  }),
  Schema.Struct({
    kind: Schema.Literals(["memo"]),
    key: Schema.String,
    text: Schema.NullOr(Schema.String),
    basis: Schema.NullOr(Schema.String),
    cap: Schema.Finite,
    aside: Schema.optionalKey(Schema.Boolean),
    tail: Schema.optionalKey(Schema.Boolean),
    data: Schema.optionalKey(Schema.Unknown)
  })
])

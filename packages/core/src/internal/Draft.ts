import type { Edit, Fold, ItemId, Memo, Replace } from "../Edit.ts"
import { blockAt, blocksOf, splitBlockId } from "../Message.ts"
import type { Block, Message, MessageId } from "../Message.ts"
import { messageBytes } from "./bytes.ts"
import type { Chunked } from "./Chunked.ts"
import type { Item } from "./items.ts"
import { FoldItem, GroupItem, replacementAt, textMessage } from "./items.ts"
import { protectionOf } from "./protect.ts"
import { isAtTail, tailOf, withCost } from "./tail.ts"
import type { MemoItem, Totals, ViewState } from "./ViewState.ts"

/** How an applied edit changed the sums of a view. */
export type Delta = Totals

interface Applied {
  readonly delta: Delta
  readonly undo: () => void
}

const costOf = (item: Item): Totals => ({
  tokens: item.tokens,
  bytes: item.bytes,
  images: item.imageCount,
  imageBytes: item.imageBytes,
  imageTokens: item.imageTokens,
  messages: item.messages.length
})

/** How far down the ladder a replacement is: thumbnail or clip, card, the words that something was left out, nothing. */
const depthOf = ({ rank, to }: Replace): number => {
  if (to.length === 0) return 4
  const [only] = to
  return to.length === 1 && only?.type === "text" && only.text === LEFT_OUT ? 3 : rank
}

/** All that is left of a text where nothing else fits. */
export const LEFT_OUT = "[left out]"

/** A message of a user, an assistant or a tool; neither system text nor an unknown role. */
export const isConversation = ({ role }: Message): boolean =>
  role === "user" || role === "assistant" || role === "toolResult"

/** Unknown roles part two messages as well: hosts send them as a user's. */
const isTurn = ({ role }: Message): boolean => role !== "system"

const hasTurn = (item: Item | null | undefined): boolean => item?.messages.some(isTurn) === true

const hasCalls = (message: Message): boolean =>
  message.role === "assistant" &&
  (blocksOf(message) as ReadonlyArray<Block | null>).some((b) => b?.type === "toolCall")

const zero: Totals = { tokens: 0, bytes: 0, images: 0, imageBytes: 0, imageTokens: 0, messages: 0 }

const costOfMemo = ({ tokens, bytes }: MemoItem): Totals => ({
  ...zero,
  tokens,
  bytes,
  messages: 1
})

const add = (a: Totals, b: Totals): Totals => ({
  tokens: a.tokens + b.tokens,
  bytes: a.bytes + b.bytes,
  images: a.images + b.images,
  imageBytes: a.imageBytes + b.imageBytes,
  imageTokens: a.imageTokens + b.imageTokens,
  messages: a.messages + b.messages
})

export const less = (a: Totals, b: Totals): Totals => ({
  tokens: a.tokens - b.tokens,
  bytes: a.bytes - b.bytes,
  images: a.images - b.images,
  imageBytes: a.imageBytes - b.imageBytes,
  imageTokens: a.imageTokens - b.imageTokens,
  messages: a.messages - b.messages
})

/** Where an item with this first position stands in a list that is ascending by position. */
const search = (items: Chunked<Item>, first: number): number => {
  let low = 0
  let high = items.length
  while (low < high) {
    const mid = (low + high) >>> 1
    if (items.at(mid)!.first < first) low = mid + 1
    else high = mid
  }
  return low
}

const without = <A>(map: ReadonlyMap<string, A>, key: string): ReadonlyMap<string, A> =>
  map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map

/**
 * Builds the next view: mutable, holds what it changes, undone edit by edit, frozen once.
 * Applies what can be applied and says why where it can't; whether an edit is a good one is not its business.
 */
export class Draft {
  readonly base: ViewState
  readonly #list: Chunked<Item>
  /** What stands in a slot of the list instead; `null` where a fold took it. */
  readonly #changes = new Map<number, Item | null>()
  #memos: ReadonlyMap<string, MemoItem>
  /** Memos that stand at the tail or in no request: in none of the sums. */
  #aside: ReadonlyMap<string, MemoItem>
  /** The folds that this draft has made. */
  readonly #folds = new Map<ItemId, FoldItem>()
  #totals: Totals
  #changed = false
  readonly #alike: Draft | undefined

  /** `alike`: a view in which some of the edits are made already, so that their items need not be made anew. */
  constructor(base: ViewState, alike?: ViewState) {
    this.base = base
    this.#alike = alike && new Draft(alike)
    this.#list = base.list
    this.#memos = base.memoItems
    this.#aside = base.aside
    this.#totals = base.totals
  }

  /** What all of it costs, the memos at the tail included. */
  get totals(): Totals {
    const slots = { length: this.#list.length, at: (slot: number) => this.#at(slot) }
    return withCost(this.#totals, tailOf(slots, this.#aside, this.base.context))
  }

  #at(slot: number): Item | null | undefined {
    const item = this.#changes.get(slot)
    return item === undefined ? this.#list.at(slot) : item
  }

  *#alive(): Generator<Item> {
    for (let slot = 0; slot < this.#list.length; slot++) {
      const item = this.#at(slot)
      if (item) yield item
    }
  }

  #slotAt(first: number, id: ItemId): number | undefined {
    let slot = search(this.#list, first)
    for (; this.#list.at(slot)?.first === first; slot++) {
      if (this.#at(slot)?.id === id) return slot
    }
    return undefined
  }

  /** Where a group or a fold begins, alive or not. */
  #firstOf(id: ItemId): number | undefined {
    const { context, folds } = this.base
    const found = this.#folds.get(id) ?? folds.get(id) ?? context.transcript.groupById.get(id)
    return found?.first
  }

  /** The slot of a group or a fold that is alive. */
  #locate(id: ItemId): number | undefined {
    const first = this.#firstOf(id)
    return first === undefined ? undefined : this.#slotAt(first, id)
  }

  /** The item of this id, or nothing where it is not alive. */
  item(id: ItemId): Item | undefined {
    const slot = this.#locate(id)
    return slot === undefined ? undefined : (this.#at(slot) ?? undefined)
  }

  /** The item that shows a message, or nothing where it is folded or gone. */
  itemOf(message: MessageId): GroupItem | undefined {
    const { transcript } = this.base.context
    const entry = transcript.byId.get(message)
    const item = entry === undefined ? undefined : this.item(transcript.groups[entry.group]!.id)
    return item instanceof GroupItem ? item : undefined
  }

  /** The folds that are alive. */
  folds(): ReadonlyArray<ItemId> {
    return [...this.base.folds.keys(), ...this.#folds.keys()].filter(
      (id) => this.item(id) !== undefined
    )
  }

  /** Who speaks first, memos aside; nothing where nobody does. */
  get opening(): string | undefined {
    for (const item of this.#alive()) {
      const first = item.messages.find(isConversation)
      if (first !== undefined) return first.role
    }
    return undefined
  }

  /** The folds without a text that stand before the first message of the conversation, in order. */
  silentFolds(): ReadonlyArray<FoldItem> {
    const found: Array<FoldItem> = []
    for (const item of this.#alive()) {
      if (item.messages.some(isConversation)) break
      if (item instanceof FoldItem && item.messages.length === 0) found.push(item)
    }
    return found
  }

  /** Messages of users, assistants and tools that are shown; neither system text nor memos nor unknown roles. */
  get conversation(): number {
    let sum = 0
    for (const { messages } of this.#alive()) sum += messages.filter(isConversation).length
    return sum
  }

  /** True where a message with calls now stands right behind an assistant's, through what this fold took away. */
  crowds({ items }: Fold): boolean {
    return items.some((id) => {
      const from = search(this.#list, this.#firstOf(id) ?? Infinity)
      let after = from
      while (after < this.#list.length && !hasTurn(this.#at(after))) after++
      let before = from - 1
      while (before >= 0 && !hasTurn(this.#at(before))) before--
      const next = this.#at(after)?.messages.find(isTurn)
      const last = this.#at(before)?.messages.findLast(isTurn)
      if (last?.role !== "assistant" || (next !== undefined && !hasCalls(next))) return false
      // At the end the model's next message is what comes behind. Where the host has it so itself, with this call
      // or with the next, there is no more of it than before.
      const behind = (at: number): boolean => {
        let was = at - 1
        while (was >= 0 && !hasTurn(this.#list.at(was))) was--
        return this.#list.at(was)?.messages.findLast(isTurn)?.role === "assistant"
      }
      const gone = this.#list.at(from)?.messages.find(isTurn)
      return !behind(after) && !(gone !== undefined && hasCalls(gone) && behind(from))
    })
  }

  get memoCount(): number {
    return this.#memos.size
  }

  memo(key: string): MemoItem | undefined {
    return this.#memos.get(key) ?? this.#aside.get(key)
  }

  /** Applies an edit, or says in a sentence why it can't be. */
  apply(edit: Edit): Applied | string {
    switch (edit.kind) {
      case "replace":
        return this.#replace(edit)
      case "fold":
        return this.#fold(edit)
      case "memo":
        return this.#memo(edit)
      default:
        return "not an edit"
    }
  }

  #put(slots: ReadonlyArray<readonly [number, Item | null]>, fold?: FoldItem): Applied {
    const before = slots.map(([slot]) => [slot, this.#at(slot)!] as const)
    const totals = this.#totals
    const changed = this.#changed
    let delta = zero
    for (const [slot, item] of slots) {
      const old = this.#at(slot)
      if (old != null) delta = less(delta, costOf(old))
      if (item !== null) delta = add(delta, costOf(item))
      this.#changes.set(slot, item)
    }
    if (fold !== undefined) this.#folds.set(fold.id, fold)
    this.#totals = add(totals, delta)
    this.#changed = true
    return {
      delta,
      undo: () => {
        for (const [slot, item] of before) this.#changes.set(slot, item)
        if (fold !== undefined) this.#folds.delete(fold.id)
        this.#totals = totals
        this.#changed = changed
      }
    }
  }

  #replace(edit: Replace): Applied | string {
    const [id, path] = splitBlockId(edit.block)
    const { transcript, counter } = this.base.context
    const entry = transcript.byId.get(id)
    if (entry === undefined) return "no such message"
    const group = transcript.groups[entry.group]!
    const slot = this.#slotAt(group.first, group.id)
    const item = slot === undefined ? undefined : this.#at(slot)
    if (slot === undefined || !(item instanceof GroupItem)) return "its message is folded"
    if (protectionOf(this.base.context, edit.block)?.level === "hard") return "protected"
    if (blockAt(entry.message, path) === undefined) return "no such block"
    const { replaced = [] } = item
    const current = replacementAt(replaced, id, path)
    if (current !== undefined && current.block !== edit.block)
      return "the block around it is replaced"
    if (current !== undefined && depthOf(current) >= depthOf(edit)) {
      return "already at this rank or beyond"
    }
    const next = replaced.filter((other) => other !== current).concat(edit)
    const made = this.#alike?.item(group.id)
    const isMade = made instanceof GroupItem && made.group === group && made.holds(next)
    return this.#put([[slot, isMade ? made : new GroupItem(group, counter, next)]])
  }

  #fold(edit: Fold): Applied | string {
    const { context } = this.base
    const basis = context.transcript.byId.get(edit.basis)
    if (basis === undefined) return "its basis is gone"
    const slots: Array<number> = []
    for (const id of edit.items) {
      const slot = this.#locate(id)
      if (slot === undefined) return `${id} is not there or folded already`
      if (protectionOf(context, id)?.level === "hard") return "protected"
      if (!slots.includes(slot)) slots.push(slot)
    }
    if (slots.length === 0) return "nothing to fold"
    slots.sort((a, b) => a - b)
    const items = slots.map((slot) => this.#at(slot)!)
    const fold = new FoldItem(edit, items, basis.message, context.counter)
    return this.#put(
      slots.map((slot, i) => [slot, i === 0 ? fold : null] as const),
      fold
    )
  }

  #memo(edit: Memo): Applied | string {
    const { counter, profile, transcript } = this.base.context
    if (edit.basis !== null && !transcript.byId.has(edit.basis)) return "its basis is gone"
    const { key } = edit
    const [memos, aside] = [this.#memos, this.#aside]
    const shown = memos.get(key)
    const { totals } = this
    const [sums, changed] = [this.#totals, this.#changed]
    if (shown !== undefined) this.#totals = less(sums, costOfMemo(shown))
    this.#memos = without(memos, key)
    this.#aside = without(aside, key)
    if (edit.text !== null) {
      const task = transcript.totals.task
      const like = task < 0 ? undefined : transcript.groups[task]!.entries[0]?.message
      const message = textMessage(edit.text, like)
      const item: MemoItem = {
        key,
        text: edit.text,
        tokens: counter.message(message),
        bytes: messageBytes(message),
        basis: edit.basis,
        edit,
        message,
        ...(edit.aside === true ? { aside: true } : {}),
        ...(isAtTail(edit, profile) ? { tail: true } : {}),
        ...(edit.data === undefined ? {} : { data: edit.data })
      }
      if (edit.aside === true || isAtTail(edit, profile))
        this.#aside = new Map(this.#aside).set(key, item)
      else {
        this.#memos = new Map(this.#memos).set(key, item)
        this.#totals = add(this.#totals, costOfMemo(item))
      }
    }
    this.#changed = true
    return {
      delta: less(this.totals, totals),
      undo: () => {
        this.#memos = memos
        this.#aside = aside
        this.#totals = sums
        this.#changed = changed
      }
    }
  }

  /** The view as it now is. The draft is spent. */
  freeze(): ViewState {
    if (!this.#changed) return this.base
    let stay = this.#list.length
    const folds = new Map(this.base.folds)
    for (const [slot, item] of this.#changes) {
      const old = this.#list.at(slot)!
      if (item === old) continue
      stay = Math.min(stay, slot)
      if (folds.get(old.id) === old) folds.delete(old.id)
      if (item instanceof FoldItem) folds.set(item.id, item)
    }
    const others: Array<Item> = []
    for (let slot = stay; slot < this.#list.length; slot++) {
      const item = this.#at(slot)
      if (item) others.push(item)
    }
    return this.base.instead(stay, others, {
      memoItems: this.#memos,
      aside: this.#aside,
      folds,
      totals: this.#totals
    })
  }
}

import type { Edit, Fold, ItemId, Memo, Replace } from "../Edit.ts"
import { blockAt, blocksOf, splitBlockId } from "../Message.ts"
import type { Block, Message, MessageId } from "../Message.ts"
import { messageBytes } from "./bytes.ts"
import type { Item, Replaced } from "./items.ts"
import { FoldItem, GroupItem, replacementAt, textMessage } from "./items.ts"
import { protectionOf } from "./protect.ts"
import type { MemoItem, Totals } from "./ViewState.ts"
import { ViewState } from "./ViewState.ts"

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
const search = (items: ReadonlyArray<Item>, first: number): number => {
  let low = 0
  let high = items.length
  while (low < high) {
    const mid = (low + high) >>> 1
    if (items[mid]!.first < first) low = mid + 1
    else high = mid
  }
  return low
}

const put = <A>(map: Map<string, A>, key: string, value: A | undefined): void => {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

/**
 * Builds the next view: mutable, one copy however many edits, undone edit by edit, frozen once.
 * Applies what can be applied and says why where it can't; whether an edit is a good one is not its business.
 */
export class Draft {
  readonly base: ViewState
  #slots: Array<Item | null>
  #owned = false
  readonly #memos: Map<string, MemoItem>
  /** Memos that stand in no request. */
  readonly #aside: Map<string, MemoItem>
  readonly #folds: Map<ItemId, { readonly item: FoldItem; readonly slot: number }>
  #totals: Totals
  #changed = false

  constructor(base: ViewState) {
    this.base = base
    this.#slots = base.items as Array<Item | null>
    this.#memos = new Map(base.memoItems)
    this.#aside = new Map(base.aside)
    this.#folds = new Map()
    this.#totals = base.totals
    for (const [id, item] of base.folds) {
      const slot = this.#slotAt(item.first, id)
      if (slot !== undefined) this.#folds.set(id, { item, slot })
    }
  }

  get totals(): Totals {
    return this.#totals
  }

  #slotAt(first: number, id: ItemId): number | undefined {
    const { items } = this.base
    for (
      let slot = search(items, first);
      slot < items.length && items[slot]!.first === first;
      slot++
    ) {
      if (this.#slots[slot]?.id === id) return slot
    }
    return undefined
  }

  /** The slot of a group or a fold that is alive. */
  #locate(id: ItemId): number | undefined {
    const fold = this.#folds.get(id)
    if (fold !== undefined) return this.#slots[fold.slot] === fold.item ? fold.slot : undefined
    const group = this.base.context.transcript.groupById.get(id)
    return group === undefined ? undefined : this.#slotAt(group.first, id)
  }

  /** The item of this id, or nothing where it is not alive. */
  item(id: ItemId): Item | undefined {
    const slot = this.#locate(id)
    return slot === undefined ? undefined : (this.#slots[slot] ?? undefined)
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
    return [...this.#folds]
      .filter(([, { item, slot }]) => this.#slots[slot] === item)
      .map(([id]) => id)
  }

  /** Who speaks first, memos aside; nothing where nobody does. */
  get opening(): string | undefined {
    for (const item of this.#slots) {
      const first = item?.messages.find(isConversation)
      if (first !== undefined) return first.role
    }
    return undefined
  }

  /** The folds without a text that stand before the first message of the conversation, in order. */
  silentFolds(): ReadonlyArray<FoldItem> {
    const found: Array<FoldItem> = []
    for (const item of this.#slots) {
      if (item?.messages.some(isConversation) === true) break
      if (item instanceof FoldItem && item.messages.length === 0) found.push(item)
    }
    return found
  }

  /** Messages of users, assistants and tools that are shown; neither system text nor memos nor unknown roles. */
  get conversation(): number {
    return this.#slots.reduce(
      (sum, item) => sum + (item?.messages.filter(isConversation).length ?? 0),
      0
    )
  }

  /** True where a message with calls now stands right behind an assistant's, through what this fold took away. */
  crowds({ items }: Fold): boolean {
    const { groupById } = this.base.context.transcript
    return items.some((id) => {
      const slot = this.#folds.get(id)?.slot
      const from = slot ?? search(this.base.items, groupById.get(id)?.first ?? Infinity)
      let after = from
      while (after < this.#slots.length && !hasTurn(this.#slots[after])) after++
      let before = from - 1
      while (before >= 0 && !hasTurn(this.#slots[before])) before--
      const next = this.#slots[after]?.messages.find(isTurn)
      const last = this.#slots[before]?.messages.findLast(isTurn)
      if (last?.role !== "assistant" || (next !== undefined && !hasCalls(next))) return false
      // At the end the model's next message is what comes behind. Where the host has it so itself, with this call
      // or with the next, there is no more of it than before.
      const behind = (at: number): boolean => {
        let was = at - 1
        while (was >= 0 && !hasTurn(this.base.items[was])) was--
        return this.base.items[was]?.messages.findLast(isTurn)?.role === "assistant"
      }
      const gone = this.base.items[from]?.messages.find(isTurn)
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
    const before = slots.map(([slot]) => [slot, this.#slots[slot]!] as const)
    const totals = this.#totals
    const changed = this.#changed
    if (!this.#owned) {
      this.#slots = this.#slots.slice()
      this.#owned = true
    }
    let delta = zero
    for (const [slot, item] of slots) {
      const old = this.#slots[slot]
      if (old != null) delta = less(delta, costOf(old))
      if (item !== null) delta = add(delta, costOf(item))
      this.#slots[slot] = item
    }
    if (fold !== undefined) this.#folds.set(fold.id, { item: fold, slot: slots[0]![0] })
    this.#totals = add(totals, delta)
    this.#changed = true
    return {
      delta,
      undo: () => {
        for (const [slot, item] of before) this.#slots[slot] = item
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
    const item = slot === undefined ? undefined : this.#slots[slot]
    if (slot === undefined || !(item instanceof GroupItem)) return "its message is folded"
    if (protectionOf(this.base.context, edit.block)?.level === "hard") return "protected"
    if (blockAt(entry.message, path) === undefined) return "no such block"
    const replaced = item.replaced?.get(id)
    const current = replacementAt(replaced, path)
    if (current !== undefined && current[0] !== path) return "the block around it is replaced"
    if (current !== undefined && depthOf(current[1]) >= depthOf(edit)) {
      return "already at this rank or beyond"
    }
    const next = new Map(item.replaced)
    const ofMessage: Replaced = new Map(replaced).set(path, edit)
    return this.#put([[slot, new GroupItem(group, counter, next.set(id, ofMessage))]])
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
    const items = slots.map((slot) => this.#slots[slot]!)
    const fold = new FoldItem(edit, items, basis.message, context.counter)
    return this.#put(
      slots.map((slot, i) => [slot, i === 0 ? fold : null] as const),
      fold
    )
  }

  #memo(edit: Memo): Applied | string {
    const { transcript, counter } = this.base.context
    if (edit.basis !== null && !transcript.byId.has(edit.basis)) return "its basis is gone"
    const { key } = edit
    const [shown, aside] = [this.#memos.get(key), this.#aside.get(key)]
    const totals = this.#totals
    const changed = this.#changed
    let delta = zero
    if (shown !== undefined) {
      delta = less(delta, { ...zero, tokens: shown.tokens, bytes: shown.bytes, messages: 1 })
    }
    if (edit.text === null || edit.aside === true) this.#memos.delete(key)
    if (edit.text === null || edit.aside !== true) this.#aside.delete(key)
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
        ...(edit.data === undefined ? {} : { data: edit.data })
      }
      if (edit.aside === true) this.#aside.set(key, item)
      else {
        this.#memos.set(key, item)
        delta = add(delta, { ...zero, tokens: item.tokens, bytes: item.bytes, messages: 1 })
      }
    }
    this.#totals = add(totals, delta)
    this.#changed = true
    return {
      delta,
      undo: () => {
        put(this.#memos, key, shown)
        put(this.#aside, key, aside)
        this.#totals = totals
        this.#changed = changed
      }
    }
  }

  /** The view as it now is. The draft is spent. */
  freeze(): ViewState {
    if (!this.#changed) return this.base
    const items = (
      this.#folds.size === 0 ? this.#slots : this.#slots.filter((i) => i !== null)
    ) as ReadonlyArray<Item>
    const folds = new Map<ItemId, FoldItem>()
    for (const [id, { item, slot }] of this.#folds)
      if (this.#slots[slot] === item) folds.set(id, item)
    const next = new ViewState(
      this.base.context,
      items,
      this.#memos,
      folds,
      this.#totals,
      this.#aside
    )
    next.held = this.base.held
    return next
  }
}

import type { Limits } from "../Budget.ts"
import type { Counter, CountSource } from "../Counter.ts"
import type { ItemId, Memo, Proposal } from "../Edit.ts"
import type { Message } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import type { Protection } from "../Protection.ts"
import type { Redact } from "../Redact.ts"
import type { Step, StepLog } from "../StepLog.ts"
import type { Group, Transcript } from "../Transcript.ts"
import { isUnknownRole } from "../Transcript.ts"
import type { ImageRef, ItemRef, MemoRef, ResultRef, Usage, View } from "../View.ts"
import { Draft } from "./Draft.ts"
import type { FoldItem, Item } from "./items.ts"
import { GroupItem } from "./items.ts"
import { protectionOf } from "./protect.ts"

/** What all views of one memory share during a request. */
export interface ViewContext {
  readonly transcript: Transcript
  readonly counter: Counter
  readonly profile: Profile
  readonly limits: Limits
  readonly steps: StepLog
  readonly pins: ReadonlySet<string>
  /** How many groups at the end are softly protected. */
  readonly protectLast: number
  /** Tokens and bytes of the system text and the tools. */
  readonly overheadTokens: number
  readonly overheadBytes: number
  /** The part of the overhead's tokens that no learned ratio scales. */
  readonly overheadFixed: number
  readonly calibrate: (
    estimate: number,
    fixed: number
  ) => {
    readonly tokens: number
    readonly source: CountSource
  }
  readonly cacheCold: boolean
  readonly redact?: Redact | undefined
}

/** A memo as it is sent. */
export interface MemoItem extends MemoRef {
  readonly edit: Memo
  readonly message: Message
  readonly bytes: number
}

/** Sums over the items and memos of a view. */
export interface Totals {
  readonly tokens: number
  readonly bytes: number
  readonly images: number
  readonly imageBytes: number
  readonly imageTokens: number
  readonly messages: number
}

const NO_MEMOS: ReadonlyMap<string, MemoItem> = new Map()

const unedited = new WeakMap<Group, GroupItem>()

/** The item of a group without edits; one object as long as the group is one. */
const plainItem = (group: Group, counter: Counter): GroupItem => {
  let item = unedited.get(group)
  if (item === undefined) unedited.set(group, (item = new GroupItem(group, counter)))
  return item
}

/** The view that a memory works with. It never changes; a `Draft` makes the next one. */
export class ViewState implements View {
  readonly context: ViewContext
  readonly #items: ReadonlyArray<Item>
  readonly memoItems: ReadonlyMap<string, MemoItem>
  readonly folds: ReadonlyMap<ItemId, FoldItem>
  readonly totals: Totals
  /** The memos that stand in no request: not among `memoItems`, and in no sum. */
  readonly aside: ReadonlyMap<string, MemoItem>
  /** The items of the view that this one extends, and how many of them stand here too. */
  #extended: { readonly items: ReadonlyArray<Item>; readonly stay: number } | undefined
  /** True while edits wait because the host went back to where they would touch the newest. */
  held = false
  #messages: ReadonlyArray<Message> | undefined
  #images: ReadonlyArray<ImageRef> | undefined
  #results: ReadonlyArray<ResultRef> | undefined
  #groups: ReadonlyArray<ItemRef> | undefined
  #usage: Usage | undefined

  constructor(
    context: ViewContext,
    items: ReadonlyArray<Item>,
    memoItems: ReadonlyMap<string, MemoItem>,
    folds: ReadonlyMap<ItemId, FoldItem>,
    totals: Totals,
    aside: ReadonlyMap<string, MemoItem> = NO_MEMOS
  ) {
    this.context = context
    this.#items = items
    this.memoItems = memoItems
    this.folds = folds
    this.totals = totals
    this.aside = aside
  }

  /** The history without edits. */
  static plain(context: ViewContext): ViewState {
    const { groups, totals } = context.transcript
    const items: Array<Item> = []
    let messages = 0
    for (const group of groups) {
      if (group.entries.length === 0) continue
      items.push(plainItem(group, context.counter))
      messages += group.entries.length
    }
    const { tokens, bytes, images, imageBytes, imageTokens } = totals
    return new ViewState(context, items, new Map(), new Map(), {
      tokens,
      bytes,
      images,
      imageBytes,
      imageTokens,
      messages
    })
  }

  /** Groups and folds in order. */
  get items(): ReadonlyArray<Item> {
    return this.#items
  }

  /** How many items at the front are those of a list, as far as that need not be compared: none where it is not known. */
  sharedWith(items: ReadonlyArray<Item>): number {
    if (items === this.items) return items.length
    return items === this.#extended?.items ? this.#extended.stay : 0
  }

  /** The same view for another request: other limits, overhead, pins. */
  with(context: ViewContext): ViewState {
    const { aside, folds, items, memoItems } = this
    const next = new ViewState(context, items, memoItems, folds, this.totals, aside)
    next.held = this.held
    next.#messages = this.#messages
    next.#images = this.#images
    next.#results = this.#results
    return next
  }

  /**
   * This view with the groups that came since: those of the first `keep` groups stay, all behind is new and
   * has no edits.
   */
  extend(context: ViewContext, keep: number): ViewState {
    const { groups } = context.transcript
    const border = keep === 0 ? 0 : groups[keep - 1]!.first + groups[keep - 1]!.entries.length
    let stay = this.items.length
    let { tokens, bytes, images, imageBytes, imageTokens, messages } = this.totals
    while (stay > 0 && this.items[stay - 1]!.first >= border) {
      const item = this.items[--stay]!
      tokens -= item.tokens
      bytes -= item.bytes
      images -= item.imageCount
      imageBytes -= item.imageBytes
      imageTokens -= item.imageTokens
      messages -= item.messages.length
    }
    const fresh: Array<Item> = []
    for (let g = keep; g < groups.length; g++) {
      const group = groups[g]!
      if (group.entries.length === 0) continue
      const item = plainItem(group, context.counter)
      fresh.push(item)
      tokens += item.tokens
      bytes += item.bytes
      images += item.imageCount
      imageBytes += item.imageBytes
      imageTokens += item.imageTokens
      messages += item.messages.length
    }
    const gone = this.items.slice(stay)
    const items = instead(this.items, gone.length, fresh)
    const totals = { tokens, bytes, images, imageBytes, imageTokens, messages }
    const next = new ViewState(context, items, this.memoItems, this.folds, totals, this.aside)
    next.#extended = { items: this.items, stay }
    const tailed = <A>(list: ReadonlyArray<A>, of: (item: Item) => ReadonlyArray<A>) =>
      instead(
        list,
        gone.reduce((sum, item) => sum + of(item).length, 0),
        fresh.flatMap(of)
      )
    const task = context.transcript.totals.task
    // The memos stand behind the task: as long as that stays, what was laid out before it stays too.
    if (this.#messages !== undefined && (this.memoItems.size === 0 || (task >= 0 && task < keep))) {
      next.#messages = tailed(this.#messages, (i) => i.messages)
    }
    if (this.#images !== undefined) next.#images = tailed(this.#images, (i) => i.images)
    if (this.#results !== undefined) next.#results = tailed(this.#results, (i) => i.results)
    return next
  }

  get messages(): ReadonlyArray<Message> {
    if (this.#messages !== undefined) return this.#messages
    const out: Array<Message> = []
    const behind = this.memoItems.size === 0 ? -1 : this.memoPlace
    if (behind === 0) this.#pushMemos(out)
    for (let i = 0; i < this.items.length; i++) {
      for (const m of this.items[i]!.messages) out.push(m)
      if (i + 1 === behind) this.#pushMemos(out)
    }
    return (this.#messages = out)
  }

  #pushMemos(out: Array<Message>): void {
    for (const key of [...this.memoItems.keys()].sort()) out.push(this.memoItems.get(key)!.message)
  }

  /** How many items stand before the memos: up to the task, else up to the system text at the head. */
  get memoPlace(): number {
    const task = this.context.transcript.totals.task
    if (task >= 0) {
      const first = this.context.transcript.groups[task]!.first
      let i = 0
      while (i < this.items.length && this.items[i]!.first <= first) i++
      return i
    }
    let i = 0
    while (i < this.items.length) {
      const role = this.items[i]!.messages[0]?.role
      if (role !== "system" && (role === undefined || !isUnknownRole(role))) break
      i++
    }
    return i
  }

  get memos(): ReadonlyArray<MemoRef> {
    return [...this.memoItems.values(), ...this.aside.values()]
  }

  get groups(): ReadonlyArray<ItemRef> {
    return (this.#groups ??= this.items.filter((i) => i.kind === "group"))
  }

  get images(): ReadonlyArray<ImageRef> {
    return (this.#images ??=
      this.totals.images === 0
        ? []
        : this.items.flatMap((i) => (i.imageCount === 0 ? [] : i.images)))
  }

  get results(): ReadonlyArray<ResultRef> {
    return (this.#results ??= this.items.flatMap((i) => i.results))
  }

  get steps(): ReadonlyArray<Step> {
    return this.context.steps.steps
  }

  /** Tokens by the counter alone, overhead included. */
  get estimate(): number {
    return this.totals.tokens + this.context.overheadTokens
  }

  /** The part of the estimate that no learned ratio scales. */
  get fixed(): number {
    return this.totals.imageTokens + this.context.overheadFixed
  }

  get usage(): Usage {
    if (this.#usage !== undefined) return this.#usage
    const { images, imageBytes, messages, bytes } = this.totals
    return (this.#usage = {
      ...this.context.calibrate(this.estimate, this.fixed),
      images,
      imageBytes,
      requestBytes: bytes + this.context.overheadBytes,
      messages
    })
  }

  get limits(): Limits {
    return this.context.limits
  }

  get profile(): Profile {
    return this.context.profile
  }

  get counter(): Counter {
    return this.context.counter
  }

  get turns(): number {
    return this.context.transcript.totals.turns
  }

  get requests(): number {
    return this.context.transcript.totals.requests
  }

  get cacheCold(): boolean {
    return this.context.cacheCold
  }

  get newest(): string | undefined {
    return this.context.transcript.newest?.id
  }

  readonly stepOf = (callId: string): Step | undefined => this.context.steps.byCall(callId)

  readonly protection = (id: string): Protection | undefined => protectionOf(this.context, id)

  readonly after = (proposals: ReadonlyArray<Proposal>): View => {
    const draft = new Draft(this)
    for (const proposal of proposals) for (const edit of proposal.edits) draft.apply(edit)
    return draft.freeze()
  }
}

/**
 * A view as a strategy gets it: lists of its own, copied when looked at, so that what a strategy does to
 * them stays with it.
 */
export class ShownView extends ViewState {
  readonly #source: ViewState
  readonly #copies = new Map<string, ReadonlyArray<unknown>>()

  constructor(source: ViewState) {
    const { aside, context, folds, items, memoItems, totals } = source
    super(context, items, memoItems, folds, totals, aside)
    this.#source = source
  }

  #copy<A>(key: string, list: ReadonlyArray<A>): ReadonlyArray<A> {
    let copy = this.#copies.get(key) as ReadonlyArray<A> | undefined
    if (copy === undefined) this.#copies.set(key, (copy = list.slice()))
    return copy
  }

  override get items(): ReadonlyArray<Item> {
    return this.#copy("items", this.#source.items)
  }

  override get messages(): ReadonlyArray<Message> {
    return this.#copy("messages", this.#source.messages)
  }

  override get images(): ReadonlyArray<ImageRef> {
    return this.#copy("images", this.#source.images)
  }

  override get results(): ReadonlyArray<ResultRef> {
    return this.#copy("results", this.#source.results)
  }

  override get limits(): Limits {
    return { ...this.#source.limits }
  }

  override get counter(): Counter {
    // What is written to it hides the counter's own from this view alone.
    return Object.create(this.#source.counter) as Counter
  }

  override get usage(): Usage {
    return { ...this.#source.usage }
  }
}

/** A list with others in the place of its last ones; copied once, since it is long. */
const instead = <A>(
  list: ReadonlyArray<A>,
  gone: number,
  fresh: ReadonlyArray<A>
): ReadonlyArray<A> =>
  gone === 0 && fresh.length === 0
    ? list
    : (gone === 0 ? list : list.slice(0, list.length - gone)).concat(fresh)

import type { Limits } from "../Budget.ts"
import type { Counter, CountSource } from "../Counter.ts"
import type { ItemId, Memo, Proposal } from "../Edit.ts"
import type { Message } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import type { Protection } from "../Protection.ts"
import type { Redact } from "../Redact.ts"
import type { Step, StepLog } from "../StepLog.ts"
import type { Transcript } from "../Transcript.ts"
import { isUnknownRole } from "../Transcript.ts"
import type { ImageRef, ItemRef, MemoRef, ResultRef, Usage, View } from "../View.ts"
import { Chunked } from "./Chunked.ts"
import { slope } from "./count.ts"
import { Draft } from "./Draft.ts"
import type { FoldItem, Item } from "./items.ts"
import { plainItem } from "./items.ts"
import { protectionOf } from "./protect.ts"
import type { Tail } from "./tail.ts"
import { layTail, tailOf, withCost } from "./tail.ts"

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
  /** Requests that had been made when something changed that had been sent before. */
  readonly changedAt: number
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

const messagesOf = ({ messages }: Item): ReadonlyArray<Message> => messages
const imagesOf = ({ images }: Item): ReadonlyArray<ImageRef> => images
const resultsOf = ({ results }: Item): ReadonlyArray<ResultRef> => results

/** What a view is made of, beside its items. */
export interface ViewParts {
  readonly context: ViewContext
  readonly memoItems: ReadonlyMap<string, MemoItem>
  /** The memos at the tail and those that stand in no request: not among `memoItems`, and not in `totals`. */
  readonly aside: ReadonlyMap<string, MemoItem>
  readonly folds: ReadonlyMap<ItemId, FoldItem>
  readonly totals: Totals
}

/** The view that a memory works with. It never changes; a `Draft` makes the next one. */
export class ViewState implements View {
  readonly context: ViewContext
  readonly list: Chunked<Item>
  readonly memoItems: ReadonlyMap<string, MemoItem>
  readonly folds: ReadonlyMap<ItemId, FoldItem>
  readonly totals: Totals
  readonly aside: ReadonlyMap<string, MemoItem>
  /** True while edits wait because the host went back to where they would touch the newest. */
  held = false
  #messages: Chunked<Message> | undefined
  #images: Chunked<ImageRef> | undefined
  #results: Chunked<ResultRef> | undefined
  #groups: ReadonlyArray<ItemRef> | undefined
  #usage: Usage | undefined
  /** `null` until it is asked for. */
  #tail: Tail | undefined | null = null
  #sent: ReadonlyArray<Message> | undefined

  constructor(list: Chunked<Item>, { aside, context, folds, memoItems, totals }: ViewParts) {
    this.context = context
    this.list = list
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
      items.push(plainItem(group, context.transcript, context.counter))
      messages += group.entries.length
    }
    const { tokens, bytes, images, imageBytes, imageTokens } = totals
    return new ViewState(Chunked.of(items), {
      context,
      memoItems: new Map(),
      aside: new Map(),
      folds: new Map(),
      totals: { tokens, bytes, images, imageBytes, imageTokens, messages }
    })
  }

  /** Groups and folds in order. */
  get items(): ReadonlyArray<Item> {
    return this.list.flat
  }

  /** The same view for another request: other limits, overhead, pins. */
  with(context: ViewContext): ViewState {
    return this.instead(this.list.length, [], { context })
  }

  /** The view whose items are these up to `stay`, and others behind that. What was looked up is taken along. */
  instead(stay: number, others: ReadonlyArray<Item>, parts: Partial<ViewParts>): ViewState {
    const { aside, context, folds, list, memoItems, totals } = this
    const next = new ViewState(list.instead(stay, others), {
      aside,
      context,
      folds,
      memoItems,
      totals,
      ...parts
    })
    next.held = this.held
    const behind = <A>(made: Chunked<A> | undefined, of: (item: Item) => ReadonlyArray<A>) => {
      if (made === undefined) return undefined
      let left = made.length
      for (let i = stay; i < list.length; i++) left -= of(list.at(i)!).length
      const [only, ...more] = others
      return made.instead(
        left,
        only === undefined ? [] : more.length === 0 ? of(only) : others.flatMap(of)
      )
    }
    if (this.#memosStand(stay, next)) next.#messages = behind(this.#messages, messagesOf)
    next.#images = behind(this.#images, imagesOf)
    next.#results = behind(this.#results, resultsOf)
    return next
  }

  /** True where another view, with the same items up to `stay`, has the same memos in the same place before that. */
  #memosStand(stay: number, { memoItems, memoPlace }: ViewState): boolean {
    if (memoItems.size !== this.memoItems.size) return false
    for (const [key, memo] of memoItems) if (this.memoItems.get(key) !== memo) return false
    return memoItems.size === 0 || (memoPlace === this.memoPlace && memoPlace <= stay)
  }

  /**
   * This view with the groups that came since: those of the first `keep` groups stay, all behind is new and
   * has no edits.
   */
  extend(context: ViewContext, keep: number): ViewState {
    const { groups } = context.transcript
    const border = keep === 0 ? 0 : groups[keep - 1]!.first + groups[keep - 1]!.entries.length
    const sum = { ...this.totals }
    const count = (item: Item, sign: 1 | -1): void => {
      sum.tokens += sign * item.tokens
      sum.bytes += sign * item.bytes
      sum.images += sign * item.imageCount
      sum.imageBytes += sign * item.imageBytes
      sum.imageTokens += sign * item.imageTokens
      sum.messages += sign * item.messages.length
    }
    let stay = this.list.length
    while (stay > 0 && this.list.at(stay - 1)!.first >= border) count(this.list.at(--stay)!, -1)
    const fresh: Array<Item> = []
    for (let g = keep; g < groups.length; g++) {
      const group = groups[g]!
      if (group.entries.length === 0) continue
      const item = plainItem(group, context.transcript, context.counter)
      fresh.push(item)
      count(item, 1)
    }
    return this.instead(stay, fresh, { context, totals: sum })
  }

  get messages(): ReadonlyArray<Message> {
    if (this.tail === undefined) return this.#laidOut.flat
    return (this.#sent ??= layTail(this.#laidOut.toArray(), this.tail, this.tailAt))
  }

  /** The messages in an array of their own. */
  copyMessages(): Array<Message> {
    return this.tail === undefined ? this.#laidOut.toArray() : this.messages.slice()
  }

  /** Where the memos at the tail stand; nothing where there are none. */
  get tail(): Tail | undefined {
    if (this.#tail === null) this.#tail = tailOf(this.list, this.aside, this.context)
    return this.#tail
  }

  /** The message that holds the tail; how many there are where none does. */
  get tailAt(): number {
    const { tail } = this
    let at = this.totals.messages
    if (tail === undefined) return at
    for (let i = tail.item; i < this.list.length; i++) at -= this.list.at(i)!.messages.length
    return at + tail.message - (this.memoPlace > tail.item ? this.memoItems.size : 0)
  }

  get #laidOut(): Chunked<Message> {
    if (this.#messages !== undefined) return this.#messages
    const out: Array<Message> = []
    const behind = this.memoItems.size === 0 ? -1 : this.memoPlace
    if (behind === 0) this.#pushMemos(out)
    for (let i = 0; i < this.list.length; i++) {
      for (const m of this.list.at(i)!.messages) out.push(m)
      if (i + 1 === behind) this.#pushMemos(out)
    }
    return (this.#messages = Chunked.of(out))
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
      while (i < this.list.length && this.list.at(i)!.first <= first) i++
      return i
    }
    let i = 0
    while (i < this.list.length) {
      const role = this.list.at(i)!.messages[0]?.role
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
    return (this.#images ??= Chunked.of(
      this.totals.images === 0 ? [] : this.items.flatMap(imagesOf)
    )).flat
  }

  get results(): ReadonlyArray<ResultRef> {
    return (this.#results ??= Chunked.of(this.items.flatMap(resultsOf))).flat
  }

  get steps(): ReadonlyArray<Step> {
    return this.context.steps.steps
  }

  /** Tokens by the counter alone, tail and overhead included. */
  get estimate(): number {
    return withCost(this.totals, this.tail).tokens + this.context.overheadTokens
  }

  /** The part of the estimate that no learned ratio scales. */
  get fixed(): number {
    return this.totals.imageTokens + this.context.overheadFixed
  }

  get scale(): number {
    return slope((tokens) => this.context.calibrate(tokens, 0).tokens)
  }

  get usage(): Usage {
    if (this.#usage !== undefined) return this.#usage
    const { images, imageBytes, messages, bytes } = withCost(this.totals, this.tail)
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

  get stable(): number {
    return Math.max(0, this.requests - this.context.changedAt)
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
  #ownItems: ReadonlyArray<Item> | undefined
  #ownMessages: ReadonlyArray<Message> | undefined
  #ownImages: ReadonlyArray<ImageRef> | undefined
  #ownResults: ReadonlyArray<ResultRef> | undefined

  constructor(source: ViewState) {
    super(source.list, source)
    this.#source = source
  }

  override get items(): ReadonlyArray<Item> {
    return (this.#ownItems ??= this.#source.list.toArray())
  }

  override get messages(): ReadonlyArray<Message> {
    return (this.#ownMessages ??= this.#source.copyMessages())
  }

  override get images(): ReadonlyArray<ImageRef> {
    return (this.#ownImages ??= this.#source.images.slice())
  }

  override get results(): ReadonlyArray<ResultRef> {
    return (this.#ownResults ??= this.#source.results.slice())
  }

  override get steps(): ReadonlyArray<Step> {
    return this.#source.steps.slice()
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

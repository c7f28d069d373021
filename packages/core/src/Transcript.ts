import type { Counter } from "./Counter.ts"
import type { ItemId } from "./Edit.ts"
import type { Facts } from "./internal/facts.ts"
import { exactly, FactsCache, frozen } from "./internal/facts.ts"
import { hashText } from "./internal/hash.ts"
import type { GroupItem } from "./internal/items.ts"
import type { GroupRead, Loose, Repair } from "./internal/readGroup.ts"
import { GroupReader, isMessage, REACH } from "./internal/readGroup.ts"
import type { BlockId, Message, MessageId } from "./Message.ts"
import { blockId } from "./Message.ts"

export type { Repair } from "./internal/readGroup.ts"
export { isUnknownRole } from "./internal/readGroup.ts"

/** A message of the transcript with what is known of it. */
export interface Entry {
  readonly id: MessageId
  /** The host's own id, where it gave one when the message was first seen. */
  readonly hostId?: string
  readonly message: Message
  readonly facts: Facts
  /** Position in the host's list; -1 for a result that was put in for a call without one. */
  readonly at: number
  /** Position of its group. */
  readonly group: number
}

/** The smallest set of messages that can leave together. */
export interface Group {
  readonly id: ItemId
  readonly index: number
  readonly entries: ReadonlyArray<Entry>
  /** Position of its first entry among all entries. */
  readonly first: number
  /** Calls without a result at the end of the history. */
  readonly open: ReadonlyArray<string>
  readonly tokens: number
  readonly bytes: number
  readonly images: number
  readonly imageBytes: number
  readonly imageTokens: number
  /** Of the history up to here, this group included. */
  readonly upTo: {
    readonly tokens: number
    readonly bytes: number
    readonly images: number
    readonly imageBytes: number
    readonly imageTokens: number
    readonly requests: number
    readonly turns: number
    /** Group of the first user message: the task. */
    readonly task: number
    readonly newestUser: MessageId | undefined
    readonly newestImage: BlockId | undefined
  }
  /** Where its messages begin in the host's list, and where the next group's do. */
  readonly from: number
  readonly to: number
  readonly repairs: ReadonlyArray<Repair>
}

const start: Group["upTo"] = {
  tokens: 0,
  bytes: 0,
  images: 0,
  imageBytes: 0,
  imageTokens: 0,
  requests: 0,
  turns: 0,
  task: -1,
  newestUser: undefined,
  newestImage: undefined
}

/** Stands at the front where a provider wants a user's message there and the history has none. */
export const OPENER: Message & Loose = frozen({
  role: "user",
  content: [
    Object.freeze({
      type: "text",
      text: "[The beginning of this conversation is not shown.]"
    } as const)
  ]
})

/**
 * The host's history, indexed: messages with ids and facts, in groups. Faults of the history (orphan and
 * missing results, duplicates, empty messages) are mended on the way in, so that all that follows may rely
 * on whole groups. Remembers objects, so that an unchanged history costs a walk over references.
 */
export class Transcript {
  readonly groups: Array<Group> = []
  /** The items of groups without edits, by the groups' positions, as far as they were asked for. */
  readonly plain: Array<GroupItem | undefined> = []
  readonly byId = new Map<MessageId, Entry>()
  readonly groupById = new Map<ItemId, Group>()
  readonly #raw: Array<unknown> = []
  #repairs = 0
  readonly #facts: FactsCache
  readonly #reader: GroupReader
  readonly #startsWithUser: boolean

  constructor(counter: Counter, startsWithUser = false) {
    this.#facts = new FactsCache(counter)
    this.#reader = new GroupReader(this.#facts)
    this.#startsWithUser = startsWithUser
  }

  /** Goes up with every change of what the history says; clones of the same messages say the same. */
  revision = 0

  get length(): number {
    return this.#raw.length
  }

  get newest(): Entry | undefined {
    return this.groups.at(-1)?.entries.at(-1)
  }

  /** Figures of the whole history. */
  get totals(): Group["upTo"] {
    return this.groups.at(-1)?.upTo ?? start
  }

  get repairs(): ReadonlyArray<Repair> {
    return this.#repairs === 0 ? [] : this.groups.flatMap((g) => g.repairs)
  }

  /** When the newest answer came, ms; nothing where its message has no time of our days. */
  get answeredAt(): number | undefined {
    for (let g = this.groups.length - 1; g >= 0; g--) {
      const answer = this.groups[g]!.entries.find((e) => e.message.role === "assistant")
      if (answer === undefined) continue
      const { timestamp } = answer.message as Loose
      return typeof timestamp === "number" && timestamp > 1e12 ? timestamp : undefined
    }
    return undefined
  }

  /** The assistant message at a position of the host's list, if there is one. */
  answerAt(position: number): Entry | undefined {
    for (let g = this.groups.length - 1; g >= 0 && this.groups[g]!.to > position; g--) {
      const entry = this.groups[g]!.entries.find((e) => e.at === position)
      if (entry !== undefined) return entry.message.role === "assistant" ? entry : undefined
    }
    return undefined
  }

  /** How many messages at the front of a list are the same objects as last time; the first `known` surely are. */
  sharedWith(raw: ReadonlyArray<unknown>, known = 0): number {
    const before = this.#raw
    const shared = Math.min(before.length, raw.length)
    let same = known
    while (same < shared && before[same] === raw[same]) same++
    return same
  }

  /**
   * Takes the host's list as it now is, of which the first `known` messages are the same objects as before.
   * Gives how many groups at the front are; all behind them are new.
   */
  update(raw: ReadonlyArray<unknown>, known = 0): number {
    const before = this.#raw
    const same = this.sharedWith(raw, known)
    if (same === before.length && same === raw.length) return this.groups.length
    if (!this.#saysTheSame(raw, same)) this.revision++
    let keep = this.groups.length
    while (keep > 0 && this.groups[keep - 1]!.to > same) keep--
    // A call without a result may still get one, as far as a result may stand behind its call.
    for (let g = keep - 1; g >= 0 && this.groups[g]!.to + REACH > same; g--) {
      const group = this.groups[g]!
      if (group.open.length > 0 || group.repairs.length > 0) keep = g
    }
    for (let g = this.groups.length - 1; g >= keep; g--) this.#forget(this.groups[g]!)
    this.groups.length = keep
    if (this.plain.length > keep) this.plain.length = keep
    before.length = same
    for (let i = same; i < raw.length; i++) before.push(raw[i])
    let at = keep === 0 ? 0 : this.groups[keep - 1]!.to
    try {
      while (at < raw.length) {
        const read = this.#reader.read(before, at)
        this.#add(read, at)
        at = read.to
      }
    } catch (error) {
      // Half an index must not stand for the history: the next call reads it anew.
      this.#clear()
      throw error
    }
    return keep
  }

  /** Measures all anew, for a counter that counts otherwise from now on. */
  recount(): void {
    const raw = this.#raw.slice()
    this.#clear()
    this.#facts.clear()
    this.update(raw)
  }

  /** What the messages behind this one cost by the counter. */
  behind(id: MessageId): { readonly tokens: number; readonly fixed: number } {
    const from = this.byId.get(id)
    let [tokens, fixed] = [0, 0]
    for (let g = this.groups.length - 1; from !== undefined && g >= from.group; g--) {
      for (const { at, facts } of this.groups[g]!.entries) {
        if (at <= from.at) continue
        tokens += facts.tokens
        for (const image of facts.images) fixed += image.tokens
      }
    }
    return { tokens, fixed }
  }

  #clear(): void {
    for (let g = this.groups.length - 1; g >= 0; g--) this.#forget(this.groups[g]!)
    this.groups.length = 0
    this.plain.length = 0
    this.#raw.length = 0
  }

  #saysTheSame(raw: ReadonlyArray<unknown>, from: number): boolean {
    if (raw.length !== this.#raw.length) return false
    for (let i = from; i < raw.length; i++) {
      const [a, b] = [this.#raw[i], raw[i]]
      if (a === b) continue
      if (!isMessage(a) || !isMessage(b) || this.#facts.of(a).print !== this.#facts.of(b).print)
        return false
    }
    return true
  }

  #forget(group: Group): void {
    for (const entry of group.entries) {
      if (this.byId.get(entry.id) === entry) this.byId.delete(entry.id)
      entry.facts.times--
    }
    this.groupById.delete(group.id)
    this.#repairs -= group.repairs.length
  }

  #add({ parts, open, repairs, to }: GroupRead, from: number): void {
    const { requests: answers, turns: prompts } = this.totals
    const isFirst = answers === 0 && prompts === 0 && parts[0]?.message.role === "assistant"
    if (this.#startsWithUser && isFirst && this.groups.at(-1)?.entries[0]?.message !== OPENER) {
      const what = "the first message is not a user's; a note stands before it"
      const repair = { at: from, what }
      this.#add(
        { parts: [{ message: OPENER, at: -1 }], open: [], repairs: [repair], to: from },
        from
      )
    }
    const index = this.groups.length
    const last = this.groups.at(-1)
    const first = last === undefined ? 0 : last.first + last.entries.length
    const before = last?.upTo ?? start
    let {
      tokens,
      bytes,
      images,
      imageBytes,
      imageTokens,
      requests,
      turns,
      task,
      newestUser,
      newestImage
    } = before
    const entries = parts.map(({ message, at }): Entry => {
      const facts = this.#facts.of(message)
      const hostId = typeof message.id === "string" && message.id !== "" ? message.id : undefined
      const nth = facts.times++
      const id =
        (hostId === undefined ? "" : hostId + "@") + facts.print + (nth === 0 ? "" : "#" + nth)
      const own = { id, message: message as Message, facts, at, group: index }
      // Most hosts give none, and what is kept of a message counts.
      const entry = hostId === undefined ? own : { ...own, hostId }
      this.byId.set(id, entry)
      tokens += facts.tokens
      bytes += facts.bytes
      for (const image of facts.images) {
        images++
        imageBytes += image.bytes
        imageTokens += image.tokens
      }
      if (message.role === "assistant") requests++
      if (message.role === "user" && message !== OPENER) {
        turns++
        newestUser = id
        if (task < 0) task = index
      }
      const image = facts.images.at(-1)
      if (image !== undefined) newestImage = blockId(id, image.path)
      return entry
    })
    const [head] = entries
    const id =
      head === undefined
        ? "none-" + index
        : entries.length === 1
          ? head.id
          : // Joined, not added: sums of long texts keep their parts.
            [head.id, hashText(entries.map((e) => e.id).join(" "))].join("+")
    const group: Group = {
      id,
      index,
      entries,
      first,
      open: exactly(open),
      tokens: tokens - before.tokens,
      bytes: bytes - before.bytes,
      images: images - before.images,
      imageBytes: imageBytes - before.imageBytes,
      imageTokens: imageTokens - before.imageTokens,
      upTo: {
        tokens,
        bytes,
        images,
        imageBytes,
        imageTokens,
        requests,
        turns,
        task,
        newestUser,
        newestImage
      },
      from,
      to,
      repairs: exactly(repairs)
    }
    this.groups.push(group)
    this.groupById.set(id, group)
    this.#repairs += repairs.length
  }
}

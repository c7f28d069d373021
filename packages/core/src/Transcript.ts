import type { Counter } from "./Counter.ts"
import type { ItemId } from "./Edit.ts"
import type { Facts } from "./internal/facts.ts"
import { FactsCache, frozen, withoutOddCalls } from "./internal/facts.ts"
import { hashText } from "./internal/hash.ts"
import type { BlockId, Message, MessageId } from "./Message.ts"
import { blockId, isBlank } from "./Message.ts"

/** A message of the transcript with what is known of it. */
export interface Entry {
  readonly id: MessageId
  readonly hostId: string | undefined
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

/** A fault of the host's history that was mended. */
export interface Repair {
  readonly at: number
  readonly what: string
}

const LOOSE = "a result without a call, or a second one; left out"

/** How many messages behind a call its result may still come, when others stand between. */
const REACH = 16

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

const known = new Set(["user", "assistant", "toolResult", "system"])

/** True for a role that this library does not know: such a message is passed through and protected. */
export const isUnknownRole = (role: string): boolean => !known.has(role)

interface Loose {
  readonly role: string
  readonly id?: unknown
  readonly content?: unknown
  readonly toolCallId?: unknown
  readonly stopReason?: unknown
  readonly timestamp?: unknown
}

const isMessage = (u: unknown): u is Loose =>
  typeof u === "object" && u !== null && typeof (u as Loose).role === "string"

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

/** One message of a group while it is put together. */
interface Part {
  readonly message: Loose
  readonly at: number
}

/**
 * The host's history, indexed: messages with ids and facts, in groups. Faults of the history (orphan and
 * missing results, duplicates, empty messages) are mended on the way in, so that all that follows may rely
 * on whole groups. Remembers objects, so that an unchanged history costs a walk over references.
 */
export class Transcript {
  readonly groups: Array<Group> = []
  readonly byId = new Map<MessageId, Entry>()
  readonly groupById = new Map<ItemId, Group>()
  readonly #raw: Array<unknown> = []
  #repairs = 0
  readonly #seen = new Map<string, number>()
  readonly #facts: FactsCache
  readonly #noResult = new WeakMap<object, Map<string, Loose>>()

  readonly #startsWithUser: boolean

  constructor(counter: Counter, startsWithUser = false) {
    this.#facts = new FactsCache(counter)
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

  /** The assistant message at a position of the host's list, if there is one. */
  answerAt(position: number): Entry | undefined {
    for (let g = this.groups.length - 1; g >= 0 && this.groups[g]!.to > position; g--) {
      const entry = this.groups[g]!.entries.find((e) => e.at === position)
      if (entry !== undefined) return entry.message.role === "assistant" ? entry : undefined
    }
    return undefined
  }

  /**
   * Takes the host's list as it now is. Gives how many groups at the front are the same objects as before;
   * all behind them are new.
   */
  update(raw: ReadonlyArray<unknown>): number {
    const before = this.#raw
    const shared = Math.min(before.length, raw.length)
    let same = 0
    while (same < shared && before[same] === raw[same]) same++
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
    before.length = same
    for (let i = same; i < raw.length; i++) before.push(raw[i])
    let at = keep === 0 ? 0 : this.groups[keep - 1]!.to
    while (at < raw.length) at = this.#read(at)
    return keep
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
      const { print } = entry.facts
      const left = (this.#seen.get(print) ?? 1) - 1
      if (left <= 0) this.#seen.delete(print)
      else this.#seen.set(print, left)
    }
    this.groupById.delete(group.id)
    this.#repairs -= group.repairs.length
  }

  /** Reads one group from a position; gives the position behind it. */
  #read(from: number): number {
    const raw = this.#raw
    const repairs: Array<Repair> = []
    const mend = (at: number, what: string) => repairs.push({ at, what })
    const parts: Array<Part> = []
    let open: ReadonlyArray<string> = []
    let at = from
    // What can't start a group is passed over here, so that its repair is kept with the group that follows.
    for (; at < raw.length; at++) {
      const message = raw[at]
      if (!isMessage(message)) mend(at, "not a message with a role; left out")
      else if (message.role === "toolResult") mend(at, LOOSE)
      else if ((message.role === "user" || message.role === "assistant") && isBlank(message)) {
        mend(at, `an empty ${message.role} message; left out`)
      } else break
    }
    if (at < raw.length) {
      let head = raw[at] as Loose
      if (head.role === "assistant" && this.#facts.of(head).oddCalls) {
        head = withoutOddCalls(head)
        mend(at, "calls without an id or a name, or two with one id; left out")
        if (isBlank(head)) {
          this.#add(parts, open, from, at + 1, repairs)
          return at + 1
        }
      }
      parts.push({ message: head, at })
      at++
      if (head.role === "assistant") {
        const calls = this.#facts.of(head).calls
        if (calls.length > 0) {
          const read = this.#results(parts, at, calls, mend)
          at = read.at
          open = read.open
          if (read.drop) {
            mend(parts[0]!.at, "an aborted message with calls that were never made; left out")
            // What others said meanwhile stays.
            const others = parts.filter(
              (p) => p.message !== head && p.message.role !== "toolResult"
            )
            parts.splice(0, parts.length, ...others)
          }
        }
      }
    }
    this.#add(parts, open, from, at, repairs)
    return at
  }

  /** Gathers the results of an assistant's calls behind it. */
  #results(
    parts: Array<Part>,
    from: number,
    calls: ReadonlyArray<string>,
    mend: (at: number, what: string) => void
  ): { at: number; open: ReadonlyArray<string>; drop: boolean } {
    const raw = this.#raw
    const head = parts[0]!
    const waiting = new Set(calls)
    let at = from
    const take = (): void => {
      for (; at < raw.length; at++) {
        const message = raw[at]
        if (!isMessage(message)) mend(at, "not a message with a role; left out")
        else if (message.role !== "toolResult") break
        else if (typeof message.toolCallId === "string" && waiting.delete(message.toolCallId))
          parts.push({ message, at })
        else mend(at, LOOSE)
      }
    }
    take()
    let direct = parts.length
    // A result may stand behind other messages (approvals): then all up to it is one group.
    while (waiting.size > 0 && at < raw.length) {
      const found = this.#findResult(at, waiting)
      if (found === undefined) break
      for (; at < found; at++) {
        const message = raw[at]
        if (!isMessage(message)) mend(at, "not a message with a role; left out")
        else if (message.role === "toolResult") mend(at, LOOSE)
        else if (isBlank(message) && !isUnknownRole(message.role) && message.role !== "system") {
          mend(at, `an empty ${message.role} message; left out`)
        } else parts.push({ message, at })
      }
      take()
    }
    if (waiting.size === 0) return { at, open: [], drop: false }
    const stopped = head.message.stopReason === "aborted" || head.message.stopReason === "error"
    if (stopped) return { at, open: [], drop: true }
    const between = parts.some((p, i) => i > 0 && p.message.role !== "toolResult")
    if (at >= raw.length && !between) return { at, open: [...waiting], drop: false }
    for (const id of waiting) {
      mend(head.at, "a call without a result; a note stands for it")
      parts.splice(direct++, 0, { message: this.#placeholder(head.message, id), at: -1 })
    }
    return { at, open: [], drop: false }
  }

  #findResult(from: number, waiting: ReadonlySet<string>): number | undefined {
    const end = Math.min(this.#raw.length, from + REACH)
    for (let i = from; i < end; i++) {
      const message = this.#raw[i]
      if (!isMessage(message)) continue
      if (message.role === "toolResult") {
        if (typeof message.toolCallId === "string" && waiting.has(message.toolCallId)) return i
      } else if (message.role === "assistant") return undefined
    }
    return undefined
  }

  #placeholder(head: Loose, id: string): Loose {
    let made = this.#noResult.get(head)
    if (made === undefined) this.#noResult.set(head, (made = new Map()))
    let message = made.get(id)
    if (message === undefined) {
      const call = Array.isArray(head.content)
        ? (head.content as ReadonlyArray<Record<string, unknown>>).find(
            (b) => b?.type === "toolCall" && b.id === id
          )
        : undefined
      message = frozen({
        role: "toolResult",
        toolCallId: id,
        toolName: typeof call?.name === "string" ? call.name : "unknown",
        content: [Object.freeze({ type: "text", text: "[no result was recorded]" })],
        isError: true,
        ...(typeof head.timestamp === "number" ? { timestamp: head.timestamp } : {})
      }) as Loose
      made.set(id, message)
    }
    return message
  }

  #add(
    parts: ReadonlyArray<Part>,
    open: ReadonlyArray<string>,
    from: number,
    to: number,
    repairs: ReadonlyArray<Repair>
  ): void {
    const { requests: answers, turns: prompts } = this.totals
    const isFirst = answers === 0 && prompts === 0 && parts[0]?.message.role === "assistant"
    if (this.#startsWithUser && isFirst && this.groups.at(-1)?.entries[0]?.message !== OPENER) {
      const what = "the first message is not a user's; a note stands before it"
      this.#add([{ message: OPENER, at: -1 }], [], from, from, [{ at: from, what }])
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
    const entries: Array<Entry> = []
    for (const { message, at } of parts) {
      const facts = this.#facts.of(message)
      const hostId = typeof message.id === "string" && message.id !== "" ? message.id : undefined
      const nth = this.#seen.get(facts.print) ?? 0
      this.#seen.set(facts.print, nth + 1)
      const id =
        (hostId === undefined ? "" : hostId + "@") + facts.print + (nth === 0 ? "" : "#" + nth)
      const entry: Entry = { id, hostId, message: message as Message, facts, at, group: index }
      entries.push(entry)
      this.byId.set(id, entry)
      tokens += facts.tokens
      bytes += facts.bytes
      images += facts.images.length
      imageBytes += facts.imageBytes
      imageTokens += facts.imageTokens
      if (message.role === "assistant") requests++
      if (message.role === "user" && message !== OPENER) {
        turns++
        newestUser = id
        if (task < 0) task = index
      }
      const image = facts.images.at(-1)
      if (image !== undefined) newestImage = blockId(id, image.path)
    }
    const [head] = entries
    const id =
      head === undefined
        ? "none-" + index
        : entries.length === 1
          ? head.id
          : head.id + "+" + hashText(entries.map((e) => e.id).join(" "))
    const group: Group = {
      id,
      index,
      entries,
      first,
      open,
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
      repairs
    }
    this.groups.push(group)
    this.groupById.set(id, group)
    this.#repairs += repairs.length
  }
}

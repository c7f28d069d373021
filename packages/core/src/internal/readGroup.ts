import { isBlank } from "../Message.ts"
import type { FactsCache } from "./facts.ts"
import { frozen, textId, withCallIds } from "./facts.ts"

/** A fault of the host's history that was mended. */
export interface Repair {
  readonly at: number
  readonly what: string
}

const LOOSE = "a result without a call, or a second one; left out"
const NO_ID = "a call without an id, or with the id of another; it was given one"
const NO_CALL_ID = "a result without the id of its call; it answers the first one that waits"

/** How many messages behind a call its result may still come, when others stand between. */
export const REACH = 16

const known = new Set(["user", "assistant", "toolResult", "system"])

/** True for a role that this library does not know: such a message is passed through and protected. */
export const isUnknownRole = (role: string): boolean => !known.has(role)

export interface Loose {
  readonly role: string
  readonly id?: unknown
  readonly content?: unknown
  readonly toolCallId?: unknown
  readonly stopReason?: unknown
  readonly timestamp?: unknown
}

export const isMessage = (u: unknown): u is Loose =>
  typeof u === "object" && u !== null && typeof (u as Loose).role === "string"

/** One message of a group while it is put together. */
export interface Part {
  readonly message: Loose
  readonly at: number
}

/** A group as it was read, with what was mended, and where the next one begins. */
export interface GroupRead {
  readonly parts: ReadonlyArray<Part>
  /** Calls without a result at the end of the history. */
  readonly open: ReadonlyArray<string>
  readonly repairs: ReadonlyArray<Repair>
  readonly to: number
}

/** Puts the host's messages together to groups, and mends what is broken on the way. */
export class GroupReader {
  readonly #facts: FactsCache
  readonly #noResult = new WeakMap<object, Map<string, Loose>>()
  readonly #answers = new WeakMap<object, Loose>()

  constructor(facts: FactsCache) {
    this.#facts = facts
  }

  /** Reads one group from a position of the host's list. */
  read(raw: ReadonlyArray<unknown>, from: number): GroupRead {
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
      let given: ReadonlyMap<string, string> | undefined
      if (head.role === "assistant" && this.#facts.of(head).oddCalls) {
        const mended = withCallIds(head, this.#facts.of(head).print)
        for (const what of mended.left) mend(at, what)
        if ([...mended.given].some(([id, own]) => id !== own)) mend(at, NO_ID)
        head = mended.message
        given = mended.given
        if (isBlank(head)) {
          return { parts, open, repairs, to: at + 1 }
        }
      }
      parts.push({ message: head, at })
      at++
      if (head.role === "assistant") {
        const calls = given ?? new Map(this.#facts.of(head).calls.map((id) => [id, id]))
        if (calls.size > 0) {
          const read = this.#results(raw, parts, at, calls, mend)
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
    return { parts, open, repairs, to: at }
  }

  /** Gathers the results of an assistant's calls behind it. */
  #results(
    raw: ReadonlyArray<unknown>,
    parts: Array<Part>,
    from: number,
    calls: ReadonlyMap<string, string>,
    mend: (at: number, what: string) => void
  ): { at: number; open: ReadonlyArray<string>; drop: boolean } {
    const head = parts[0]!
    /** The calls that have no result yet, in their order, each with what the host calls it. */
    const waiting = new Map(calls)
    let at = from
    const take = (): void => {
      for (; at < raw.length; at++) {
        const message = raw[at]
        if (!isMessage(message)) mend(at, "not a message with a role; left out")
        else if (message.role !== "toolResult") break
        else {
          const own = textId(message.toolCallId)
          const id = callOf(waiting, own)
          if (id === undefined) mend(at, LOOSE)
          else {
            waiting.delete(id)
            if (own === "") mend(at, NO_CALL_ID)
            parts.push({ message: id === own ? message : this.#answering(message, id), at })
          }
        }
      }
    }
    take()
    let direct = parts.length
    // A result may stand behind other messages (approvals): then all up to it is one group.
    while (waiting.size > 0 && at < raw.length) {
      const found = findResult(raw, at, new Set(waiting.values()))
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
    if (at >= raw.length && !between) return { at, open: [...waiting.keys()], drop: false }
    for (const id of waiting.keys()) {
      mend(head.at, "a call without a result; a note stands for it")
      parts.splice(direct++, 0, { message: this.#placeholder(head.message, id), at: -1 })
    }
    return { at, open: [], drop: false }
  }

  /** The same result with the id of its call, which the host didn't give or has given twice. */
  #answering(result: Loose, id: string): Loose {
    let made = this.#answers.get(result)
    if (made?.toolCallId !== id) {
      made = frozen({ ...result, toolCallId: id })
      this.#answers.set(result, made)
    }
    return made
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
}

/** The call that a result of this id answers: the first of its id; the first of all where it has none. */
const callOf = (waiting: ReadonlyMap<string, string>, own: string): string | undefined => {
  for (const [id, given] of waiting) if (own === "" || own === given) return id
  return undefined
}

/** Where a result for one of these calls stands, as far as one may; one without an id stands behind its call. */
const findResult = (
  raw: ReadonlyArray<unknown>,
  from: number,
  waiting: ReadonlySet<string>
): number | undefined => {
  const end = Math.min(raw.length, from + REACH)
  for (let i = from; i < end; i++) {
    const message = raw[i]
    if (!isMessage(message)) continue
    if (message.role === "toolResult") {
      const own = textId(message.toolCallId)
      if (own !== "" && waiting.has(own)) return i
    } else if (message.role === "assistant") return undefined
  }
  return undefined
}

import type { ToolCallBlock } from "../Message.ts"
import { blocksOf, isBlank } from "../Message.ts"
import type { FactsCache } from "./facts.ts"
import { frozen, oddCalls, withoutBlocks } from "./facts.ts"

/** A fault of the host's history that was mended. */
export interface Repair {
  readonly at: number
  readonly what: string
}

const LOOSE = "a result without a call, or a second one; left out"

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
  readonly #noResult = new WeakMap<object, Map<number, Loose>>()

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
      if (head.role === "assistant" && this.#facts.of(head).oddCalls) {
        const left = oddCalls(head, (id) => resultsBehind(raw, at, id))
        if (left.size > 0) {
          head = withoutBlocks(head, left)
          mend(at, "calls without an id or a name, or more of one id than results; left out")
          if (isBlank(head)) return { parts, open, repairs, to: at + 1 }
        }
      }
      parts.push({ message: head, at })
      at++
      if (head.role === "assistant") {
        const calls = this.#facts.of(head).calls
        if (calls.length > 0) {
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
    calls: ReadonlyArray<string>,
    mend: (at: number, what: string) => void
  ): { at: number; open: ReadonlyArray<string>; drop: boolean } {
    const head = parts[0]!
    /** Which calls have no result yet, in their order: several may have one id, an empty one say. */
    const waiting = calls.map((_, nth) => nth)
    let at = from
    const take = (): void => {
      for (; at < raw.length; at++) {
        const message = raw[at]
        if (!isMessage(message)) mend(at, "not a message with a role; left out")
        else if (message.role !== "toolResult") break
        else {
          const answered = waiting.findIndex((nth) => calls[nth] === message.toolCallId)
          if (answered < 0) mend(at, LOOSE)
          else {
            waiting.splice(answered, 1)
            parts.push({ message, at })
          }
        }
      }
    }
    take()
    let direct = parts.length
    // A result may stand behind other messages (approvals): then all up to it is one group.
    while (waiting.length > 0 && at < raw.length) {
      const found = findResult(raw, at, new Set(waiting.map((nth) => calls[nth])))
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
    if (waiting.length === 0) return { at, open: [], drop: false }
    const stopped = head.message.stopReason === "aborted" || head.message.stopReason === "error"
    if (stopped) return { at, open: [], drop: true }
    const between = parts.some((p, i) => i > 0 && p.message.role !== "toolResult")
    if (at >= raw.length && !between)
      return { at, open: waiting.map((nth) => calls[nth]!), drop: false }
    for (const nth of waiting) {
      mend(head.at, "a call without a result; a note stands for it")
      parts.splice(direct++, 0, { message: this.#placeholder(head.message, nth), at: -1 })
    }
    return { at, open: [], drop: false }
  }

  /** The result in the place of the one that the n-th call has not. */
  #placeholder(head: Loose, nth: number): Loose {
    let made = this.#noResult.get(head)
    if (made === undefined) this.#noResult.set(head, (made = new Map()))
    let message = made.get(nth)
    if (message === undefined) {
      const call = blocksOf(head).filter((b): b is ToolCallBlock => b?.type === "toolCall")[nth]!
      message = frozen({
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content: [Object.freeze({ type: "text", text: "[no result was recorded]" })],
        isError: true,
        ...(typeof head.timestamp === "number" ? { timestamp: head.timestamp } : {})
      }) as Loose
      made.set(nth, message)
    }
    return message
  }
}

/** How many results of an id stand right behind a message. */
const resultsBehind = (raw: ReadonlyArray<unknown>, head: number, id: string): number => {
  let found = 0
  for (let i = head + 1; i < raw.length; i++) {
    const message = raw[i]
    if (!isMessage(message) || message.role !== "toolResult") break
    if (message.toolCallId === id) found++
  }
  return found
}

/** Where a result for one of these calls stands, as far as one may. */
const findResult = (
  raw: ReadonlyArray<unknown>,
  from: number,
  waiting: ReadonlySet<unknown>
): number | undefined => {
  const end = Math.min(raw.length, from + REACH)
  for (let i = from; i < end; i++) {
    const message = raw[i]
    if (!isMessage(message)) continue
    if (message.role === "toolResult") {
      if (waiting.has(message.toolCallId)) return i
    } else if (message.role === "assistant") return undefined
  }
  return undefined
}

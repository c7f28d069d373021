import type { Block, Message } from "./Message.ts"
import { blocksOf, isBlank } from "./Message.ts"
import { show } from "./VarveError.ts"

/** Which rule a message breaks. */
export type ValidityRule = "pairs" | "empty" | "order" | "first" | "turns" | "shape"

/** One message that a provider would refuse. */
export interface Fault {
  /** Its index in the list. */
  readonly at: number
  readonly what: string
  readonly rule: ValidityRule
}

/**
 * The second opinion on what goes out: a list of all faults, empty where the request is valid.
 *
 * - `shape`: each message is an object with a text as its role.
 * - `pairs`: each result answers one call, by position: of the nearest assistant message before it that
 *   has an unanswered call with this id. Each call has one result; those of the last assistant message
 *   may wait for theirs while nothing but results stands behind it.
 * - `order`: no assistant message stands between a call and its result.
 * - `empty`: no user or assistant message is blank. Results may be empty.
 * - `first`: with `startsWithUser`, the first message is a user's; system text and unknown roles aside.
 *
 * - `turns`: with `alternates`, no message with calls stands right behind another assistant message. Other
 *   neighbours of one role are no fault: providers take them, or merge them (Anthropic).
 *
 * Reads each message once, never throws, and shares nothing with the transcript's grouping.
 *
 * @example
 * ```ts
 * import { checkValidity } from "@varve/core/Validity"
 *
 * const [fault] = checkValidity([
 *   { role: "toolResult", toolCallId: "c1", toolName: "click", content: "ok", isError: false }
 * ])
 * console.log(fault?.what) // => no call before it waits for this result of "c1"
 * ```
 */
export const checkValidity = (
  messages: ReadonlyArray<Message>,
  options?: { readonly startsWithUser?: boolean; readonly alternates?: boolean | undefined }
): ReadonlyArray<Fault> => {
  if (!Array.isArray(messages))
    return [{ at: 0, what: `${show(messages)} is not a list`, rule: "shape" }]
  const faults: Array<Fault> = []
  /** For each id the messages whose call of it has no result yet, nearest last. */
  const unanswered = new Map<string, Array<number>>()
  let newest = -1
  let inFlight = false
  let before: string | undefined
  let first = options?.startsWithUser === true
  const fault = (at: number, rule: ValidityRule, what: string): void => {
    faults.push({ at, what, rule })
  }

  const call = (at: number, id: unknown): void => {
    if (typeof id !== "string") fault(at, "pairs", "a call without an id")
    else if (unanswered.get(id)?.push(at) === undefined) unanswered.set(id, [at])
  }
  const result = (at: number, id: unknown): void => {
    if (typeof id !== "string") return fault(at, "pairs", "a result without the id of its call")
    const caller = unanswered.get(id)?.pop()
    if (caller === undefined) {
      fault(at, "pairs", `no call before it waits for this result of ${show(id)}`)
    } else if (caller !== newest) {
      fault(at, "order", `an assistant message stands between it and call ${show(id)}`)
    }
  }
  const visit = (message: Message, at: number): void => {
    const { role } = message
    const behind = before
    if (role !== "system") before = role
    if (first && (role === "assistant" || role === "toolResult")) {
      fault(at, "first", `the first message is of ${role}, not of a user`)
    }
    if (role === "user" || role === "assistant" || role === "toolResult") first = false
    if (role === "toolResult") return result(at, message.toolCallId)
    inFlight = role === "assistant"
    if ((inFlight || role === "user") && isBlank(message)) {
      fault(at, "empty", `a message of ${role} says nothing`)
    }
    if (!inFlight) return
    newest = at
    let calls = 0
    for (const block of blocksOf(message) as ReadonlyArray<Block | null | undefined>) {
      if (block?.type !== "toolCall") continue
      call(at, block.id)
      calls++
    }
    if (options?.alternates === true && calls > 0 && behind === "assistant")
      fault(at, "turns", "a message with calls stands right behind another of the assistant")
  }

  for (let at = 0; at < messages.length; at++) {
    try {
      const message: unknown = messages[at]
      if (hasRole(message)) visit(message, at)
      else fault(at, "shape", `${show(message)} is not a message`)
    } catch {
      fault(at, "shape", "it can't be read")
    }
  }
  for (const [id, callers] of unanswered) {
    for (const at of callers) {
      if (at !== newest || !inFlight) fault(at, "pairs", `call ${show(id)} has no result`)
    }
  }
  return faults.toSorted((a, b) => a.at - b.at)
}

const hasRole = (u: unknown): u is Message =>
  typeof u === "object" && u !== null && typeof (u as { role?: unknown }).role === "string"

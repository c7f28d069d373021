import { isDeepStrictEqual } from "node:util"
import type { Message } from "@varve/core/Message"

export type Loose = Readonly<Record<string, unknown>>

/** Where an outgoing message comes from. */
export type Origin =
  /** The host's own object, at this index. */
  | { readonly kind: "same"; readonly index: number }
  /** A copy of the host's message with other blocks. */
  | { readonly kind: "edited"; readonly index: number }
  /** A text of ours. */
  | { readonly kind: "ours" }
  /** A result that was put in for a call without one. */
  | { readonly kind: "mended" }
  | { readonly kind: "unknown"; readonly why: string }

export const isRecord = (u: unknown): u is Loose => typeof u === "object" && u !== null

export const roleOf = (message: unknown): string | undefined =>
  isRecord(message) && typeof message["role"] === "string" ? message["role"] : undefined

export const contentOf = (message: unknown): ReadonlyArray<unknown> => {
  const content = isRecord(message) ? message["content"] : undefined
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content : []
}

export const isText = (block: unknown): block is { readonly text: string } =>
  isRecord(block) && block["type"] === "text" && typeof block["text"] === "string"

const keysWithoutContent = (message: Loose): ReadonlyArray<string> =>
  Object.keys(message).filter((key) => key !== "content")

/** Equal but for the content. */
const sameFrame = (a: Loose, b: Loose): boolean => {
  const keys = keysWithoutContent(a)
  return (
    keys.length === keysWithoutContent(b).length && keys.every((key) => Object.is(a[key], b[key]))
  )
}

/** How many blocks two messages have in common, as objects. */
const shared = (a: unknown, b: unknown): number => {
  const blocks = new Set(contentOf(a).filter(isRecord))
  return contentOf(b).filter((block) => isRecord(block) && blocks.has(block)).length
}

const isOurText = (message: Loose): boolean => {
  const blocks = contentOf(message)
  return (
    message["role"] === "user" &&
    blocks.length === 1 &&
    isText(blocks[0]) &&
    blocks[0].text.trim() !== "" &&
    Object.keys(message).every((key) => key === "role" || key === "content" || key === "timestamp")
  )
}

const isMended = (message: Loose): boolean =>
  message["role"] === "toolResult" &&
  message["isError"] === true &&
  contentOf(message).every(isText)

/** What of an edited message can only come from its original: its calls and its reasoning. */
const derives = (from: Loose, to: Loose): boolean => {
  const before = contentOf(from)
  return contentOf(to).every((block) => {
    if (!isRecord(block)) return true
    if (block["type"] === "thinking") return before.includes(block)
    if (block["type"] !== "toolCall") return true
    return before.some(
      (b) =>
        isRecord(b) &&
        b["type"] === "toolCall" &&
        b["id"] === block["id"] &&
        b["name"] === block["name"]
    )
  })
}

/** The ids of calls that can be answered. */
const callIds = (message: Loose): ReadonlyArray<unknown> =>
  contentOf(message).flatMap((b) =>
    isRecord(b) && b["type"] === "toolCall" && typeof b["name"] === "string" && b["id"] !== ""
      ? [b["id"]]
      : []
  )

/** An edit that leaves no call out is likelier. */
const keepsCalls = (from: Loose, to: Loose): boolean => {
  const left = new Set(callIds(to))
  return callIds(from).every((id) => typeof id !== "string" || left.has(id))
}

/** An edit keeps all but blocks. One of a user's message must share a block, or it could be any text. */
const isEditOf = (from: unknown, to: Loose): boolean =>
  isRecord(from) &&
  sameFrame(from, to) &&
  derives(from, to) &&
  (to["role"] !== "user" || shared(from, to) > 0 || !isOurText(to))

/** Where each object of a list stands, ascending. */
const placesOf = (list: ReadonlyArray<unknown>): ReadonlyMap<unknown, ReadonlyArray<number>> => {
  const places = new Map<unknown, Array<number>>()
  list.forEach((item, i) => {
    const found = places.get(item)
    if (found === undefined) places.set(item, [i])
    else found.push(i)
  })
  return places
}

/**
 * Finds for each outgoing message where it comes from, earliest first, so that order shows. What is edited
 * must have stood before the next message that is the host's own.
 */
export const originsOf = (
  input: ReadonlyArray<Message>,
  output: ReadonlyArray<Message>
): ReadonlyArray<Origin> => {
  const places = placesOf(input)
  const before: Array<number> = []
  let bound = input.length
  for (const [k, message] of [...output.entries()].toReversed()) {
    before[k] = bound
    bound = places.get(message)?.findLast((i) => i < bound) ?? bound
  }
  let last = -1
  return output.map((message, k): Origin => {
    const own = places.get(message)
    if (own !== undefined) {
      const index = own.find((i) => i > last)
      if (index === undefined) return { kind: "unknown", why: "it stands out of order, or twice" }
      last = index
      return { kind: "same", index }
    }
    if (!isRecord(message)) return { kind: "unknown", why: "it is no message" }
    const behind = input.slice(last + 1, before[k])
    // Of equal messages, the one that it has most of: hosts may use one block in two messages.
    let found = -1
    let most = -1
    behind.forEach((from, i) => {
      if (!isEditOf(from, message)) return
      // A message of which another one is an edit may look just like that edit.
      const common =
        4 * shared(from, message) +
        (keepsCalls(from as unknown as Loose, message) ? 2 : 0) +
        (editFault(from, message) === undefined ? 1 : 0)
      if (common > most) [found, most] = [i, common]
    })
    if (found >= 0) {
      last += 1 + found
      return { kind: "edited", index: last }
    }
    if (isOurText(message)) return { kind: "ours" }
    return isMended(message)
      ? { kind: "mended" }
      : {
          kind: "unknown",
          why: "it is neither the host's, nor an edit of one behind the last, nor a text of ours"
        }
  })
}

/** What is wrong with an edited message beside its original. */
export const editFault = (from: Message, to: Message): string | undefined => {
  if (isDeepStrictEqual(from, to)) return "nothing in it changed, but it is another object"
  const before = contentOf(from)
  const kept = new Set(before)
  for (const block of contentOf(to)) {
    if (kept.has(block) || !isRecord(block)) continue
    if (Array.isArray(from.content) && before.some((b) => isDeepStrictEqual(b, block)))
      return "an untouched block is another object"
  }
  const calls = (blocks: ReadonlyArray<unknown>) =>
    blocks.flatMap((b) => (isRecord(b) && b["type"] === "toolCall" ? [b["id"]] : []))
  const asked = calls(before)
  // Several calls may have one id, and as many stay as have a result.
  let at = -1
  const isInOrder = calls(contentOf(to)).every((id) => (at = asked.indexOf(id, at + 1)) >= 0)
  return isInOrder ? undefined : "its calls stand in another order"
}

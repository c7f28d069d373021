import type { Counter, Message } from "@varve/core"
import { blocksOf } from "@varve/core/Message"
import type { Piece } from "./CacheModel.ts"
import { hashText } from "./internal/hash.ts"

/** Long strings count by their ends and their length: base64 is never walked through whole. */
const shorten = (_: string, value: unknown): unknown =>
  typeof value === "string" && value.length > 2048
    ? `${value.slice(0, 512)}${value.length}${value.slice(-512)}`
    : value

const keys = new WeakMap<object, string>()

/** Says what a message says: equal for equal content. */
export const keyOf = (message: Message): string => {
  let key = keys.get(message)
  if (key === undefined) {
    const { role } = message
    // A text is the same as a block of it.
    const content = typeof message.content === "string" ? blocksOf(message) : message.content
    const call = message.role === "toolResult" ? message.toolCallId : ""
    key = hashText(JSON.stringify([role, call, content], shorten))
    keys.set(message, key)
  }
  return key
}

/** Positions of a message where a read looks back: its blocks, calls in a row as one. */
const positionsOf = (message: Message): number => {
  const blocks = blocksOf(message)
  const isCall = (i: number): boolean => blocks[i]?.type === "toolCall"
  return Math.max(1, blocks.filter((_, i) => !(isCall(i) && isCall(i - 1))).length)
}

const withoutLast = (message: Message): Message => ({
  ...message,
  content: blocksOf(message).slice(0, -1)
})

/** A request laid out for the cache. */
export interface Laid {
  readonly pieces: ReadonlyArray<Piece>
  /** For each message, the piece that it is in. */
  readonly ofMessage: ReadonlyArray<number>
}

/**
 * A request as pieces for the cache: system text and tools, then the messages. Results in a row are one
 * piece, as providers count them. `system` is text of a policy that stands with the system text. The last block of
 * the message `tail` is a piece of its own: what stands before it in that message can be read again by its prefix.
 */
export const piecesOf = (
  messages: ReadonlyArray<Message>,
  overhead: number,
  counter: Counter,
  system?: { readonly text: string; readonly tokens: number },
  tail?: number
): Laid => {
  const ofMessage: Array<number> = []
  const pieces: Array<Piece> = [
    {
      key: `system and tools ${system?.text ?? ""}`,
      tokens: overhead + (system?.tokens ?? 0),
      markable: false
    }
  ]
  messages.forEach((whole, i) => {
    const message = i === tail ? withoutLast(whole) : whole
    const key = keyOf(message)
    const tokens = counter.message(message)
    const isResult = message.role === "toolResult"
    const before = pieces.at(-1)!
    if (isResult && messages[i - 1]?.role === "toolResult") {
      pieces[pieces.length - 1] = {
        key: hashText(before.key + key),
        tokens: before.tokens + tokens,
        markable: true,
        positions: 1
      }
    } else {
      pieces.push({
        key,
        tokens,
        markable: isResult || message.role === "user",
        positions: isResult ? 1 : positionsOf(message)
      })
    }
    ofMessage.push(pieces.length - 1)
    if (i !== tail) return
    pieces[pieces.length - 1] = { ...pieces.at(-1)!, markable: false }
    pieces.push({ key: keyOf(whole), tokens: counter.message(whole) - tokens, markable: true })
  })
  return { pieces, ofMessage }
}

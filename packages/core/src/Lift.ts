import type { Edit } from "./Edit.ts"
import * as EditOf from "./Edit.ts"
import type { Message } from "./Message.ts"
import { isFunction } from "./internal/checks.ts"
import { fingerprint } from "./internal/hash.ts"
import { withoutOwnTail } from "./internal/tail.ts"
import { textOf } from "./Message.ts"
import type { Strategy } from "./Strategy.ts"
import { strategy } from "./Strategy.ts"
import type { ItemRef, View } from "./View.ts"

/**
 * Lifts a plain function from messages to messages into a strategy. What it leaves out becomes folds; what
 * it puts in the place of messages becomes the text of a fold. A group of which it keeps a part stays whole,
 * and what it changes inside a message is not taken over: use `strategy()` with `Edit.replace` for that.
 *
 * @example
 * ```ts
 * import { lift } from "@varve/core/Lift"
 *
 * const lastTen = lift("last-ten", (messages) => messages.slice(-10))
 * console.log(lastTen.name) // => last-ten
 * ```
 */
export const lift = (
  name: string,
  change: (
    messages: ReadonlyArray<Message>
  ) => ReadonlyArray<Message> | Promise<ReadonlyArray<Message>>
): Strategy => {
  isFunction("lift.change", change)
  return strategy(name, (view) => {
    const kept = change(view.messages.slice())
    return kept instanceof Promise ? kept.then((k) => toEdits(view, k)) : toEdits(view, kept)
  })
}

/** The view's own messages in the place of clones, as functions give them that copy what they get. */
const ownOf = (view: View, kept: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const own = new Set<object>(view.messages)
  if (kept.every((m) => own.has(m))) return kept
  const byPrint = new Map<string, Array<Message>>()
  for (const m of view.messages) {
    const print = fingerprint(m)
    byPrint.set(print, [...(byPrint.get(print) ?? []), m])
  }
  const found = kept.map((m) => (own.has(m) ? m : (byPrint.get(fingerprint(m))?.shift() ?? m)))
  if (kept.length > 0 && view.messages.length > 0 && !found.some((m) => own.has(m))) {
    throw new TypeError(
      "none of the messages that the function gave is one that it got; a lifted function may only leave out and put in"
    )
  }
  return found
}

const toEdits = (view: View, kept: ReadonlyArray<Message>): ReadonlyArray<Edit> => {
  if (!Array.isArray(kept)) throw new TypeError("the function gave no list of messages")
  // Items know the message that holds a tail without it.
  kept = ownOf(view, kept).map(withoutOwnTail)
  const known = new Set<object>(view.messages.map(withoutOwnTail))
  const stays = new Set<object>(kept)
  /** Texts that the function put in, by the message of ours that they stand before. */
  const texts = new Map<object | undefined, Array<string>>()
  let waiting: Array<string> = []
  for (const message of kept) {
    if (known.has(message)) {
      if (waiting.length > 0) texts.set(message, waiting)
      waiting = []
    } else waiting.push(textOf(message))
  }
  if (waiting.length > 0) texts.set(undefined, waiting)
  const edits: Array<Edit> = []
  let run: Array<ItemRef> = []
  const flush = (before: object | undefined): void => {
    const basis = run.at(-1)?.members.at(-1)
    if (basis !== undefined) {
      const text = texts.get(before)?.join("\n") ?? null
      edits.push(
        EditOf.fold(
          run.map((i) => i.id),
          text === "" ? null : text,
          basis
        )
      )
    }
    run = []
  }
  for (const item of view.items) {
    if (item.messages.length === 0) continue
    if (item.messages.some((m) => stays.has(m)) || view.protection(item.id) !== undefined)
      flush(item.messages[0])
    else run.push(item)
  }
  flush(undefined)
  return edits
}

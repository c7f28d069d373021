import * as fc from "fast-check"
import type { Message } from "@varve/core/Message"
import { blocksOf } from "@varve/core/Message"

type History = ReadonlyArray<Message>

/** Positions behind which no call waits for its result, as numbers of messages. */
const borders = (history: History): ReadonlyArray<number> => {
  const found: Array<number> = [0]
  let waiting = 0
  history.forEach((message, i) => {
    if (message.role === "assistant")
      waiting = blocksOf(message).filter((b) => b.type === "toolCall").length
    else if (message.role === "toolResult") waiting--
    if (waiting <= 0) found.push(i + 1)
  })
  return found
}

/**
 * The heads of a history at which a model would be asked: those that end with a user's message or with the
 * last result of a step, no call open. Shortest first. Slices: the messages are the same objects.
 *
 * @example
 * ```ts
 * import { heads } from "@varve/testkit/Growth"
 *
 * const history = [
 *   { role: "user" as const, content: "one" },
 *   { role: "assistant" as const, content: "1" },
 *   { role: "user" as const, content: "two" }
 * ]
 * console.log(heads(history).map((head) => head.length)) // => [ 1, 3 ]
 * ```
 */
export const heads = (history: History): ReadonlyArray<History> =>
  borders(history)
    .filter((n) => {
      const role = history[n - 1]?.role
      return role === "user" || role === "toolResult"
    })
    .map((n) => history.slice(0, n))

/** As hosts do that copy their messages: equal content, no object in common. */
export const cloned = (heads: ReadonlyArray<History>): ReadonlyArray<History> =>
  heads.map((head) => structuredClone<History>(head))

/**
 * As hosts do that branch: another tail behind the first `at` messages, at the nearest border before it.
 * Host ids of the tail are made different from those of the history.
 */
export const forked = (history: History, at: number, tail: History): History => {
  const border = borders(history).findLast((n) => n <= at) ?? 0
  const renamed = tail.map((message) => {
    const { id } = message as { readonly id?: unknown }
    return typeof id === "string" ? { ...message, id: id + "-fork" } : message
  })
  return [...history.slice(0, border), ...renamed]
}

/** As hosts do that keep the newest only: without the first `n` messages, at the nearest border behind it. */
export const trimmed = (history: History, n: number): History =>
  history.slice(borders(history).find((border) => border >= n) ?? history.length)

/** One session as a host hands it out: what each request starts from, in order. */
export interface Growth {
  readonly kind: "plain" | "cloned" | "forked" | "trimmed"
  readonly requests: ReadonlyArray<History>
}

/**
 * Sessions that grow request by request, made from an arbitrary of histories: plain, with cloned messages,
 * with a branch to another tail, and with a head that the host trims. `requests` bounds their length.
 */
export const growths = (
  histories: fc.Arbitrary<History>,
  options: { readonly requests?: number; readonly kinds?: ReadonlyArray<Growth["kind"]> } = {}
): fc.Arbitrary<Growth> => {
  const most = options.requests ?? 30
  const kind = fc.constantFrom(
    ...(options.kinds ?? (["plain", "plain", "cloned", "forked", "trimmed"] as const))
  )
  return fc
    .tuple(kind, histories, fc.nat(100))
    .chain(([kind, history, share]): fc.Arbitrary<Growth> => {
      const at = Math.floor((history.length * share) / 100)
      const all = heads(history).slice(0, most)
      if (kind === "plain") return fc.constant({ kind, requests: all })
      if (kind === "cloned") return fc.constant({ kind, requests: cloned(all) })
      if (kind === "trimmed") {
        const half = Math.floor(all.length / 2)
        const cut = all.map((head, i) =>
          i < half ? head : trimmed(head, Math.min(at, head.length - 1))
        )
        return fc.constant({ kind, requests: cut.filter((head) => head.length > 0) })
      }
      return histories.map((tail) => {
        const before = all.filter((head) => head.length <= at)
        const after = heads(forked(history, at, tail)).filter((head) => head.length > at)
        return { kind, requests: [...before, ...after].slice(0, most) }
      })
    })
}

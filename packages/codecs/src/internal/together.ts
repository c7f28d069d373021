import type { Loose } from "./values.ts"
import { isRecord } from "./values.ts"

/** What a message begins, ends or speaks of besides calls and their results: server tools, approvals. */
export interface Links {
  readonly opens: ReadonlyArray<unknown>
  readonly closes: ReadonlyArray<unknown>
  readonly refers: ReadonlyArray<unknown>
}

/**
 * How many messages from one on belong together, because a later one ends or speaks of what an earlier one
 * began. A turn of the user ends it.
 */
export const together = (
  host: ReadonlyArray<unknown>,
  at: number,
  linksOf: (message: Loose) => Links,
  isTurn: (message: Loose) => boolean
): number => {
  const { opens, closes } = linksOf(host[at] as Loose)
  const open = new Set(opens)
  for (const id of closes) open.delete(id)
  let end = 1
  for (let i = at + 1; i < host.length && open.size > 0; i++) {
    const message = host[i]
    if (!isRecord(message) || isTurn(message)) break
    const links = linksOf(message)
    for (const id of links.opens) open.add(id)
    for (const id of links.refers) if (open.has(id)) end = i - at + 1
    for (const id of links.closes) if (open.delete(id)) end = i - at + 1
  }
  return end
}

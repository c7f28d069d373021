import type { Loose } from "./values.ts"
import { isRecord } from "./values.ts"

/** What a part begins, ends or speaks of besides calls and their results: server tools, approvals. */
interface Link {
  readonly opens?: unknown
  readonly closes?: unknown
  readonly refers?: unknown
}

/** The link of a part of a message of a role; nothing where it has none. */
export type LinkOf = (part: Loose, role: unknown) => Link | undefined

const linksOf = ({ content, role }: Loose, linkOf: LinkOf): ReadonlyArray<Link> =>
  Array.isArray(content)
    ? (content as ReadonlyArray<unknown>).flatMap((part) =>
        isRecord(part) ? (linkOf(part, role) ?? []) : []
      )
    : []

/**
 * How many messages from one on belong together, because a later one ends or speaks of what an earlier one
 * began. A turn of the user ends it.
 */
export const together = (
  host: ReadonlyArray<unknown>,
  at: number,
  linkOf: LinkOf,
  isTurn: (message: Loose) => boolean
): number => {
  if (!begins(host[at], linkOf)) return 1
  const open = new Set<unknown>()
  let end = 1
  for (let i = at; i < host.length && (i === at || open.size > 0); i++) {
    const message = host[i]
    if (!isRecord(message) || (i > at && isTurn(message))) break
    for (const { closes, opens, refers } of linksOf(message, linkOf)) {
      if (opens !== undefined) open.add(opens)
      if (refers !== undefined && open.has(refers)) end = i - at + 1
      if (closes !== undefined && open.delete(closes)) end = i - at + 1
    }
  }
  return end
}

/** True where a message begins something at all: the answer for most, and found without making anything. */
const begins = (message: unknown, linkOf: LinkOf): boolean => {
  if (!isRecord(message) || message.role !== "assistant" || !Array.isArray(message.content))
    return false
  for (const part of message.content as ReadonlyArray<unknown>)
    if (isRecord(part) && linkOf(part, message.role)?.opens !== undefined) return true
  return false
}

/** Takes out what began and does not end any more, and the other way round. */
export const paired = (
  written: ReadonlyArray<Loose>,
  host: ReadonlyArray<Loose>,
  linkOf: LinkOf
): ReadonlyArray<Loose> => {
  const ended = host.flatMap((message) => linksOf(message, linkOf).map(({ closes }) => closes))
  if (ended.every((id) => id === undefined)) return written
  const links = written.flatMap((message) => linksOf(message, linkOf))
  const opens = new Set(links.map((link) => link.opens))
  const closes = new Set(links.map((link) => link.closes))
  const lost = new Set(ended.filter((id) => id !== undefined && opens.has(id) !== closes.has(id)))
  if (lost.size === 0) return written
  return written.map((message) => {
    const { content, role } = message
    if (!Array.isArray(content)) return message
    const left = (content as ReadonlyArray<unknown>).filter((part) => {
      const link = isRecord(part) ? linkOf(part, role) : undefined
      return !lost.has(link?.opens ?? link?.closes ?? NONE)
    })
    return left.length === content.length ? message : { ...message, content: left }
  })
}

const NONE = Symbol("no link")

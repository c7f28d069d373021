import type { Loose } from "./values.ts"
import { isRecord } from "./values.ts"

const PLAIN: Loose = { type: "ephemeral" }

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** How many seconds a cache mark of Anthropic's lives; five minutes where it doesn't say. */
const lifetimeOf = (mark: unknown): number => {
  const ttl = isRecord(mark) && typeof mark.ttl === "string" ? mark.ttl : "5m"
  const [, n, unit] = /^(\d+)([smh])$/.exec(ttl) ?? []
  return Number(n ?? 5) * SECONDS[unit ?? "m"]!
}

/**
 * The mark, with the lifetime of the longest-lived of those behind it: Anthropic refuses a request in which a
 * mark stands behind one that lives shorter.
 */
export const lasting = (behind: ReadonlyArray<unknown>, like: unknown = PLAIN): unknown => {
  let longest = like
  for (const mark of behind) if (lifetimeOf(mark) > lifetimeOf(longest)) longest = mark
  return longest === like ? like : { ...(like as Loose), ttl: (longest as Loose).ttl }
}

/**
 * Anthropic's cache marks on a message, a block or a tool and on what stands inside of it, in their order.
 * LangChain has those of its data blocks in `metadata`.
 */
export const marksOf = (host: Loose): ReadonlyArray<unknown> => {
  const { cache_control, content, metadata, source } = host
  const own = cache_control ?? (isRecord(metadata) ? metadata.cache_control : undefined)
  const inside = [content, isRecord(source) ? source.content : undefined]
    .flat()
    .filter(isRecord)
    .flatMap(marksOf)
  return own == null ? inside : [...inside, own]
}

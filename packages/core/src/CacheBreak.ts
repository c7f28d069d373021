import * as Schema from "effect/Schema"

/**
 * What changed the prefix that the provider had in its cache.
 *
 * - `tools`, `system`: the tools, or the system text, were others than in the request before.
 * - `edit`: an edit of ours came into force; the report's `commit` has its sum.
 * - `host`: the host changed its history in front of what is new.
 * - `expired`: nothing changed, and more time went by than the cache lives.
 * - `tail`: nothing changed but what stands at the end of a request, as a memo at the tail does. Where the cache is
 *   read at marks, one stood on it or behind it: `prepare` says where they should stand.
 * - `unknown`: nothing changed that can be seen from here.
 */
export const CacheBreakCause = Schema.Literals([
  "tools",
  "system",
  "edit",
  "host",
  "expired",
  "tail",
  "unknown"
])
export type CacheBreakCause = typeof CacheBreakCause.Type

/** A request that read less from the provider's cache than the request before had left there. Tokens. */
export const CacheBreak = Schema.Struct({
  /** What the request before had read and written, as the provider reported it. */
  expected: Schema.Finite,
  /** What this one read. */
  actual: Schema.Finite,
  /** The first message of the request that was not as before; `null` where no message changed. */
  position: Schema.NullOr(Schema.Finite),
  cause: CacheBreakCause
})
export type CacheBreak = typeof CacheBreak.Type

import type { Limits } from "../Budget.ts"
import type { Overflow, OverflowKind, Profile } from "../Profile.ts"
import { ContextOverflow } from "../VarveError.ts"
import type { Usage } from "../View.ts"

/** Limits that hold besides those of the budget and the profile. */
export type Tighter = Partial<
  Pick<Limits, "tokens" | "images" | "requestBytes" | "maxEdge" | "bytesPerImage">
>

/** How far below the figure that failed the next request goes, at the first and at the second failure. */
const SHARES = [0.75, 0.4]

/** Edges and bytes of an image where the provider does not say what it allows: what most of them take. */
const EDGES = [1568, 768]
const IMAGE_BYTES = [3_500_000, 1_000_000]

/** How often an overflow of one history was answered. */
export interface Attempt {
  readonly at: string | undefined
  readonly count: number
  /** What the last one ended in, where nothing could be made smaller. */
  readonly futile?: { readonly kind: OverflowKind; readonly error: ContextOverflow }
}

/** How often an overflow is answered before it is the caller's. */
export const ATTEMPTS = SHARES.length

/** The tighter one of each, where both are known. */
export const merge = (a: Tighter, b: Tighter): Tighter => {
  const merged: Record<string, number> = { ...a }
  for (const [key, value] of Object.entries(b)) merged[key] = Math.min(value, merged[key] ?? value)
  return merged
}

/** Both limits together: the tighter one of each. */
export const tighten = (limits: Limits, tighter: Tighter): Limits => {
  const { tokens, images, requestBytes, maxEdge, bytesPerImage } = tighter
  return {
    ...limits,
    tokens: Math.min(limits.tokens, tokens ?? Infinity),
    images: Math.min(limits.images, images ?? Infinity),
    requestBytes: Math.min(limits.requestBytes, requestBytes ?? Infinity),
    maxEdge: Math.min(limits.maxEdge, maxEdge ?? Infinity),
    bytesPerImage: Math.min(limits.bytesPerImage, bytesPerImage ?? Infinity)
  }
}

/**
 * What the next request must keep to after an overflow: the axis that failed goes well below the figure that
 * was refused, further at the second failure. `usage` is what was sent, in the view's own measure.
 */
export const squeeze = (overflow: Overflow, usage: Usage, attempt: number): Tighter => {
  const share = SHARES[attempt] ?? SHARES[ATTEMPTS - 1]!
  const { kind, limit, actual } = overflow
  const below = (used: number, floor: number): number => {
    // A stated limit counts in the view's measure as far as the two figures for the same request tell.
    const scale = actual !== undefined && actual > 0 ? used / actual : 1
    const allowed = limit === undefined || !(limit > 0) ? used : Math.min(used, limit * scale)
    return Math.max(floor, Math.floor(allowed * share))
  }
  switch (kind) {
    case "tokens":
      return { tokens: below(usage.tokens, 1) }
    case "image-count":
      return { images: attempt + 1 >= ATTEMPTS ? 1 : below(usage.images, 1) }
    case "image-size":
      return overflow.unit === "bytes"
        ? { bytesPerImage: limit ?? IMAGE_BYTES[attempt]! }
        : { maxEdge: limit ?? EDGES[attempt]! }
    case "bytes":
      return { requestBytes: below(usage.requestBytes, 1) }
  }
}

/** What a stated limit teaches for the rest of the session. */
export const learned = ({ kind, limit, unit }: Overflow): Tighter => {
  if (limit === undefined || !(limit > 0)) return {}
  if (kind === "tokens") return { tokens: limit }
  if (kind === "image-count") return { images: limit }
  if (kind === "bytes") return { requestBytes: limit }
  return unit === "bytes" ? { bytesPerImage: limit } : { maxEdge: limit }
}

const kinds: ReadonlySet<unknown> = new Set<OverflowKind>([
  "tokens",
  "image-count",
  "image-size",
  "bytes"
])

/** What a provider's error says of an overflow; a classifier that throws or gives nonsense says nothing. */
export const classified = (profile: Profile, error: unknown): Overflow | undefined => {
  try {
    const given = profile.classify?.(error) as unknown
    // One that gives a promise must not end the process with it.
    if (given instanceof Promise) given.catch(() => undefined)
    const overflow = given as Partial<Overflow> | null | undefined
    return kinds.has(overflow?.kind) ? (overflow as Overflow) : undefined
  } catch {
    return undefined
  }
}

/** Why an answer to an overflow is none: what is still over, or that the same request would fail again. */
export const failure = (
  { actual = 0, kind, limit = 0 }: Overflow,
  left: ContextOverflow | undefined,
  after: Usage,
  before: Usage
): ContextOverflow | undefined => {
  const isSmaller =
    after.tokens < before.tokens ||
    after.images < before.images ||
    after.requestBytes < before.requestBytes
  return left ?? (isSmaller ? undefined : new ContextOverflow(kind, limit, actual, []))
}

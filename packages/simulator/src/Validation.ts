/** A request as its reader gives it, with what the provider billed for it. */
export interface BilledRequest {
  readonly at: number
  readonly timestamp?: number | undefined
  readonly model?: string | undefined
  readonly usage?:
    | { readonly input: number; readonly cacheRead: number; readonly cacheWrite: number }
    | undefined
}

/** A session with reported usage. */
export interface BilledSession {
  readonly messages: ReadonlyArray<{ readonly role: string }>
  readonly requests: ReadonlyArray<BilledRequest>
}

/** A request whose reads were not as predicted. Tokens; `gap` in ms since the request before. */
export interface Miss {
  readonly at: number
  readonly gap: number
  readonly inLoop: boolean
  readonly predicted: number
  readonly reported: number
}

/** How many of a session's cache reads were predicted to the token. */
export interface Validation {
  readonly requests: number
  readonly equal: number
  /** Requests behind a tool's result. */
  readonly inLoop: number
  readonly equalInLoop: number
  readonly misses: ReadonlyArray<Miss>
}

/**
 * Holds the simulator's assumption against what a provider billed: a request reads from the cache all that the
 * request before read and wrote, where that is at most `lifetime` ms old (default 300 000) and was to the same
 * model. In the provider's own tokens, so that no counter takes part. Requests without usage, and the first one,
 * are passed over.
 *
 * @example
 * ```ts
 * import { validate } from "@varve/simulator"
 *
 * const usage = (cacheRead: number, cacheWrite: number) => ({ input: 3, cacheRead, cacheWrite })
 * const { equal, requests } = validate({
 *   messages: [{ role: "user" }, { role: "assistant" }, { role: "toolResult" }],
 *   requests: [
 *     { at: 1, timestamp: 0, usage: usage(0, 5000) },
 *     { at: 3, timestamp: 9000, usage: usage(5000, 400) }
 *   ]
 * })
 * console.log(equal, requests) // => 1 1
 * ```
 */
export const validate = (session: BilledSession, lifetime = 300_000): Validation => {
  let requests = 0
  let inLoop = 0
  const misses: Array<Miss> = []
  let before: (BilledRequest & { readonly usage: NonNullable<BilledRequest["usage"]> }) | undefined
  for (const request of session.requests) {
    const { at, model, timestamp = 0, usage } = request
    if (usage === undefined || usage.input + usage.cacheRead + usage.cacheWrite === 0) continue
    if (before !== undefined) {
      const gap = timestamp - (before.timestamp ?? 0)
      const predicted =
        gap <= lifetime && model === before.model
          ? before.usage.cacheRead + before.usage.cacheWrite
          : 0
      const isLoop = session.messages[at - 1]?.role === "toolResult"
      requests++
      if (isLoop) inLoop++
      if (predicted !== usage.cacheRead)
        misses.push({ at, gap, inLoop: isLoop, predicted, reported: usage.cacheRead })
    }
    before = { ...request, usage }
  }
  const missedInLoop = misses.filter((m) => m.inLoop).length
  return {
    requests,
    equal: requests - misses.length,
    inLoop,
    equalInLoop: inLoop - missedInLoop,
    misses
  }
}

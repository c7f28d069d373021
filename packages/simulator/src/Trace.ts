import type { Message } from "@varve/core"

/** One model request of a run: the history that it was made with, when, and what came back. */
export interface TraceRequest {
  readonly history: ReadonlyArray<Message>
  /** Time in ms. */
  readonly at: number
  /** Tokens of the answer. */
  readonly output: number
}

/** A run of an agent, as it would be without any memory. */
export interface Trace {
  readonly name: string
  /** Tokens of the system text and the tools. */
  readonly overhead: number
  readonly requests: ReadonlyArray<TraceRequest>
}

/** A session as its reader gives it: messages, and where in them requests were made. */
export interface SessionLike {
  readonly name: string
  readonly messages: ReadonlyArray<unknown>
  readonly requests: ReadonlyArray<{
    readonly at: number
    readonly timestamp?: number | undefined
    readonly usage?: { readonly output: number } | undefined
  }>
}

/** ms between two requests where the session doesn't say. */
const PACE = 7000

/** A number of at least 0; logs have others as well: what a reader made of a date that is none, say. */
const isAmount = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0

/**
 * A recorded session as a trace. `overhead` is what system text and tools take, in tokens. A `timestamp` or an
 * `output` that is no number of at least 0 (`NaN`, say) counts as not there: the request then comes 7 s behind
 * the one before, or has no answer.
 *
 * @example
 * ```ts
 * import { traceOf } from "@varve/simulator"
 *
 * const messages = [{ role: "user", content: "Hello" }]
 * const trace = traceOf({ name: "mine", messages, requests: [{ at: 1 }] }, { overhead: 1000 })
 * console.log(trace.requests.length) // => 1
 * ```
 */
export const traceOf = (session: SessionLike, options?: { readonly overhead?: number }): Trace => {
  const requests = session.requests.filter(({ at }) => at > 0)
  // What comes before the first time that is known, comes at the same pace.
  const known = requests.findIndex(({ timestamp }) => isAmount(timestamp))
  let clock = known > 0 ? Math.max(0, requests[known]!.timestamp! - PACE * (known + 1)) : 0
  return {
    name: session.name,
    overhead: options?.overhead ?? 0,
    requests: requests.map(({ at, timestamp, usage }) => {
      clock = isAmount(timestamp) ? Math.max(clock, timestamp) : clock + PACE
      return {
        history: session.messages.slice(0, at) as ReadonlyArray<Message>,
        at: clock,
        output: isAmount(usage?.output) ? usage.output : 0
      }
    })
  }
}

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

/**
 * A recorded session as a trace. `overhead` is what system text and tools take, in tokens.
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
  let clock = 0
  return {
    name: session.name,
    overhead: options?.overhead ?? 0,
    requests: session.requests
      .filter(({ at }) => at > 0)
      .map(({ at, timestamp, usage }) => {
        clock = timestamp === undefined ? clock + PACE : Math.max(clock, timestamp)
        return {
          history: session.messages.slice(0, at) as ReadonlyArray<Message>,
          at: clock,
          output: usage?.output ?? 0
        }
      })
  }
}

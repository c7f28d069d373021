import type { Overhead } from "@varve/core/Counter"
import type { PiMemory } from "../PiAgent.ts"
import { messageOverhead } from "./overhead.ts"

/** A hook for messages of any kind. */
export type AnyTransformContext = <M>(messages: Array<M>, signal?: AbortSignal) => Promise<Array<M>>

/** The last history that a memory prepared, and what it became. */
interface Prepared {
  readonly from: ReadonlyArray<unknown>
  readonly to: ReadonlyArray<unknown>
}

/**
 * The last view with what came since, where the history only grew: the best view to be had without the
 * memory. It is valid, since the view was.
 */
const continued = <M>({ from, to }: Prepared, messages: Array<M>): Array<M> => {
  if (messages.length < from.length || from.some((m, i) => m !== messages[i])) return messages
  return [...(to as ReadonlyArray<M>), ...messages.slice(from.length)]
}

const isOverflow = (error: unknown): boolean =>
  (error as { readonly _tag?: unknown } | null | undefined)?._tag === "ContextOverflow"

/** What a hook needs of the agent that it serves. */
export interface Served {
  /** What a request carries beside its messages. */
  readonly beside: () => Overhead
  /** The answer that the last request failed with, told once. */
  readonly failure: () => unknown
  /** Told of each request that the memory prepared, and where cache marks do most good in it. */
  readonly sent: (view: ReadonlyArray<unknown>, marks: ReadonlyArray<number>) => void
}

const alone: Served = { beside: () => ({}), failure: () => undefined, sent: () => {} }

/** The hook of a memory. Never rejects, and never writes to what it is given. */
export const makeHook = (memory: PiMemory, served: Served = alone): AnyTransformContext => {
  const overheadOf = messageOverhead()
  let last: Prepared | undefined
  return async (messages, signal) => {
    const aborted = (): boolean => signal?.aborted === true
    if (aborted()) return messages
    let overflow = false
    try {
      const from = messages.slice()
      const options = { ...overheadOf(messages, served.beside()), signal }
      const failure = served.failure()
      const smaller =
        failure === undefined ? undefined : await memory.recover(failure, messages, options)
      const { messages: out, marks } = smaller ?? (await memory.prepare(messages, options))
      last = { from, to: out === messages ? from : out }
      served.sent(last.to, marks)
      return out as typeof messages
    } catch (error) {
      if (aborted()) return messages
      overflow = isOverflow(error)
    }
    // Where the memory can't prepare, it says so to its listener here; on an overflow this is the
    // smallest valid view.
    try {
      const out = await memory.transformContext(
        messages,
        signal,
        overheadOf(messages, served.beside())
      )
      if (overflow) served.sent(out, [])
      if (overflow || out !== messages) return out
    } catch {
      // Not a memory of ours, or one that broke its promise: what it last gave has to do.
    }
    return last === undefined ? messages : continued(last, messages)
  }
}

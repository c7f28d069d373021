import type { Overhead } from "@varve/core/Counter"
import type { PiMemory } from "../PiAgent.ts"
import { messageOverhead } from "./overhead.ts"

/** A hook for messages of any kind. */
export type AnyTransformContext = <M>(
  messages: Array<M>,
  signal?: AbortSignal
) => Promise<Array<M>>

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

/**
 * The hook of a memory. Never rejects, and never writes to what it is given.
 *
 * `beside` is what a request carries beside its messages; `sent` is told of each request that the memory
 * prepared.
 */
export const makeHook = (
  memory: PiMemory,
  beside: () => Overhead = () => ({}),
  sent: () => void = () => {}
): AnyTransformContext => {
  const overheadOf = messageOverhead()
  let last: Prepared | undefined
  return async (messages, signal) => {
    const aborted = (): boolean => signal?.aborted === true
    if (aborted()) return messages
    let overflow = false
    try {
      const from = messages.slice()
      const overhead = overheadOf(messages, beside())
      const { messages: out } = await memory.prepare(messages, { ...overhead, signal })
      last = { from, to: out === messages ? from : out }
      sent()
      return out as typeof messages
    } catch (error) {
      if (aborted()) return messages
      overflow = isOverflow(error)
    }
    // Where the memory can't prepare, it says so to its listener here; on an overflow this is the
    // smallest valid view.
    try {
      const out = await memory.transformContext(messages, signal)
      if (overflow) sent()
      if (overflow || out !== messages) return out
    } catch {
      // Not a memory of ours, or one that broke its promise: what it last gave has to do.
    }
    return last === undefined ? messages : continued(last, messages)
  }
}

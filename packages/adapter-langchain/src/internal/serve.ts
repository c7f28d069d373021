import { langChain } from "@varve/codecs/LangChain"
import { patience } from "@varve/core/Patience"
import type { LangChainMemory, ModelCall } from "../LangChainAgent.ts"
import { besides } from "./beside.ts"
import { makeRecorder } from "./recorder.ts"
import { says } from "./says.ts"

type Messages = ReadonlyArray<object>

/** The last history that a memory prepared, and what it became. */
interface Prepared {
  readonly from: Messages
  readonly to: Messages
}

/** One model call. Nothing here rejects, and nothing writes to what it is given. */
interface Call {
  /** The messages to send. */
  readonly view: () => Promise<Messages>
  /** Fewer of them, where an error speaks of an overflow; nothing where the error is the caller's. */
  readonly smaller: (error: unknown) => Promise<Messages | undefined>
  /** Takes what came back. */
  readonly answered: (answer: unknown) => void
}

/** A memory at work in an agent. */
export interface Served {
  readonly begin: (request: ModelCall) => Call
}

export interface ServeOptions {
  readonly goalArgument?: string | undefined
  readonly marks?: boolean | undefined
  readonly timeout?: number | undefined
}

/**
 * The last view with what came since, where the history only grew: the best view to be had without the
 * memory. It is valid, since the view was.
 */
const continued = ({ from, to }: Prepared, messages: Messages): Messages =>
  messages.length < from.length || from.some((m, i) => !says(m, messages[i]))
    ? messages
    : [...to, ...messages.slice(from.length)]

const tagOf = (error: unknown): unknown =>
  (error as { readonly _tag?: unknown } | null | undefined)?._tag

/** The list itself where nothing in it is to be changed. */
const orSame = (before: Messages, after: Messages): Messages =>
  before.length === after.length && before.every((m, i) => m === after[i]) ? before : after

export const serve = (
  memory: LangChainMemory,
  { goalArgument, marks, timeout }: ServeOptions
): Served => {
  const recorder = makeRecorder(memory, goalArgument)
  const beside = besides()
  const inTime = patience(timeout)
  let last: Prepared | undefined
  /** True once the memory said that it is closed: there is nothing to tell it any more. */
  let closed = false

  const begin = (request: ModelCall): Call => {
    const { messages, runtime } = request
    const signal = runtime?.signal
    const aborted = (): boolean => signal?.aborted === true
    let isSent = false

    const options = () => ({
      ...beside(request),
      signal,
      ...(marks === true ? { marks: true as const } : {})
    })
    const sent = (to: Messages): Messages => {
      if (to.length === 0 && messages.length > 0) throw new Error("The memory gave no view.")
      isSent = true
      const out = orSame(messages, to)
      // Copies: another middleware may write to the list that it is given.
      last = { from: messages.slice(), to: out.slice() }
      return out
    }

    const view = async (): Promise<Messages> => {
      if (aborted()) return messages
      let overflow = false
      try {
        if (!closed) recorder.history(request)
        const { messages: out } = await inTime(() => langChain.prepare(memory, messages, options()))
        return sent(out)
      } catch (error) {
        if (aborted()) return messages
        overflow = tagOf(error) === "ContextOverflow"
        closed = tagOf(error) === "MemoryClosed"
      }
      // Where the memory can't prepare, it says so to its listener here; on an overflow this is the
      // smallest valid view.
      try {
        const { system, tools } = beside(request)
        const neutral = langChain.read(messages).slice()
        const text = typeof system === "object" ? system.map((s) => s.text).join("\n") : system
        const out = await inTime(() =>
          memory.transformContext(neutral, signal, { system: text, tools })
        )
        if (overflow || out !== neutral) return sent(langChain.write<object>(out))
      } catch {
        // Not a memory of ours, or one that hangs: what it last gave has to do.
      }
      return last === undefined ? messages : continued(last, messages)
    }

    const smaller = async (error: unknown): Promise<Messages | undefined> => {
      if (!isSent || aborted()) return undefined
      try {
        const less = await inTime(() => langChain.recover(memory, error, messages, options()))
        return less === undefined ? undefined : sent(less.messages)
      } catch {
        return undefined
      }
    }

    return {
      view,
      smaller,
      answered: (answer) => {
        if (isSent) recorder.answer(answer)
      }
    }
  }
  return { begin }
}

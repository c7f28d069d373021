import { aiSdk } from "@varve/codecs/AiSdk"
import type { AiSdkMessage } from "@varve/codecs/AiSdk"
import type { CodecOptions } from "@varve/codecs/Codec"
import type { Message } from "@varve/core/Message"
import { patience } from "@varve/core/Patience"
import type { AdapterOptions } from "../AdapterOptions.ts"
import type { SdkMemory } from "../SdkMemory.ts"
import { startsWith } from "./same.ts"

/** What goes with one request. */
export type Beside = Pick<CodecOptions, "system" | "tools" | "signal" | "automatic">

/** A view of a history. */
export interface Viewed {
  readonly from: ReadonlyArray<AiSdkMessage>
  readonly to: ReadonlyArray<AiSdkMessage>
  /** True where the memory made it: the usage reported next is that of this request. */
  readonly prepared: boolean
}

/** Asks a memory for views. Nothing of it rejects or writes to what it is given. */
export interface Views {
  readonly view: (history: ReadonlyArray<AiSdkMessage>, beside: Beside) => Promise<Viewed>
  /** True once the memory said that it is closed: there is nothing to tell it any more. */
  readonly isClosed: () => boolean
  /** A smaller view after an error of the provider; nothing where the error is the caller's. */
  readonly smaller: (
    error: unknown,
    history: ReadonlyArray<AiSdkMessage>,
    beside: Beside
  ) => Promise<Viewed | undefined>
}

/**
 * The last view with what came since, where the history only grew: the best view to be had without the
 * memory. It is valid, since the view was.
 */
const continued = (last: Viewed | undefined, history: ReadonlyArray<AiSdkMessage>) =>
  last !== undefined && startsWith(history, last.from)
    ? [...last.to, ...history.slice(last.from.length)]
    : history

const tagOf = (error: unknown): unknown =>
  (error as { readonly _tag?: unknown } | null | undefined)?._tag

const textOf = (system: Beside["system"]): string | undefined =>
  typeof system === "object" ? system.map(({ text }) => String(text)).join("\n") : system

export const makeViews = (memory: SdkMemory, options: AdapterOptions): Views => {
  const { marks, timeout } = options
  const inTime = patience(timeout)
  let last: Viewed | undefined
  let closed = false

  /** Throws where there is no view: nothing of ours is empty. */
  const seen = (
    history: ReadonlyArray<AiSdkMessage>,
    to: ReadonlyArray<AiSdkMessage>,
    prepared: boolean
  ): Viewed => {
    if (to.length === 0 && history.length > 0) throw new Error("The memory gave no view.")
    const viewed = { from: history.slice(), to, prepared }
    if (prepared) last = viewed
    return viewed
  }

  const given = (beside: Beside): CodecOptions => ({
    ...beside,
    marks: marks === true ? true : undefined
  })

  /** On an overflow the smallest valid view; on a fault the list that it was given. Each with an event. */
  const anyway = (neutral: Array<Message>, { signal, system, tools }: Beside) =>
    inTime(() => memory.transformContext(neutral, signal, { system: textOf(system), tools }))

  return {
    isClosed: () => closed,

    view: async (history, beside) => {
      if (beside.signal?.aborted === true) return { from: history, to: history, prepared: false }
      let overflow = false
      try {
        const { messages } = await inTime(() => aiSdk.prepare(memory, history, given(beside)))
        return seen(history, messages, true)
      } catch (error) {
        overflow = tagOf(error) === "ContextOverflow"
        closed = tagOf(error) === "MemoryClosed"
      }
      try {
        const neutral = [...aiSdk.read(history)]
        const out = await anyway(neutral, beside)
        if (overflow || out !== neutral) return seen(history, aiSdk.write(out), overflow)
      } catch {
        // Not a memory of ours, or one that hangs: what it last gave has to do.
      }
      return seen(history, continued(last, history), false)
    },

    smaller: async (error, history, beside) => {
      if (beside.signal?.aborted === true) return undefined
      try {
        const out = await inTime(() => aiSdk.recover(memory, error, history, given(beside)))
        return out === undefined ? undefined : seen(history, out.messages, true)
      } catch {
        // Nothing smaller can be made: the provider's error says what happened.
        return undefined
      }
    }
  }
}

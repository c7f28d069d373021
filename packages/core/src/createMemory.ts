import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Overhead } from "./Counter.ts"
import { errorText } from "./internal/box.ts"
import { tell } from "./internal/tell.ts"
import { safeRedact } from "./internal/redact.ts"
import type { Saved } from "./Ledger.ts"
import type { MemoryOptions, PrepareOptions, Prepared, Recalled, ReportedUsage } from "./Memory.ts"
import { make } from "./Memory.ts"
import { noStore } from "./Store.ts"
import { StoreError } from "./VarveError.ts"
import type { Explanation } from "./Report.ts"
import type { BeginStep, FinishStep } from "./StepLog.ts"

/** A memory for code that knows nothing of Effect: the same thing with promises. */
export interface PlainMemory {
  /**
   * The host's history as it is to be sent now. Rejects with `ContextOverflow` where what can't be cut is
   * over a limit, with `StoreError` where the saved session can't be read, with the signal's reason once it
   * is aborted.
   */
  readonly prepare: <M>(
    messages: ReadonlyArray<M>,
    options?: PrepareOptions & { readonly signal?: AbortSignal | undefined }
  ) => Promise<Prepared<M>>
  /**
   * The hook for pi's agent loop; bound, and never rejects: on overflow it gives the smallest valid view,
   * where the saved session can't be read a view without it, on any other fault the history as it came,
   * each with an event.
   */
  readonly transformContext: <M>(
    messages: Array<M>,
    signal?: AbortSignal,
    overhead?: Overhead
  ) => Promise<Array<M>>
  /**
   * Answers an error of the provider that speaks of an overflow with one smaller request; nothing for any
   * other error and at the third failure in a row. Rejects with `ContextOverflow` where nothing smaller can be
   * made.
   */
  readonly recover: <M>(
    error: unknown,
    messages: ReadonlyArray<M>,
    options?: PrepareOptions & { readonly signal?: AbortSignal | undefined }
  ) => Promise<Prepared<M> | undefined>
  readonly steps: {
    readonly begin: (step: BeginStep) => void
    readonly finish: (step: FinishStep) => void
  }
  /** Takes what the provider reported for the last request. */
  readonly usage: (usage: ReportedUsage) => void
  /** The memos as text, the step memory among them. */
  readonly compose: () => string
  /** The original of what was edited; rejects with `NotAvailable` where the host has dropped it. */
  readonly recall: (id: string) => Promise<Recalled>
  /** The edits of this session, or those of one id, each with its story. */
  readonly explain: (id?: string) => ReadonlyArray<Explanation>
  readonly pin: (messageId: string) => void
  readonly unpin: (messageId: string) => void
  /**
   * Another memory that begins with what this one knows now, under another session's name. Rejects with
   * `StoreError` where the store has a session of that name.
   */
  readonly fork: (session: string) => Promise<PlainMemory>
  /** Forgets edits, steps and pins. */
  readonly reset: () => Promise<void>
  /** Waits for work beside the agent, no longer than `strategyTimeout`, and for the store. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Makes a memory: one session of one agent. Synchronous; throws `ConfigError` where an option is wrong.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens: 50_000 } })
 * const { messages } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(messages.length) // => 1
 * await memory.close()
 * ```
 */
export const createMemory = (options: MemoryOptions): PlainMemory => build(options, undefined)

const build = (options: MemoryOptions, seed: ReadonlyArray<Saved> | undefined): PlainMemory => {
  const scope = Scope.makeUnsafe()
  const memory = Effect.runSync(make(options, seed).pipe(Effect.provideService(Scope.Scope, scope)))
  let unsaved: PlainMemory | undefined
  return {
    prepare: (messages, { signal, ...rest } = {}) => run(memory.prepare(messages, rest), signal),
    transformContext: async (messages, signal, overhead) => {
      try {
        const { messages: out } = await run(memory.prepareAnyway(messages, overhead), signal)
        return out as typeof messages
      } catch (error) {
        if (signal?.aborted === true) return messages
        failed(options, error)
        if (!(error instanceof StoreError)) return messages
        // The session can't be read, and what is sent still has to fit. Nothing of this is saved.
        unsaved ??= build({ ...options, store: noStore }, undefined)
        return unsaved.transformContext(messages, signal, overhead)
      }
    },
    recover: (error, messages, { signal, ...rest } = {}) =>
      run(memory.recover(error, messages, rest), signal),
    steps: {
      begin: (step) => void Effect.runFork(memory.steps.begin(step)),
      finish: (step) => void Effect.runFork(memory.steps.finish(step))
    },
    usage: (usage) => Effect.runSync(memory.usage(usage)),
    compose: () => Effect.runSync(memory.compose),
    recall: (id) => Effect.runPromise(memory.recall(id)),
    explain: (id) => Effect.runSync(memory.explain(id)),
    pin: (id) => void Effect.runFork(memory.pin(id)),
    unpin: (id) => void Effect.runFork(memory.unpin(id)),
    fork: async (session) => {
      const next = build({ ...options, session }, await Effect.runPromise(memory.snapshot))
      try {
        await next.flush()
        return next
      } catch (error) {
        await next.close().catch(() => undefined)
        throw error
      }
    },
    reset: () => Effect.runPromise(memory.reset),
    flush: () => Effect.runPromise(memory.flush),
    close: async () => {
      await unsaved?.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** Runs until the signal and rejects with its reason then; one that was given before starts nothing. */
const run = async <A, E>(
  effect: Effect.Effect<A, E>,
  signal: AbortSignal | undefined
): Promise<A> => {
  if (signal === undefined) return Effect.runPromise(effect)
  signal.throwIfAborted()
  try {
    return await Effect.runPromise(effect, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

const failed = ({ onEvent, redact = (text) => text }: MemoryOptions, error: unknown): void =>
  tell(onEvent, {
    type: "failed",
    error: errorText(
      error,
      safeRedact(redact, () => undefined)
    )
  })

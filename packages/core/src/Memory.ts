import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Counter, Overhead } from "./Counter.ts"
import { CurrentMemory } from "./CurrentMemory.ts"
import { Background, endPassing } from "./internal/Background.ts"
import { started } from "./internal/box.ts"
import type { Started } from "./internal/box.ts"
import { MemoryImpl } from "./internal/MemoryImpl.ts"
import type { MemoryOptions } from "./internal/memoryOptions.ts"
import { withoutImages } from "./internal/project.ts"
import { readOptions } from "./internal/memoryOptions.ts"
import { Warn } from "./Warn.ts"
import { redactAnswer } from "./internal/redact.ts"
import type { Recalled } from "./internal/recall.ts"
import type { Saved } from "./Ledger.ts"
import type { Explanation, Report } from "./Report.ts"
import { CurrentRedact } from "./Redact.ts"
import type { BeginStep, FinishStep, Step } from "./StepLog.ts"
import type {
  ConfigError,
  ContextOverflow,
  MemoryClosed,
  NotAvailable,
  StoreError
} from "./VarveError.ts"

export type { MemoryOptions } from "./internal/memoryOptions.ts"
export type { Recalled } from "./internal/recall.ts"

/** What goes with one request. */
export interface PrepareOptions extends Overhead {
  /** Gives the same plan and changes nothing. */
  readonly dryRun?: boolean | undefined
}

/** What the provider reported for the last request, in tokens. `input` is what was not cached. */
export interface ReportedUsage {
  readonly input: number
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly output?: number | undefined
}

/** What `prepare` gives. */
export interface Prepared<M> {
  /** What to send. The host's own list where nothing is to be changed. */
  readonly messages: ReadonlyArray<M>
  readonly report: Report
  /**
   * Where cache marks do most good: indexes of messages behind which one should stand, ascending, at most three. The
   * last message; the last one that stands as it did in the request before, where a read from the last message doesn't
   * look back so far; the last ones that the next commit will leave as they are, at the first edit that waits and at
   * those that are due soonest. Empty where the provider has no marks.
   */
  readonly marks: ReadonlyArray<number>
  /** Set where what can't be cut is over a limit, and only by `prepareAnyway`. */
  readonly overflow?: ContextOverflow
}

/** One session of one agent. */
export interface Memory {
  /** The host's history as it is to be sent now. Calls are serialized. */
  readonly prepare: <M>(
    messages: ReadonlyArray<M>,
    options?: PrepareOptions
  ) => Effect.Effect<Prepared<M>, ContextOverflow | StoreError | MemoryClosed>
  /** Like `prepare`; on overflow the smallest valid view instead of a failure. */
  readonly prepareAnyway: <M>(
    messages: ReadonlyArray<M>,
    options?: PrepareOptions
  ) => Effect.Effect<Prepared<M>, StoreError | MemoryClosed>
  /**
   * Answers an error of the provider that speaks of an overflow: one smaller request, on the axis that
   * failed. Nothing for any other error, without `profile.classify`, and at the third failure in a row: then
   * the error is the caller's. Fails with `ContextOverflow` where nothing smaller can be made.
   */
  readonly recover: <M>(
    error: unknown,
    messages: ReadonlyArray<M>,
    options?: PrepareOptions
  ) => Effect.Effect<Prepared<M> | undefined, ContextOverflow | StoreError | MemoryClosed>
  readonly steps: {
    /** Records the start of a step. */
    readonly begin: (step: BeginStep) => Effect.Effect<void>
    /** Records its end; a step that was never begun is a warning, not an error. */
    readonly finish: (step: FinishStep) => Effect.Effect<void>
    readonly list: Effect.Effect<ReadonlyArray<Step>>
  }
  /** Takes what the provider reported for the last request that was prepared. */
  readonly usage: (usage: ReportedUsage) => Effect.Effect<void>
  /** The memos as text, the step memory among them. */
  readonly compose: Effect.Effect<string>
  /** The original of what was edited: by the id of a block, a message, a group or a fold. */
  readonly recall: (id: string) => Effect.Effect<Recalled, NotAvailable>
  /** The edits of this session, or those of one id, each with its story. */
  readonly explain: (id?: string) => Effect.Effect<ReadonlyArray<Explanation>>
  /** Protects a message and what it needs; takes the id that the host gave it, or ours. */
  readonly pin: (messageId: string) => Effect.Effect<void>
  readonly unpin: (messageId: string) => Effect.Effect<void>
  /** The saved lines of this session, to begin another with. */
  readonly snapshot: Effect.Effect<ReadonlyArray<Saved>, StoreError | MemoryClosed>
  /** Forgets edits, steps and pins. */
  readonly reset: Effect.Effect<void, StoreError | MemoryClosed>
  /** Waits for work beside the agent and for the store. */
  readonly flush: Effect.Effect<void, StoreError>
}

/**
 * Makes a memory in the scope of the caller: what it started ends with that scope.
 *
 * Fails with `ConfigError` where an option is wrong.
 *
 * @example
 * ```ts
 * import { hardLimit } from "@varve/core/HardLimit"
 * import * as Memory from "@varve/core/Memory"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.scoped(
 *   Effect.gen(function* () {
 *     const memory = yield* Memory.make({ pipeline: [hardLimit()] })
 *     const { messages } = yield* memory.prepare([{ role: "user", content: "Hello" }])
 *     return messages.length
 *   })
 * )
 * console.log(await Effect.runPromise(program)) // => 1
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: MemoryOptions,
  seed?: ReadonlyArray<Saved>
): Effect.fn.Return<Memory, ConfigError, Scope.Scope> {
  const given = yield* Effect.try({
    try: () => readOptions(options),
    catch: (error) => error as ConfigError
  })
  const scope = yield* Scope.Scope
  // The strategies' own, which ends behind `close`: that waits for what still works beside the agent.
  const inside = yield* Scope.fork(scope)
  const background = new Set<Fiber.Fiber<unknown, unknown>>()
  const own: Array<Started> = []
  const { redact } = given
  const redacting = redact === undefined ? Context.empty() : Context.make(CurrentRedact, redact)
  // Added one by one: what Effect knows of a fiber's context is found anew for one that is merged.
  const inMemory = (context: Context.Context<never>): Context.Context<never> => {
    const known = context.pipe(
      Context.add(CurrentMemory, background),
      Context.add(Warn, (cause, message) => impl.warnOnce(cause, message))
    )
    return redact === undefined ? known : Context.add(known, CurrentRedact, redact)
  }
  for (const strategy of given.strategies) {
    const propose = yield* strategy.start.pipe(
      Effect.provideContext(redacting),
      Effect.provideService(Background, background),
      Effect.provideService(Scope.Scope, inside)
    )
    own.push(
      started(strategy, (view) => {
        const answer = Effect.updateContext(propose(view), inMemory)
        return redact === undefined ? answer : redactAnswer(answer, redact)
      })
    )
  }
  const counter =
    "start" in given.counter ? yield* given.counter.start(given.profile) : given.counter
  const impl: MemoryImpl = new MemoryImpl(
    given,
    own,
    given.profile.vision ? counter : blindCounter(counter),
    background,
    seed
  )
  yield* Scope.addFinalizer(scope, Effect.ignore(impl.close))
  // Runs before that: a summary that comes too late to be sent is not waited for.
  yield* Scope.addFinalizer(scope, endPassing(background))
  return impl
})

/** A counter for a model that takes no images: they are not sent, so a message costs what stands for them. */
const blindCounter = (counter: Counter): Counter => ({
  ...counter,
  image: () => 0,
  message: (message) => counter.message(withoutImages([message])[0]!)
})

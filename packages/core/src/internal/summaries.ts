import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { SummaryResult } from "../Summarizer.ts"
import type { SummaryError } from "../VarveError.ts"
import { Background, forkBeside } from "./Background.ts"
import { late } from "./summarize.ts"

/** A summary that is being made beside the agent, or was. */
export interface Making {
  /** What came of it; nothing as long as it is being made. */
  readonly exit: () => Exit.Exit<SummaryResult, SummaryError> | undefined
  /** Until something came of it. Who stops waiting for it because the request is aborted ends it. */
  readonly wait: Effect.Effect<void>
}

/** Starts a summary; `timeout` ms is what it may take from now on, the wait for others included. */
export type StartSummary = (
  make: (timeout: number) => Effect.Effect<SummaryResult, SummaryError>,
  timeout: number
) => Effect.Effect<Making>

const queues = new WeakMap<Scope.Scope, Semaphore.Semaphore>()

/** The strategies of one memory start in one scope, and all its summaries stand in one queue. */
const queueOf = (scope: Scope.Scope): Semaphore.Semaphore => {
  let queue = queues.get(scope)
  if (queue === undefined) queues.set(scope, (queue = Semaphore.makeUnsafe(1)))
  return queue
}

/**
 * For the start of a strategy: gives what starts a summary beside the agent. Those of one memory are made one
 * after the other. One that needs no waiting, since no model makes it, is there at once. `flush()` of the memory
 * waits for them, and they end with it.
 */
export const summaries: Effect.Effect<StartSummary, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Scope.Scope
  const fibers = yield* Background
  const queue = queueOf(scope)
  const start: StartSummary = Effect.fnUntraced(function* (make, timeout) {
    const asked = yield* Clock.currentTimeMillis
    const inTurn = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      make(Math.max(1, timeout - (now - asked)))
    )
    const work = Effect.flatMap(
      queue.withPermitsIfAvailable(1)(Effect.suspend(() => make(timeout))),
      Option.match({
        onSome: Effect.succeed,
        onNone: () =>
          Effect.timeoutOrElse(queue.withPermit(inTurn), {
            duration: timeout,
            orElse: () => Effect.fail(late(timeout))
          })
      })
    )
    const fiber = yield* forkBeside(work, scope, fibers, { startImmediately: true, passing: true })
    return {
      exit: () => fiber.pollUnsafe(),
      wait: Effect.onInterrupt(Effect.asVoid(Fiber.await(fiber)), () =>
        Effect.forkDetach(Fiber.interrupt(fiber))
      )
    }
  })
  return start
})

/** True where a summary was ended before anything came of it: it may be asked for again. */
export const isEnded = (exit: Exit.Exit<unknown, SummaryError>): boolean => Exit.hasInterrupts(exit)

/** Why there is no summary. */
export const errorOf = (exit: Exit.Failure<unknown, SummaryError>): SummaryError =>
  // `summarize` fails with nothing else.
  Cause.squash(exit.cause) as SummaryError

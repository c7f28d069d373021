import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

type Fibers = Set<Fiber.Fiber<unknown, unknown>>

/** The fibers that work beside the agent for one memory; `flush()` waits for them. */
export const Background = Context.Reference<Fibers>("@varve/core/Background", {
  defaultValue: () => new Set()
})

/** How many of them have finished and are not waited for yet. */
export const finished = (fibers: ReadonlySet<Fiber.Fiber<unknown, unknown>>): number => {
  let count = 0
  for (const fiber of fibers) if (fiber.pollUnsafe() !== undefined) count++
  return count
}

/** Waits for all of them, and for those that begin meanwhile. */
export const allOf = (fibers: Fibers): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const fiber of fibers) {
      yield* Fiber.await(fiber)
      fibers.delete(fiber)
    }
  })

/** Those whose work is of no use to anybody once their memory is closed. */
const passing = new WeakSet<Fiber.Fiber<unknown, unknown>>()

/** Where no such work begins any more. */
const closed = new WeakSet<Fibers>()

/** How work beside the agent begins and ends. */
export interface BesideOptions {
  /** True to begin it before this returns: what doesn't wait for anything is done then. */
  readonly startImmediately?: boolean
  /** True where closing the memory ends it; otherwise closing waits for it. */
  readonly passing?: boolean
}

/** Starts an effect in a scope, and keeps its fiber among those of its memory while it runs. */
export const forkBeside = <A, E>(
  effect: Effect.Effect<A, E>,
  scope: Scope.Scope,
  fibers: Fibers,
  { passing: isPassing = false, startImmediately = false }: BesideOptions = {}
): Effect.Effect<Fiber.Fiber<A, E>> =>
  Effect.suspend(() => {
    const work = isPassing && closed.has(fibers) ? Effect.interrupt : effect
    return Effect.forkIn(work, scope, { startImmediately })
  }).pipe(
    Effect.map((fiber) => {
      if (fiber.pollUnsafe() !== undefined) return fiber
      if (isPassing) passing.add(fiber)
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
      return fiber
    })
  )

/** Ends what is of no use once the memory is closed, now and for good. */
export const endPassing = (fibers: Fibers): Effect.Effect<void> =>
  Effect.suspend(() => {
    closed.add(fibers)
    return Fiber.interruptAll([...fibers].filter((fiber) => passing.has(fiber)))
  })

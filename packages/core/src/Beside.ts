import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { Background, forkBeside } from "./internal/Background.ts"

/** Starts an effect beside the agent and gives its fiber at once. */
export type Beside = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Fiber.Fiber<A, E>>

/**
 * For the start of a strategy: gives what starts work beside the agent. `flush()` of the memory waits for that
 * work, and it ends with the memory.
 *
 * @example
 * ```ts
 * import { beside } from "@varve/core/Beside"
 * import { make } from "@varve/core/Strategy"
 * import * as Effect from "effect/Effect"
 *
 * const busy = make(
 *   "busy",
 *   Effect.map(beside, (fork) => () => Effect.as(fork(Effect.yieldNow), []))
 * )
 * console.log(busy.name) // => busy
 * ```
 */
export const beside: Effect.Effect<Beside, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Scope.Scope
  const pending = yield* Background
  const fork: Beside = (effect) => forkBeside(effect, scope, pending)
  return fork
})

import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"

/** The fibers that work beside the agent for one memory; `flush()` waits for them. */
export const Background = Context.Reference<Set<Fiber.Fiber<unknown, unknown>>>(
  "@varve/core/Background",
  {
    defaultValue: () => new Set()
  }
)

/** How many of them have finished and are not waited for yet. */
export const finished = (fibers: ReadonlySet<Fiber.Fiber<unknown, unknown>>): number => {
  let count = 0
  for (const fiber of fibers) if (fiber.pollUnsafe() !== undefined) count++
  return count
}

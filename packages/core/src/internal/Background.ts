import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"

/** The fibers that work beside the agent for one memory; `flush()` waits for them. */
export const Background = Context.Reference<Set<Fiber.Fiber<unknown, unknown>>>(
  "@varve/core/Background",
  {
    defaultValue: () => new Set()
  }
)

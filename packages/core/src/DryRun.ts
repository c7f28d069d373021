import * as Context from "effect/Context"

/**
 * True while a memory prepares with `dryRun`. A strategy that keeps something between calls leaves it as it is
 * then, and neither starts work beside the agent nor waits for it.
 *
 * @example
 * ```ts
 * import { createMemory } from "@varve/core"
 * import { IsDryRun } from "@varve/core/DryRun"
 * import { strategy } from "@varve/core/Strategy"
 * import * as Effect from "effect/Effect"
 *
 * let calls = 0
 * const counting = strategy("counting", () =>
 *   Effect.map(IsDryRun, (isDry) => {
 *     if (!isDry) calls++
 *     return []
 *   })
 * )
 * const memory = createMemory({ pipeline: [counting] })
 * await memory.prepare([{ role: "user", content: "Hello" }], { dryRun: true })
 * console.log(calls) // => 0
 * await memory.close()
 * ```
 */
export const IsDryRun = Context.Reference<boolean>("@varve/core/DryRun", {
  defaultValue: () => false
})

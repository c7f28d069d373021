import type { AnyTransformContext } from "./internal/hook.ts"
import { makeHook } from "./internal/hook.ts"
import { hooks } from "./internal/hooks.ts"
import type { PiMemory } from "./PiAgent.ts"

/**
 * pi's `transformContext` hook for a memory: before each request, the smallest view that is valid and fits.
 *
 * Never rejects and never writes to pi's messages. On overflow it gives the smallest valid view; where the
 * saved session can't be read, a view without it; where the memory is closed, the last view with what came
 * since, else the history as it came. The memory's `onEvent` hears of each. An aborted signal gives the history back at once.
 *
 * System messages with sections and tools (pi from 0.86 on) are counted whole. Before that, system prompt
 * and tools don't pass through the hook: use `attach`, or the memory's `overhead` option.
 *
 * @example
 * ```ts
 * import { createTransformContext } from "@varve/adapter-pi"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({})
 * const transformContext = createTransformContext(memory)
 * const sent = await transformContext([{ role: "user", content: "Hello", timestamp: 0 }])
 * console.log(sent.length) // => 1
 * ```
 */
export const createTransformContext = (memory: PiMemory): AnyTransformContext => {
  const hook = makeHook(memory)
  hooks.set(hook, memory)
  return hook
}

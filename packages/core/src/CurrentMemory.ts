import * as Context from "effect/Context"

/**
 * Which memory an effect runs for: an object that stands for it and holds nothing. What a strategy or a
 * summarizer keeps between calls and must not share between memories, it keeps under this object in a
 * `WeakMap`. Outside of a memory it is always the same one.
 *
 * @example
 * ```ts
 * import { CurrentMemory } from "@varve/core/CurrentMemory"
 * import * as Effect from "effect/Effect"
 *
 * const calls = new WeakMap<object, number>()
 * const counted = Effect.map(CurrentMemory, (memory) => {
 *   const n = (calls.get(memory) ?? 0) + 1
 *   calls.set(memory, n)
 *   return n
 * })
 * console.log(await Effect.runPromise(Effect.andThen(counted, counted))) // => 2
 * ```
 */
export const CurrentMemory = Context.Reference<object>("@varve/core/CurrentMemory", {
  defaultValue: () => ({})
})

const done = new WeakSet<object>()

/**
 * Freezes a value and all that it holds, and gives it back. Writing to it then throws in strict code,
 * so a test that hands out frozen messages sees whoever changes one.
 *
 * @example
 * ```ts
 * import { deepFreeze } from "@varve/testkit/Freeze"
 *
 * const history = deepFreeze([{ role: "user", content: [{ type: "text", text: "hi" }] }])
 * console.log(Object.isFrozen(history[0]?.content)) // => true
 * ```
 */
export const deepFreeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || done.has(value)) return value
  done.add(value)
  Object.freeze(value)
  for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key])
  return value
}

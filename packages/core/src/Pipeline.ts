import * as Effect from "effect/Effect"
import { isStrategy } from "./internal/checks.ts"
import type { Strategy } from "./Strategy.ts"
import { make } from "./Strategy.ts"
import { inOrder } from "./Policy.ts"
import type { ConfigIssue } from "./VarveError.ts"
import { ConfigError, show } from "./VarveError.ts"

/** A pipeline as a host writes it: strategies in order, nested lists welcome, falsy entries left out. */
export type PipelineInput = ReadonlyArray<
  Strategy | PipelineInput | false | null | undefined | 0 | ""
>

/**
 * The strategies of a pipeline in order. Throws `ConfigError` where an entry is not a strategy, or where two
 * have one name.
 *
 * @example
 * ```ts
 * import { hardLimit } from "@varve/core/HardLimit"
 * import * as Pipeline from "@varve/core/Pipeline"
 *
 * console.log(Pipeline.flatten([[hardLimit()], false]).length) // => 1
 * ```
 */
export const flatten = (input: PipelineInput, path = "pipeline"): ReadonlyArray<Strategy> => {
  const strategies: Array<Strategy> = []
  const issues: Array<ConfigIssue> = []
  const names = new Map<string, string>()
  const walk = (entries: PipelineInput, at: string): void => {
    if (!Array.isArray(entries)) {
      const preset = "a list of strategies; spread a preset: createMemory({ ...guiAgent() })"
      issues.push({ path: at, given: show(entries), allowed: preset })
      return
    }
    entries.forEach((entry: unknown, i) => {
      const here = `${at}[${i}]`
      if (!entry) return
      if (Array.isArray(entry)) return walk(entry as PipelineInput, here)
      if (!isStrategy(entry)) {
        issues.push({
          path: here,
          given: show(entry),
          allowed: "a strategy, a list of them, or a falsy value"
        })
        return
      }
      const other = names.get(entry.name)
      if (other !== undefined) {
        issues.push({
          path: here,
          given: `a second strategy named "${entry.name}" (the first is ${other})`,
          allowed: "one of each name"
        })
      }
      names.set(entry.name, here)
      strategies.push(entry)
    })
  }
  walk(input, path)
  if (issues.length > 0) throw new ConfigError(issues)
  return strategies
}

/** A pipeline as one strategy, to be used inside another. An empty one proposes nothing. */
export const pipeline = (name: string, ...input: PipelineInput): Strategy => {
  const strategies = flatten(input, name)
  return strategies.length === 0
    ? make(
        name,
        Effect.succeed(() => Effect.succeed([]))
      )
    : inOrder(name, ...strategies)
}

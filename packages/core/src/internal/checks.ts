import * as Effect from "effect/Effect"
import type { Strategy } from "../Strategy.ts"
import type { ConfigIssue } from "../VarveError.ts"
import { ConfigError, show } from "../VarveError.ts"

/** What the combinators ask of their arguments. Each throws `ConfigError` with the argument's path. */

export const isStrategy = (u: unknown): u is Strategy =>
  typeof u === "object" &&
  u !== null &&
  typeof (u as Strategy).name === "string" &&
  Effect.isEffect((u as Strategy).start)

const refuse = (path: string, given: unknown, allowed: string): never => {
  throw new ConfigError([{ path, given: show(given), allowed }])
}

export const isOneStrategy = (path: string, given: unknown): void => {
  if (!isStrategy(given)) refuse(path, given, "a strategy, as in hardLimit()")
}

export const areStrategies = (path: string, given: ReadonlyArray<unknown>): void => {
  if (given.length === 0) refuse(path, given, "at least one strategy")
  const issues = given.flatMap((one, i): ReadonlyArray<ConfigIssue> =>
    isStrategy(one)
      ? []
      : [{ path: `${path}[${i}]`, given: show(one), allowed: "a strategy, as in hardLimit()" }]
  )
  if (issues.length > 0) throw new ConfigError(issues)
}

export const isTrigger = (path: string, given: unknown): void => {
  if (typeof given !== "function")
    refuse(path, given, "a function from a view to true or false, as in Trigger.share(0.7)")
}

export const isFunction = (path: string, given: unknown): void => {
  if (typeof given !== "function") refuse(path, given, "a function")
}

export const isAbove0 = (path: string, given: unknown): void => {
  if (!(typeof given === "number" && given > 0)) refuse(path, given, "a number above 0")
}

export const isMark = (path: string, given: unknown): void => {
  if (!(typeof given === "number" && given >= 0)) refuse(path, given, "a number of at least 0")
}

export const isShare = (path: string, given: unknown): void => {
  if (!(typeof given === "number" && given > 0 && given <= 1))
    refuse(path, given, "a share above 0 and at most 1")
}

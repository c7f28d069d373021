import type { ConfigIssue } from "@varve/core/VarveError"
import { ConfigError, isVarveError } from "@varve/core/VarveError"

/** The issues of a `ConfigError`, of this copy of core or another; undefined for any other error. */
export const issuesOf = (error: unknown): ReadonlyArray<ConfigIssue> | undefined =>
  isVarveError(error) && error._tag === "ConfigError" ? error.issues : undefined

/** Runs a function of the host's; the paths of its `ConfigError` are put behind `path`, unless they begin there. */
export const within = <A>(path: string, make: () => A): A => {
  try {
    return make()
  } catch (error) {
    const issues = issuesOf(error)
    if (issues === undefined) throw error
    throw new ConfigError(issues.map((issue) => ({ ...issue, path: join(path, issue.path) })))
  }
}

const join = (path: string, rest: string): string =>
  rest === path || rest.startsWith(`${path}.`) || rest.startsWith(`${path}[`)
    ? rest
    : `${path}${rest.startsWith("[") ? "" : "."}${rest}`

/** Runs a function and gathers the issues of its `ConfigError`, each path once: agents share what they inherit. */
export const collect = (issues: Array<ConfigIssue>, run: () => void): void => {
  try {
    run()
  } catch (error) {
    const own = issuesOf(error)
    if (own === undefined) throw error
    for (const issue of own) {
      if (!issues.some(({ path, given }) => path === issue.path && given === issue.given))
        issues.push(issue)
    }
  }
}

import { ConfigError, show } from "@varve/core/VarveError"
import type { Parts } from "../AgentConfig.ts"
import { issuesOf } from "./within.ts"
import type { Plugin, Plugins } from "./plugins.ts"
import { exportNames } from "./plugins.ts"
import type { Use } from "./schemas.ts"

/** The agent's own summarizer, for the options of a plugin. */
export const SUMMARIZER = "#summarizer"

type Factory = (...args: ReadonlyArray<unknown>) => unknown

export const isUse = (u: unknown): u is Use =>
  typeof u === "object" && u !== null && Object.hasOwn(u, "use")

/** Calls `visit` with every plugin in a value, with its path. */
export const eachUse = (
  value: unknown,
  path: string,
  visit: (use: Use, path: string) => void
): void => {
  if (typeof value !== "object" || value === null) return
  if (isUse(value)) visit(value, path)
  for (const [at, inner] of entriesOf(value, path)) eachUse(inner, at, visit)
}

const entriesOf = (value: object, path: string): ReadonlyArray<readonly [string, unknown]> =>
  Array.isArray(value)
    ? value.map((inner, i) => [`${path}[${i}]`, inner] as const)
    : Object.entries(value).map(([key, inner]) => [`${path}.${key}`, inner] as const)

/** The function that a plugin names. Throws `ConfigError` where there is none. */
export const factoryOf = (
  plugins: Plugins,
  use: Use,
  path: string
): { readonly name: string; readonly make: Factory } => {
  const plugin = plugins.get(use.use)
  const { name, value } = chosen(plugin, use)
  if (typeof value === "function") return { name, make: value as Factory }
  const names = Object.keys(plugin)
    .filter((key) => typeof plugin[key] === "function")
    .join(", ")
  throw new ConfigError([
    {
      path: `${path}.export`,
      given: use.export === undefined ? "nothing" : show(use.export),
      allowed: names === "" ? "the name of a function" : `a function of ${use.use}, as ${names}`
    }
  ])
}

const chosen = (plugin: Plugin, { use, export: name = exportNames[use] }: Use) => {
  if (name !== undefined) return { name, value: at(plugin, name) }
  const functions = Object.keys(plugin).filter((key) => typeof plugin[key] === "function")
  const only = functions.includes("default") || functions.length !== 1 ? "default" : functions[0]!
  return { name: only, value: at(plugin, only) }
}

const at = (plugin: Plugin, name: string): unknown =>
  name
    .split(".")
    .reduce<unknown>(
      (value, key) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, key)
          ? (value as Plugin)[key]
          : undefined,
      plugin
    )

/** What a plugin makes of its options, anew each time. What is wrong in them has its full path. */
export const instantiate = (plugins: Plugins, use: Use, path: string, parts?: Parts): unknown => {
  const { make, name } = factoryOf(plugins, use, path)
  const given = filled(plugins, use.with, `${path}.with`, parts)
  const args = given === undefined ? [] : Array.isArray(given) ? given : [given]
  try {
    return make(...args)
  } catch (error) {
    const issues = issuesOf(error)
    if (issues === undefined) {
      const said = error instanceof Error ? error.message.split("\n")[0]! : String(error)
      const allowed = `what ${use.use} takes (it threw: ${said})`
      throw new ConfigError([{ path: `${path}.with`, given: show(use.with), allowed }])
    }
    throw new ConfigError(
      issues.map((issue) => ({ ...issue, path: inside(`${path}.with`, name, issue.path) }))
    )
  }
}

/** Plugins name their options as in `screenshots.keep`, after their export. */
const inside = (path: string, name: string, own: string): string => {
  const rest = own.slice(name.length)
  return own.startsWith(name) && (rest === "" || /^[.[]/.test(rest))
    ? path + rest
    : path + own.replace(/^[\w$]*/, "")
}

const filled = (plugins: Plugins, value: unknown, path: string, parts?: Parts): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (isUse(value)) {
    return value.use === SUMMARIZER ? parts?.summarizer : instantiate(plugins, value, path, parts)
  }
  if (Array.isArray(value))
    return value.map((inner, i) => filled(plugins, inner, `${path}[${i}]`, parts))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      filled(plugins, inner, `${path}.${key}`, parts)
    ])
  )
}

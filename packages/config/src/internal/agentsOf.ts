import { createMemory } from "@varve/core"
import { Budget } from "@varve/core/Budget"
import type { MemoryOptions } from "@varve/core/Memory"
import { decodeOptions } from "@varve/core/Options"
import type { ConfigIssue } from "@varve/core/VarveError"
import { ConfigError, show } from "@varve/core/VarveError"
import type { AgentConfig, Agents, SessionOptions } from "../AgentConfig.ts"
import type { DefineOptions } from "../defineAgents.ts"
import { build } from "./build.ts"
import type { Layer } from "./build.ts"
import { collect } from "./within.ts"

const functions = ["preset", "pipeline", "summarizer", "counter", "commit", "store"] as const
const fields = [...functions, "profile", "budget", "protectLast", "strategyTimeout", "subagents"]

/** Without `/` and `.`, so that no two agents ever have one key in a store. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/

const isObject = (u: unknown): boolean => typeof u === "object" && u !== null && !Array.isArray(u)

/** What the host changes later in its objects changes no agent. */
const copyOf = (config: AgentConfig): AgentConfig =>
  isObject(config) && isObject(config.budget)
    ? { ...config, budget: structuredClone(config.budget!) }
    : { ...config }

/** Agents from their policies; every one is built once, so that what is wrong shows now. */
export const agentsOf = <Name extends string>(
  given: Readonly<Record<string, AgentConfig>>,
  options: DefineOptions
): Agents<Name> => {
  const issues: Array<ConfigIssue> = []
  const wrong = (path: string, value: unknown, allowed: string): void =>
    void issues.push({ path, given: show(value), allowed })
  const found = new Map<string, ReadonlyArray<Layer>>()

  const readConfig = (path: string, config: AgentConfig, known: ReadonlyArray<string>): void => {
    if (!isObject(config)) return wrong(path, config, "an object with the agent's policy")
    for (const [key, value] of Object.entries(config)) {
      const at = `${path}.${key}`
      if (!known.includes(key)) wrong(at, value, `one of the fields ${known.join(", ")}`)
      else if ((functions as ReadonlyArray<string>).includes(key) && value !== undefined) {
        if (typeof value !== "function") wrong(at, value, `a function that gives the ${key}`)
      }
    }
    const { protectLast = 0, strategyTimeout = 1 } = config
    if (!(Number.isInteger(protectLast) && protectLast >= 0))
      wrong(`${path}.protectLast`, protectLast, "a whole number of at least 0")
    if (!(typeof strategyTimeout === "number" && strategyTimeout > 0))
      wrong(`${path}.strategyTimeout`, strategyTimeout, "a number of ms above 0")
    collect(issues, () => void decodeOptions(Budget, config.budget, `${path}.budget`))
  }

  const readAgents = (
    path: string,
    list: Readonly<Record<string, AgentConfig>>,
    name: string,
    above: ReadonlyArray<Layer>
  ) => {
    if (!isObject(list)) return wrong(path, list, "an object of agents by name")
    for (const [key, config] of Object.entries(list)) {
      const at = `${path}.${key}`
      if (!NAME.test(key))
        wrong(at, key, "a name of letters, digits, _ and - that begins with a letter")
      readConfig(at, config, fields)
      if (!isObject(config)) continue
      const layers = [...above, { path: at, config: copyOf(config) }]
      found.set(name + key, layers)
      const { subagents } = config
      if (subagents !== undefined)
        readAgents(`${at}.subagents`, subagents, `${name}${key}/`, layers)
    }
  }

  if (!isObject(options)) {
    throw new ConfigError([
      { path: "options", given: show(options), allowed: "an object with defaults or profiles" }
    ])
  }
  for (const [key, value] of Object.entries(options)) {
    if (key !== "defaults" && key !== "profiles")
      wrong(key, value, "one of the options defaults, profiles")
  }
  const { defaults, profiles } = options
  if (profiles !== undefined && typeof profiles !== "function")
    wrong("profiles", profiles, "a function, as profile of @varve/profiles")
  if (defaults !== undefined)
    readConfig(
      "defaults",
      defaults,
      fields.filter((field) => field !== "subagents")
    )
  readAgents(
    "agents",
    given,
    "",
    defaults === undefined ? [] : [{ path: "defaults", config: copyOf(defaults) }]
  )
  if (issues.length > 0) throw new ConfigError(issues)

  for (const layers of found.values()) collect(issues, () => void build(layers, profiles))
  if (issues.length > 0) throw new ConfigError(issues)

  const optionsOf = (name: string, session: SessionOptions): MemoryOptions => {
    const layers = found.get(name)
    if (layers === undefined) {
      throw new ConfigError([
        { path: "agents", given: show(name), allowed: `one of ${[...found.keys()].join(", ")}` }
      ])
    }
    if (typeof session?.session !== "string" || session.session.trim() === "") {
      throw new ConfigError([
        { path: "session", given: show(session?.session), allowed: "the name of a session" }
      ])
    }
    for (const [key, value] of Object.entries(session)) {
      if (!["session", "overhead", "onEvent", "redact"].includes(key)) {
        const allowed = "one of session, overhead, onEvent, redact; the rest is the agent's"
        throw new ConfigError([{ path: key, given: show(value), allowed }])
      }
    }
    return { ...build(layers, profiles), ...session, agent: name.replaceAll("/", ".") }
  }
  return {
    names: [...found.keys()] as ReadonlyArray<string> as ReadonlyArray<Name>,
    memory: (name, session) => createMemory(optionsOf(name, session)),
    options: optionsOf
  }
}

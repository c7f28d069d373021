import { Commit } from "@varve/core"
import type { CommitRule } from "@varve/core/Commit"
import { decodeOptions } from "@varve/core/Options"
import type { Profile } from "@varve/core/Profile"
import { Profile as ProfileSchema } from "@varve/core/Profile"
import type { ConfigIssue } from "@varve/core/VarveError"
import { ConfigError, show } from "@varve/core/VarveError"
import type { AgentConfig, Agents, Preset } from "./AgentConfig.ts"
import { agentsOf } from "./internal/agentsOf.ts"
import { eachUse, factoryOf, instantiate, isUse, SUMMARIZER } from "./internal/instantiate.ts"
import { collect } from "./internal/within.ts"
import { Plugins } from "./internal/plugins.ts"
import type { CommitJson, OpenAgent } from "./internal/schemas.ts"
import { commitRules, OpenAgents, Use } from "./internal/schemas.ts"

/** Where plugins are looked for. */
export interface LoadOptions {
  /** The URL of a module of the host's (`import.meta.url`), or the path of its folder. */
  readonly from: string | URL
}

const PROFILES = "@varve/profiles"

/** What stands in JSON at a place that says what it is. */
interface Policy extends Omit<OpenAgent, "profile" | "commit"> {
  readonly profile?: string | Use | Profile
  readonly commit?: CommitJson | Use
}

/**
 * Agents from JSON (`AgentsJson`), the same as `defineAgents` makes. Plugins are found by name from the host's
 * folder, as its own `import` would find them, and imported once each. Nothing is installed.
 *
 * Rejects with `ConfigError`, which lists all that is wrong: a package that isn't there with the command that
 * installs it, a wrong option with its path, as in `agents.browser.pipeline[0].with.keep`.
 *
 * @example
 * ```ts
 * import { load } from "@varve/config"
 *
 * const json = {
 *   agents: {
 *     browser: {
 *       pipeline: [
 *         { use: "@varve/strategy-screenshot-prune", with: { keep: 3 } },
 *         { use: "@varve/core", export: "hardLimit" }
 *       ]
 *     }
 *   }
 * }
 * const agents = await load(json, { from: import.meta.url })
 * const memory = agents.memory("browser", { session: "task-42" })
 * const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(report.strategies[0]?.name, report.unguarded) // => screenshots false
 * ```
 */
export const load = async (json: unknown, options: LoadOptions): Promise<Agents> => {
  const plugins = pluginsFrom(options?.from)
  const own = copyOf(json)
  const issues: Array<ConfigIssue> = []
  collect(issues, () => void decodeOptions(OpenAgents, own, ""))
  // The schema's root has no name of its own.
  if (issues.length > 0)
    throw new ConfigError(issues.map((i) => ({ ...i, path: i.path.replace(/^\./, "") || "json" })))
  const { agents, defaults } = own as {
    readonly agents: Readonly<Record<string, Policy>>
    readonly defaults?: Policy
  }
  const policies = [
    ...(defaults === undefined ? [] : [["defaults", defaults] as const]),
    ...listed(agents, "agents")
  ]
  for (const [path, policy] of policies) collect(issues, () => checkShapes(policy, path))
  if (issues.length > 0) throw new ConfigError(issues)

  const wanted = new Map<string, string>()
  const uses: Array<readonly [Use, string]> = []
  for (const [path, policy] of policies) {
    if (typeof policy.profile === "string" && !wanted.has(PROFILES))
      wanted.set(PROFILES, `${path}.profile`)
    for (const [key, value] of Object.entries(policy)) {
      if (key === "subagents") continue
      eachUse(value, `${path}.${key}`, (use, at) => {
        if (use.use === SUMMARIZER) return
        uses.push([use, at])
        if (!wanted.has(use.use)) wanted.set(use.use, `${at}.use`)
      })
    }
  }
  for (const issue of await Promise.all([...wanted].map(([use, at]) => plugins.import(use, at))))
    if (issue !== undefined) issues.push(issue)
  if (issues.length > 0) throw new ConfigError(issues)
  for (const [use, at] of uses) collect(issues, () => void factoryOf(plugins, use, at))
  if (issues.length > 0) throw new ConfigError(issues)

  const profiles = (name: string): Profile =>
    instantiate(plugins, { use: PROFILES, with: [name] }, PROFILES) as Profile
  return agentsOf(configs(plugins, agents, "agents"), {
    ...(defaults === undefined ? {} : { defaults: configOf(plugins, defaults, "defaults") }),
    ...(wanted.has(PROFILES) ? { profiles } : {})
  })
}

const pluginsFrom = (from: string | URL): Plugins => {
  try {
    return new Plugins(from)
  } catch {
    const allowed = "the URL of a module, as import.meta.url, or the path of a folder"
    throw new ConfigError([{ path: "from", given: show(from), allowed }])
  }
}

/** A copy that the host can't change later, and has no cycles. */
const copyOf = (json: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(json))
  } catch {
    throw new ConfigError([{ path: "json", given: show(json), allowed: "what JSON.parse gives" }])
  }
}

const listed = (
  agents: Readonly<Record<string, Policy>>,
  path: string
): ReadonlyArray<readonly [string, Policy]> =>
  Object.entries(agents).flatMap(([name, policy]) => [
    [`${path}.${name}`, policy] as const,
    ...listed(
      (policy.subagents ?? {}) as Readonly<Record<string, Policy>>,
      `${path}.${name}.subagents`
    )
  ])

/** Looks at what may be one of several shapes, as what it says that it is, and at plugins inside of options. */
const checkShapes = (policy: Policy, path: string): void => {
  const issues: Array<ConfigIssue> = []
  const { profile, commit } = policy
  if (profile !== undefined && typeof profile !== "string") {
    const schema = isUse(profile) ? Use : ProfileSchema
    collect(issues, () => void decodeOptions(schema, profile, `${path}.profile`))
  }
  if (commit !== undefined) {
    const at = `${path}.commit`
    const rule = (commit as Partial<CommitJson> | null)?.rule
    if (isUse(commit)) collect(issues, () => void decodeOptions(Use, commit, at))
    else if (rule === undefined || !Object.hasOwn(commitRules, rule)) {
      const allowed = `one of the rules ${Object.keys(commitRules).join(", ")}`
      issues.push({ path: `${at}.rule`, given: show(rule), allowed })
    } else collect(issues, () => void decodeOptions(commitRules[rule], commit, at))
  }
  for (const [key, value] of Object.entries(policy)) {
    if (key === "subagents" || key === "profile" || key === "commit") continue
    eachUse(value, `${path}.${key}`, (use, at) => {
      collect(issues, () => void decodeOptions(Use, use, at))
      if (use.use === SUMMARIZER && !/\.with[.[]/.test(at)) {
        issues.push({
          path: `${at}.use`,
          given: show(use.use),
          allowed: "a plugin; this stands in options only"
        })
      }
    })
  }
  if (issues.length > 0) throw new ConfigError(issues)
}

const configs = (
  plugins: Plugins,
  agents: Readonly<Record<string, Policy>>,
  path: string
): Readonly<Record<string, AgentConfig>> =>
  Object.fromEntries(
    Object.entries(agents).map(([name, policy]) => [
      name,
      configOf(plugins, policy, `${path}.${name}`)
    ])
  )

/** A policy in JSON as one in TypeScript. */
const configOf = (plugins: Plugins, policy: Policy, path: string): AgentConfig => {
  const { preset, pipeline, summarizer, profile, counter, commit, store, subagents, ...data } =
    policy
  // What it gives is looked at where it is used.
  const made = (use: Use | undefined, key: string) =>
    use && ((): never => instantiate(plugins, use, `${path}.${key}`) as never)
  const config: { readonly [K in keyof AgentConfig]: AgentConfig[K] | undefined } = {
    ...data,
    preset: preset && ((parts) => instantiate(plugins, preset, `${path}.preset`, parts) as Preset),
    pipeline:
      pipeline &&
      ((parts) =>
        pipeline.map(
          (use, i) => instantiate(plugins, use, `${path}.pipeline[${i}]`, parts) as never
        )),
    summarizer: made(summarizer, "summarizer"),
    profile: isUse(profile) ? made(profile, "profile")!() : profile,
    counter: made(counter, "counter"),
    commit: isUse(commit) ? made(commit, "commit") : commit && (() => commitOf(commit)),
    store: made(store, "store"),
    subagents:
      subagents &&
      configs(plugins, subagents as Readonly<Record<string, Policy>>, `${path}.subagents`)
  }
  return Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== undefined)
  ) as AgentConfig
}

const commitOf = (json: CommitJson): CommitRule => {
  switch (json.rule) {
    case "immediate":
      return Commit.immediate
    case "batched":
      return Commit.batched({ size: json.size })
    case "whenItPays":
      return Commit.whenItPays(withoutRule(json))
  }
}

/** The options of a rule, without the name of the rule. */
const withoutRule = (json: CommitJson): object =>
  Object.fromEntries(Object.entries(json).filter(([key]) => key !== "rule"))

import type { Profile } from "@varve/core/Profile"
import type { AgentConfig, AgentNames, Agents } from "./AgentConfig.ts"
import { agentsOf } from "./internal/agentsOf.ts"

/** What all agents of one definition share. */
export interface DefineOptions {
  /** The policy that every agent begins with. */
  readonly defaults?: Omit<AgentConfig, "subagents">
  /** Looks a profile up by its name: `profile` of `@varve/profiles`. Needed where a profile is a name. */
  readonly profiles?: (name: string) => Profile
}

/**
 * Defines agents, each with its own pipeline, profile, budget, summarizer, counter, commit rule and store.
 *
 * An agent begins with `defaults`, a sub-agent with the agent that it belongs to. A field replaces what was
 * inherited; `budget` is laid over it field by field. A preset goes over what was inherited, and under the
 * fields that stand beside it.
 *
 * Synchronous. Throws `ConfigError` with every wrong option and its path, as in `agents.browser.budget.tokens`.
 *
 * @example
 * ```ts
 * import { defineAgents } from "@varve/config"
 * import { hardLimit, stepMemory } from "@varve/core"
 *
 * const agents = defineAgents(
 *   {
 *     browser: { pipeline: () => [stepMemory(), hardLimit()], subagents: { reader: {} } },
 *     coder: { budget: { tokens: 80_000 } }
 *   },
 *   { defaults: { budget: { tokens: 50_000 } } }
 * )
 * console.log(agents.names.join(", ")) // => browser, browser/reader, coder
 * const memory = agents.memory("browser/reader", { session: "task-42" })
 * const { messages } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(messages.length) // => 1
 * await memory.close()
 * ```
 */
export const defineAgents = <const A extends Readonly<Record<string, AgentConfig>>>(
  agents: A,
  options: DefineOptions = {}
): Agents<AgentNames<A>> => agentsOf(agents, options)

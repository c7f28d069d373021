import type { PlainMemory } from "@varve/core"
import type { Budget } from "@varve/core/Budget"
import type { CommitRule } from "@varve/core/Commit"
import type { Counter, CounterMaker } from "@varve/core/Counter"
import type { MemoryOptions } from "@varve/core/Memory"
import type { PipelineInput } from "@varve/core/Pipeline"
import type { Profile } from "@varve/core/Profile"
import type { Store } from "@varve/core/Store"
import type { AnySummarizer } from "@varve/core/Summarizer"

/** What a pipeline or a preset is given to build with, made anew for each memory. */
export interface Parts {
  /** The agent's own summarizer, else that of the defaults. */
  readonly summarizer: AnySummarizer | undefined
}

/** What a preset gives: options of `createMemory`. */
export type Preset = Pick<
  MemoryOptions,
  "pipeline" | "budget" | "profile" | "counter" | "commit" | "protectLast" | "strategyTimeout"
>

/**
 * The policy of one agent. What may hold state is a function, called once for each memory, so that two memories
 * share nothing; it is called once more when the agents are defined, so that a wrong option shows there.
 */
export interface AgentConfig {
  /** Options from a preset, as in `({ summarizer }) => guiAgent({ summarizer })`; the other fields go over them. */
  readonly preset?: (parts: Parts) => Preset
  /** The strategies in order; default: the guard alone. */
  readonly pipeline?: (parts: Parts) => PipelineInput
  /** Who summarises; a pipeline or a preset gets it as `summarizer`. */
  readonly summarizer?: () => AnySummarizer
  /** Facts about the model, or its name, which `profiles` then looks up. */
  readonly profile?: string | Profile
  /** Laid over what the agent inherits, field by field. */
  readonly budget?: Budget
  readonly counter?: () => Counter | CounterMaker
  readonly commit?: () => CommitRule
  /** Where sessions are saved. A function that gives the same store each time makes memories share it. */
  readonly store?: () => Store
  /** How many groups at the end are softly protected. */
  readonly protectLast?: number
  /** Longest that a request waits for one strategy, ms. */
  readonly strategyTimeout?: number
  /** Agents that this one starts: each begins with its policy and changes what it names. */
  readonly subagents?: Readonly<Record<string, AgentConfig>>
}

/** The names of agents: `browser`, and `browser/reader` for its sub-agent. */
export type AgentNames<A> = {
  [K in keyof A & string]:
    | K
    | (A[K] extends { readonly subagents: infer S } ? `${K}/${AgentNames<S>}` : never)
}[keyof A & string]

/** What belongs to one session of one agent. */
export interface SessionOptions extends Pick<MemoryOptions, "overhead" | "onEvent" | "redact"> {
  /** Name of the session, for the store. */
  readonly session: string
}

/** Agents, each with its own policy. Methods, so that agents of known names pass where any are taken. */
export interface Agents<Name extends string = string> {
  /** All names, each sub-agent behind the agent that it belongs to. */
  readonly names: ReadonlyArray<Name>
  /**
   * A new memory of an agent. Throws `ConfigError` where there is no such agent or an option is wrong.
   * A sub-agent's sessions are its own: the store keeps `browser/reader` as `browser.reader`.
   */
  memory(name: Name, options: SessionOptions): PlainMemory
  /** The options that `memory` gives to `createMemory`, for hosts that use `Memory.make`. */
  options(name: Name, options: SessionOptions): MemoryOptions
}

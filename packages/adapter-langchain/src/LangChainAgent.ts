import type { PlainMemory } from "@varve/core/createMemory"

/** What is needed of a memory; `createMemory` of `@varve/core` makes one. */
export type LangChainMemory = Pick<
  PlainMemory,
  "prepare" | "recover" | "transformContext" | "steps" | "usage"
>

/** What a run knows of itself; LangChain's `Runtime` is one. `thread_id` names the conversation. */
export interface AgentRuntime {
  readonly configurable?: { readonly thread_id?: string; readonly [key: string]: unknown }
  readonly context?: unknown
}

/** One memory for the agent, or for each conversation its own; nothing where one is to go without. */
export type MemoryFor =
  | LangChainMemory
  | ((runtime: AgentRuntime) => LangChainMemory | undefined | Promise<LangChainMemory | undefined>)

/** What is needed of LangChain's `ModelRequest`. */
export interface ModelCall {
  readonly messages: ReadonlyArray<object>
  readonly systemMessage?: unknown
  readonly systemPrompt?: unknown
  readonly tools?: unknown
  readonly modelSettings?: unknown
  readonly state?: unknown
  readonly runtime?: AgentRuntime & { readonly signal?: AbortSignal | undefined }
}

/** A middleware for `createAgent`, as `createMiddleware` gives one; it has the one hook. */
export interface MemoryMiddleware {
  name: string
  wrapModelCall: <R extends ModelCall, A>(
    request: R,
    handler: (request: R) => A | Promise<A>
  ) => Promise<A>
}

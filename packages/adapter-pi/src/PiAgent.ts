import type { PlainMemory } from "@varve/core/createMemory"

/** pi's hook: gets the messages of the loop, gives those of the next request. */
export type TransformContext<M> = (messages: Array<M>, signal?: AbortSignal) => Promise<Array<M>>

/** pi's hook for what goes to the provider: may give another payload. */
// A method's parameters may be of any model type of pi's.
export type OnPayload = { hook(payload: unknown, model: never): unknown }["hook"]

/** What is needed of an event of pi; what else it carries is read by its type. */
export interface PiEvent {
  readonly type: string
}

/**
 * What is needed of a pi agent. `Agent` of `@mariozechner/pi-agent-core` and of
 * `@earendil-works/pi-agent-core` both are one; neither is imported. `M` is the agent's message.
 */
export interface PiAgent<M> {
  transformContext?: TransformContext<M> | undefined
  onPayload?: OnPayload | undefined
  readonly state: { readonly systemPrompt?: unknown; readonly tools?: unknown }
  subscribe(listener: (event: PiEvent) => void): () => void
}

/** What is needed of a memory; `createMemory` of `@varve/core` makes one. */
export type PiMemory = Pick<
  PlainMemory,
  "prepare" | "recover" | "transformContext" | "steps" | "usage"
>

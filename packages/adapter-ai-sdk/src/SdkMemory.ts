import type { PlainMemory } from "@varve/core/createMemory"

/** What is needed of a memory; `createMemory` of `@varve/core` makes one. */
export type SdkMemory = Pick<
  PlainMemory,
  "prepare" | "recover" | "transformContext" | "steps" | "usage"
>

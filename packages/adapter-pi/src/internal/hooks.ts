import type { PiMemory } from "../PiAgent.ts"

/** The hooks that were made here, each with its memory. */
export const hooks = new WeakMap<object, PiMemory>()

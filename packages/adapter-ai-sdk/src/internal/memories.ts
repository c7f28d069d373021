import { decodeOptions } from "@varve/core/Options"
import { ConfigError, show } from "@varve/core/VarveError"
import { AdapterOptions } from "../AdapterOptions.ts"
import type { SdkMemory } from "../SdkMemory.ts"
import type { RecordCalls } from "./recorder.ts"
import { makeRecorder } from "./recorder.ts"
import { usageOf } from "./usage.ts"
import type { Views } from "./views.ts"
import { makeViews } from "./views.ts"

/** A memory at work in the AI SDK. */
interface Joined extends Views {
  /** The function that joined it. */
  readonly by: string
  /** Records calls, whichever function joined it; `record` does, as long as the memory is open. */
  readonly take: RecordCalls
  readonly record: RecordCalls
  /** Takes the usage of an answer; never throws. */
  readonly usage: (answer: unknown) => void
}

const joined = new WeakMap<object, Joined>()

const refuse = (path: string, given: string, allowed: string): never => {
  throw new ConfigError([{ path, given, allowed }])
}

const usageFor = (memory: SdkMemory) => (answer: unknown) => {
  try {
    const usage = usageOf(answer)
    if (usage !== undefined) memory.usage(usage)
  } catch {
    // An answer of another shape is one without usage.
  }
}

/**
 * Checks memory and options, and takes the memory in for one of the two ways. It may be taken in by the same
 * way again, as where each turn makes its own `prepareStep`; what was recorded stays known. Throws
 * `ConfigError`.
 */
export const join = (memory: SdkMemory, given: unknown, by: string): Joined => {
  const options = decodeOptions(AdapterOptions, given ?? {}, by)
  if (typeof memory?.prepare !== "function" || typeof memory.transformContext !== "function")
    refuse("memory", show(memory), "a memory, as createMemory makes it")
  const before = joined.get(memory)
  // The view of one would be the history of the other.
  if (before !== undefined && before.by !== by)
    refuse("memory", `one that ${before.by} was given`, "one of the two ways for each memory")
  const views = makeViews(memory, options)
  const take = before?.take ?? makeRecorder(memory, options.goalArgument)
  const record: RecordCalls = (messages) => {
    if (!views.isClosed()) take(messages)
  }
  const now = { ...views, by, take, record, usage: usageFor(memory) }
  joined.set(memory, now)
  return now
}

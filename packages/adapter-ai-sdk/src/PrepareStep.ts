import type { AiSdkMessage } from "@varve/codecs/AiSdk"
import type { AdapterOptions } from "./AdapterOptions.ts"
import { join } from "./internal/memories.ts"
import { startsWith } from "./internal/same.ts"
import type { Beside, Viewed } from "./internal/views.ts"
import type { SdkMemory } from "./SdkMemory.ts"

/** What is needed of what the AI SDK gives a `prepareStep`. */
export interface StepInput<M> {
  readonly messages: Array<M>
  /** The steps of this run so far. */
  readonly steps?: ReadonlyArray<unknown>
  /** The system text of this step; version 7 gives it. */
  readonly instructions?: unknown
}

/** A `prepareStep` of `generateText`, `streamText` and `ToolLoopAgent`. */
export type PrepareStep = <M>(step: StepInput<M>) => Promise<{ messages: Array<M> }>

/** The last view of a run. */
interface Last extends Viewed {
  /** How many steps the run had then. */
  readonly steps: number
}

/**
 * The history behind what the SDK gives. Version 7 carries our view on to the next step and puts behind it
 * what came since; version 6 gives the history whole.
 */
const historyOf = (
  messages: ReadonlyArray<AiSdkMessage>,
  last: Viewed | undefined
): ReadonlyArray<AiSdkMessage> =>
  last !== undefined && startsWith(messages, last.to)
    ? [...last.from, ...messages.slice(last.to.length)]
    : messages

/** The system text: a text, a system message, or several. */
const systemOf = (instructions: unknown): Beside["system"] => {
  if (typeof instructions === "string") return instructions
  if (typeof instructions !== "object" || instructions === null) return undefined
  return [instructions].flat().map((m: object) => ({ ...m, text: (m as AiSdkMessage).content }))
}

/**
 * The AI SDK's `prepareStep` for a memory: before each step, the smallest view that is valid and fits.
 *
 * Calls in the messages are recorded as steps, with their outcomes. The usage of a step is taken when the
 * next one begins. Never rejects and never writes to what it is given. On overflow it gives the smallest valid
 * view; where the saved session can't be read, a view without it; where the memory is closed or doesn't answer
 * in time, the last view with what came since, else the history as it came. An overflow error of the
 * provider ends the run, since it doesn't pass through here: `createMiddleware` answers it.
 *
 * Throws `ConfigError` where memory or options aren't ones, and where `createMiddleware` has the memory.
 *
 * @example
 * ```ts
 * import { createPrepareStep } from "@varve/adapter-ai-sdk"
 * import { createMemory } from "@varve/core"
 *
 * const memory = createMemory({})
 * const prepareStep = createPrepareStep(memory)
 * const { messages } = await prepareStep({ messages: [{ role: "user", content: "Hello" }], steps: [] })
 * console.log(messages.length) // => 1
 * await memory.close()
 * ```
 */
export const createPrepareStep = (memory: SdkMemory, options?: AdapterOptions): PrepareStep => {
  const { record, usage, view } = join(memory, options, "createPrepareStep")
  // The SDK has one list of steps for each run.
  const runs = new WeakMap<ReadonlyArray<unknown>, Last>()
  let newest: Last | undefined

  return async <M>({ instructions, messages, steps = [] }: StepInput<M>) => {
    const given = messages as unknown as ReadonlyArray<AiSdkMessage>
    try {
      const last = runs.get(steps)
      const history = historyOf(given, last)
      record(history)
      if (last?.prepared === true && last === newest && steps.length === last.steps + 1) {
        usage(steps.at(-1))
      }
      const viewed = await view(history, { system: systemOf(instructions) })
      newest = { ...viewed, steps: steps.length }
      runs.set(steps, newest)
      return { messages: [...viewed.to] as unknown as Array<M> }
    } catch {
      // Something that stands for a memory, or for messages, and isn't one.
      return { messages }
    }
  }
}

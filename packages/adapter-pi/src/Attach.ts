import { decodeOptions } from "@varve/core/Options"
import { ConfigError, show } from "@varve/core/VarveError"
import * as Schema from "effect/Schema"
import { makeHook } from "./internal/hook.ts"
import { hooks } from "./internal/hooks.ts"
import { stateOverhead } from "./internal/overhead.ts"
import { markedPayload } from "./internal/payloadMarks.ts"
import { makeRecorder } from "./internal/recorder.ts"
import type { OnPayload, PiAgent, PiMemory, TransformContext } from "./PiAgent.ts"

const Options = Schema.Struct({
  /**
   * The argument of your tools that says what a call is for. Default: none; a step's goal is then the call
   * itself, as in `click(label: "Save")`.
   */
  goalArgument: Schema.optional(Schema.NonEmptyString),
  /**
   * True to set Anthropic's cache marks where the memory says that they do most good, through pi's `onPayload`;
   * default false: pi's own stay. Give `Commit.whenItPays({ marks: true })` with it.
   */
  marks: Schema.optional(Schema.Boolean)
})

/** What `attach` takes. */
export type AttachOptions = typeof Options.Type

/** Attached agents and memories. */
const attached = new WeakSet<object>()

const refuse = (path: string, given: string, allowed: string): never => {
  throw new ConfigError([{ path, given, allowed }])
}

const check = <M>(agent: PiAgent<M>, memory: PiMemory): void => {
  if (typeof agent?.subscribe !== "function")
    refuse("agent", show(agent), "a pi Agent: it has subscribe and transformContext")
  if (typeof memory?.prepare !== "function" || typeof memory.transformContext !== "function")
    refuse("memory", show(memory), "a memory, as createMemory makes it")
  if (attached.has(memory))
    refuse("memory", "one that is attached", "one memory for each agent; detach it first")
  const hook = agent.transformContext
  const other = hook !== undefined && hooks.has(hook) && hooks.get(hook) !== memory
  if (attached.has(agent) || other)
    refuse("agent", "one that has a memory", "one memory for each agent; detach that one first")
}

/**
 * Puts a memory into a pi agent: sets the hook, records each tool call as a step with its outcome, and
 * takes the usage that the provider reports. Gives a function that takes it out again; it may be called
 * twice, and leaves the memory open.
 *
 * From the agent's next run on, what the model gets passes through the memory, before every request. System
 * prompt and tools count against the budget. A `transformContext` of your own still runs, first: the
 * memory has the last word, so that what is sent fits. An error of yours reaches pi as it did before.
 *
 * Throws `ConfigError` where agent, memory or options aren't ones, and where the agent or the memory is
 * attached already. Nothing is thrown later.
 *
 * @example
 * ```ts
 * import { attach } from "@varve/adapter-pi"
 * import { createMemory, hardLimit, stepMemory } from "@varve/core"
 * import { Agent } from "@mariozechner/pi-agent-core"
 *
 * const agent = new Agent()
 * const memory = createMemory({ pipeline: [stepMemory(), hardLimit()] })
 * const detach = attach(agent, memory)
 * console.log(typeof agent.transformContext) // => function
 * detach()
 * console.log(agent.transformContext) // => undefined
 * ```
 */
export const attach = <M>(
  agent: PiAgent<M>,
  memory: PiMemory,
  options?: AttachOptions
): (() => void) => {
  const { goalArgument, marks = false } = decodeOptions(Options, options, "attach")
  check(agent, memory)
  const before = agent.transformContext
  const own = before === memory.transformContext || (before !== undefined && hooks.has(before))
  const recorder = makeRecorder(memory, goalArgument)
  // pi takes a copy of prompt and tools when a run begins.
  const read = stateOverhead(agent)
  let beside = read()
  let request: { readonly view: ReadonlyArray<unknown>; readonly marks: ReadonlyArray<number> } = {
    view: [],
    marks: []
  }
  const prepare = makeHook(memory, {
    ...recorder,
    beside: () => beside,
    sent: (view, marks) => {
      request = { view, marks }
      recorder.sent()
    }
  })
  let on = true

  const hook: TransformContext<M> = async (messages, signal) => {
    // A run that began before keeps the hook to its end.
    if (!on) return before === undefined ? messages : before(messages, signal)
    const given = before === undefined || own ? messages : await before(messages, signal)
    return prepare(given, signal)
  }
  hooks.set(hook, memory)
  const { onPayload } = agent
  const marked: OnPayload = async (payload, model) => {
    const given = (await onPayload?.(payload, model)) ?? payload
    return (on && markedPayload(given, request.view, request.marks)) || given
  }
  const unsubscribe = agent.subscribe((event) => {
    if (event?.type === "agent_start") beside = read()
    recorder.take(event)
  })
  agent.transformContext = hook
  if (marks) agent.onPayload = marked
  attached.add(memory).add(agent)

  return () => {
    if (!on) return
    on = false
    unsubscribe()
    recorder.end()
    attached.delete(memory)
    attached.delete(agent)
    // Whoever has set another hook since then keeps it.
    if (agent.transformContext === hook) agent.transformContext = before
    if (agent.onPayload === marked) agent.onPayload = onPayload
  }
}

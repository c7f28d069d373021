import { brief, cut, goalOf } from "@varve/core/StepGoal"
import type { LangChainMemory, ModelCall } from "../LangChainAgent.ts"

const NOTE = 200

type Loose = Readonly<Record<string, unknown>>

const list = (u: unknown): ReadonlyArray<Loose> =>
  Array.isArray(u)
    ? (u as ReadonlyArray<unknown>).filter((x): x is Loose => typeof x === "object" && x !== null)
    : []

/** The text of a failed call's result, shortened. */
const noteOf = ({ content }: Loose): string | undefined => {
  const texts = list(content).flatMap(({ text }) => (typeof text === "string" ? [text] : []))
  const text = (typeof content === "string" ? content : texts.join(" ")).trim()
  return text === "" ? undefined : cut(text, NOTE)
}

const count = (u: unknown): number => (typeof u === "number" && u > 0 ? u : 0)

/** Turns what a model call shows into steps and usage of a memory. */
export interface Recorder {
  /** Takes the history of the graph: calls in it that were not recorded yet are steps. */
  readonly history: (request: ModelCall) => void
  /** Takes what a model answered to a request that the memory prepared. */
  readonly answer: (answer: unknown) => void
}

/**
 * Steps are read from the history, not from the tools as they run: with a middleware that wraps these, an
 * error of a tool would end the run, where LangChain gives it to the model otherwise.
 */
export const makeRecorder = (
  memory: LangChainMemory,
  goalArgument: string | undefined
): Recorder => {
  /** The answers whose calls were recorded, by object and by id: a checkpoint gives other objects. */
  const objects = new WeakSet<object>()
  const ids = new Set<string>()

  const record = (answer: Loose, results: ReadonlyArray<Loose>): void => {
    for (const { args, id: callId, name } of list(answer.tool_calls)) {
      if (typeof callId !== "string") continue
      // Some models use the same call ids again in each answer: the answer's own id tells them apart.
      const id = typeof answer.id === "string" ? `${callId}@${answer.id}` : callId
      const tool = String(name)
      const kept = brief(args)
      memory.steps.begin({
        id,
        callId,
        tool,
        goal: goalOf(tool, kept, goalArgument),
        ...(kept === undefined ? {} : { args: kept })
      })
      const result = results.find(({ tool_call_id }) => tool_call_id === callId)
      const failed = result === undefined || result.status === "error"
      const note = result === undefined ? "no outcome was recorded" : noteOf(result)
      memory.steps.finish({
        id,
        callId,
        outcome: failed ? "failed" : "success",
        ...(failed && note !== undefined ? { note } : {})
      })
    }
  }

  const isNew = (answer: Loose): boolean => {
    const { id } = answer
    if (objects.has(answer) || (typeof id === "string" && ids.has(id))) return false
    objects.add(answer)
    if (typeof id === "string") ids.add(id)
    return true
  }

  const history = ({ messages, state }: ModelCall): void => {
    const { messages: kept } = (state ?? {}) as Loose
    const all = list(Array.isArray(kept) ? kept : messages)
    for (const [i, answer] of all.entries()) {
      if (answer.type !== "ai" || !isNew(answer)) continue
      let end = i + 1
      while (all[end]?.type === "tool") end++
      record(answer, all.slice(i + 1, end))
    }
  }

  const answer = (given: unknown): void => {
    const { messages } = (given ?? {}) as Loose
    const message = list([given, ...list(messages)]).find(
      ({ usage_metadata: u }) => u !== undefined
    )
    const {
      input_token_details: details,
      input_tokens,
      output_tokens
    } = (message?.usage_metadata ?? {}) as Loose
    if (!(count(input_tokens) > 0)) return
    const { cache_creation, cache_read } = (details ?? {}) as Loose
    const [cacheRead, cacheWrite] = [count(cache_read), count(cache_creation)]
    const input = count(input_tokens)
    // LangChain's figure is the sum; some integrations leave out what was cached.
    const rest = input - cacheRead - cacheWrite
    memory.usage({
      input: rest < 0 ? input : rest,
      cacheRead,
      cacheWrite,
      output: count(output_tokens)
    })
  }

  // Odd data loses its step; the run goes on.
  const quietly =
    <A>(act: (given: A) => void) =>
    (given: A): void => {
      try {
        act(given)
      } catch {}
    }

  return { history: quietly(history), answer: quietly(answer) }
}

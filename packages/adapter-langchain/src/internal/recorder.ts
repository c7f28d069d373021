import type { ToldCall } from "@varve/core/HistorySteps"
import { historySteps } from "@varve/core/HistorySteps"
import { cut } from "@varve/core/StepGoal"
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

/** The calls of an answer with their outcomes; one without a result has failed. */
const callsOf = (answer: Loose, results: ReadonlyArray<Loose>): ReadonlyArray<ToldCall> => {
  const open = [...results]
  return list(answer.tool_calls).flatMap(({ args, id: callId, name }): ReadonlyArray<ToldCall> => {
    if (typeof callId !== "string") return []
    const at = open.findIndex(({ tool_call_id }) => tool_call_id === callId)
    const [result] = at < 0 ? [] : open.splice(at, 1)
    const call = { callId, tool: String(name), args }
    if (result === undefined)
      return [{ ...call, outcome: "failed", note: "no outcome was recorded" }]
    return result.status === "error"
      ? [{ ...call, outcome: "failed", note: noteOf(result) }]
      : [{ ...call, outcome: "success" }]
  })
}

/**
 * Steps are read from the history, not from the tools as they run: with a middleware that wraps these, an
 * error of a tool would end the run, where LangChain gives it to the model otherwise.
 */
export const makeRecorder = (
  memory: LangChainMemory,
  goalArgument: string | undefined
): Recorder => {
  const tell = historySteps(memory.steps, goalArgument)

  const history = ({ messages, state }: ModelCall): void => {
    const { messages: kept } = (state ?? {}) as Loose
    const all = list(Array.isArray(kept) ? kept : messages)
    tell(
      all.flatMap((answer, i) => {
        if (answer.type !== "ai") return []
        let end = i + 1
        while (all[end]?.type === "tool") end++
        return callsOf(answer, all.slice(i + 1, end))
      })
    )
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

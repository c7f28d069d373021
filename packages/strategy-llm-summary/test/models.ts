import type { SummaryRequest } from "@varve/core/Summarizer"
import { estimateTokens } from "@varve/core/Estimate"
import type { Complete, ModelAnswer, ModelRequest } from "@varve/strategy-llm-summary"

const facts = Array.from({ length: 40 }, (_, i) => `Guest ${i * 7919} comes at ${i * 37}.`).join(
  " "
)

/** A request for a summary, with what matters to a test. */
export const request = (given: Partial<SummaryRequest> = {}): SummaryRequest => ({
  previous: undefined,
  material: [{ from: "user", text: `Book a table for two at the harbour. ${facts}` }],
  keep: [],
  targetTokens: 100,
  count: estimateTokens,
  ...given
})

export const says = (text: string, stopReason = "stop"): ModelAnswer => ({ text, stopReason })

/** What a model does at its nth call, counted from 1. */
export type Behaviour = (
  request: ModelRequest,
  call: number,
  signal: AbortSignal
) => ModelAnswer | Promise<ModelAnswer>

/** A model that notes what it was asked. */
export const model = (behave: Behaviour) => {
  const asked: Array<ModelRequest> = []
  const signals: Array<AbortSignal> = []
  const complete: Complete = async (request, signal) => {
    asked.push(request)
    signals.push(signal)
    return behave(request, asked.length, signal)
  }
  return { asked, complete, signals, calls: () => asked.length }
}

export const refuse = (message: string) => Promise.reject(new Error(message))
export const never = () => new Promise<never>(() => {})

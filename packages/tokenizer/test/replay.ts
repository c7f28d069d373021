import {
  applyCalibration,
  type Calibration,
  observe,
  startCalibration,
  usageTokens
} from "@varve/core/Calibration"
import type { Message } from "@varve/core/Message"
import type { Session } from "@varve-examples/session-readers/Session"

/** A way to count messages. */
export interface Estimator {
  readonly count: (message: Message) => { readonly tokens: number; readonly fixed: number }
  /** Where the ratio starts; nothing for an estimator that learns none. */
  readonly ratio?: (model: string) => number
}

/** How far an estimator was off, as shares: of the whole context with an anchor, and of single increments without. */
export interface Errors {
  readonly anchored: ReadonlyArray<number>
  readonly increments: ReadonlyArray<number>
}

/** The fixed ratio of 1: nothing can move an infinite weight. */
const unlearned: Calibration = { ratio: 1, weight: Infinity }

/** What hosts leave out of the next request: answers that were aborted or failed. */
const isSent = (message: Session["messages"][number]): boolean =>
  !(
    message.role === "assistant" &&
    (message.stopReason === "aborted" || message.stopReason === "error")
  )

/** Replays a session request by request: guesses each one's tokens, then learns what the provider said. */
export const replay = (session: Session, estimator: Estimator): Errors => {
  const states = new Map<string, Calibration>()
  const anchored: Array<number> = []
  const increments: Array<number> = []
  let seen = 0
  let before: { at: number; actual: number; output: number; model: string } | undefined
  const sums = [{ tokens: 0, fixed: 0 }]
  for (const message of session.messages) {
    const { fixed, tokens } = sums.at(-1)!
    const own = isSent(message) ? estimator.count(message) : { tokens: 0, fixed: 0 }
    sums.push({ tokens: tokens + own.tokens, fixed: fixed + own.fixed })
  }
  for (const { at, model = "", usage } of session.requests) {
    const actual = usageTokens(usage)
    const answer = session.messages[at]
    if (usage === undefined || actual === undefined || (answer !== undefined && !isSent(answer)))
      continue
    const { fixed, tokens } = sums[at]!
    const state =
      states.get(model) ??
      (estimator.ratio === undefined
        ? unlearned
        : startCalibration({ ratio: estimator.ratio(model) }))
    if (state.anchor !== undefined) {
      anchored.push(Math.abs(applyCalibration(state, tokens, fixed).tokens - actual) / actual)
    }
    if (before?.model === model) {
      const grown = actual - before.actual - before.output
      const from = sums[before.at + 1]!
      const own = fixed - from.fixed
      const guess = state.ratio * (tokens - from.tokens - own) + own
      if (grown - own >= 200 && seen >= 2000) increments.push(Math.abs(guess - grown) / grown)
      seen += Math.max(0, grown)
    }
    const counted = answer === undefined ? 0 : sums[at + 1]!.tokens - tokens
    const next = observe(state, {
      estimate: tokens,
      fixed,
      actual,
      answer: { estimate: counted, output: usage.output }
    })
    states.set(model, estimator.ratio === undefined ? { ...next, ...unlearned } : next)
    before = { at, actual, output: usage.output, model }
  }
  return { anchored, increments }
}

export const mean = (values: ReadonlyArray<number>): number =>
  values.reduce((a, b) => a + b, 0) / values.length

export const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

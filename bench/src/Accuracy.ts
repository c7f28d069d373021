import {
  applyCalibration,
  type Calibration,
  observe,
  startCalibration,
  usageTokens
} from "@varve/core/Calibration"
import type { Counter } from "@varve/core/Counter"
import { type Message, visitBlocks } from "@varve/core/Message"
import { profile } from "@varve/profiles"
import { tiktokenCounter } from "@varve/tokenizer/Tiktoken"
import type { Session } from "@varve-examples/session-readers/Session"
import * as Effect from "effect/Effect"

/** Tokens of a message, and how many of them no ratio may move. */
export interface Count {
  readonly tokens: number
  readonly fixed: number
}

/** A way to count the tokens of a message. */
export interface Estimator {
  readonly count: (message: Message, counter: Counter) => Count
  readonly learns: boolean
}

const textsOf = (message: Message): ReadonlyArray<string> => {
  const out: Array<string> = []
  visitBlocks(message, (block) => {
    if (block.type === "text") out.push(block.text)
    else if (block.type === "thinking") out.push(block.thinking)
    else if (block.type === "toolCall") out.push(block.name, JSON.stringify(block.arguments))
  })
  return out
}

/** The others get the same figures for images, and the same anchor. */
const plain = (tokens: (text: string, counter: Counter) => number): Estimator => ({
  learns: false,
  count: (message, counter) => {
    const { fixed } = counter.request({ messages: [message] })
    return {
      fixed,
      tokens: textsOf(message).reduce((sum, text) => sum + tokens(text, counter), fixed)
    }
  }
})

export const estimators: Readonly<Record<string, Estimator>> = {
  varve: { learns: true, count: (message, counter) => counter.request({ messages: [message] }) },
  "raw tiktoken": plain((text, counter) => counter.text(text)),
  "chars/4": plain((text) => text.length / 4),
  "chars/3.5": plain((text) => text.length / 3.5),
  "chars/3": plain((text) => text.length / 3)
}

/** A weight that no increment can move. */
const unlearned: Calibration = { ratio: 1, weight: Infinity }

/** Hosts leave answers that were aborted or failed out of the next request. */
const isSent = (message: Session["messages"][number] | undefined): boolean =>
  !(
    message?.role === "assistant" &&
    (message.stopReason === "aborted" || message.stopReason === "error")
  )

/** Replays the requests of a session: how far each count was from what the provider reported. */
export const replay = (
  session: Session,
  counters: ReadonlyMap<string, Counter>,
  estimator: Estimator
) => {
  const anchored: Array<number> = []
  const increments: Array<number> = []
  const states = new Map<string, Calibration>()
  let seen = 0
  let before: { at: number; actual: number; output: number; model: string } | undefined
  for (const { at, model = "", usage } of session.requests) {
    const actual = usageTokens(usage)
    const answer = session.messages[at]
    const counter = counters.get(model)
    if (actual === undefined || usage === undefined || counter === undefined || !isSent(answer))
      continue
    const sum = (from: number, to: number): Count => {
      let tokens = 0
      let fixed = 0
      for (const message of session.messages.slice(from, to)) {
        if (!isSent(message)) continue
        const count = estimator.count(message, counter)
        tokens += count.tokens
        fixed += count.fixed
      }
      return { tokens, fixed }
    }
    const all = sum(0, at)
    const ratio = profile(model, {}, { onWarning: () => {} }).ratio
    const state = states.get(model) ?? (estimator.learns ? startCalibration({ ratio }) : unlearned)
    if (state.anchor !== undefined) {
      anchored.push(
        Math.abs(applyCalibration(state, all.tokens, all.fixed).tokens - actual) / actual
      )
    }
    if (before?.model === model) {
      const grown = actual - before.actual - before.output
      const tail = sum(before.at + 1, at)
      const guess = state.ratio * (tail.tokens - tail.fixed) + tail.fixed
      if (grown - tail.fixed >= 200 && seen >= 2000)
        increments.push(Math.abs(guess - grown) / grown)
      seen += Math.max(0, grown)
    }
    const next = observe(state, {
      estimate: all.tokens,
      fixed: all.fixed,
      actual,
      answer: { estimate: sum(at, at + 1).tokens, output: usage.output }
    })
    states.set(model, estimator.learns ? next : { ...next, ...unlearned })
    before = { at, actual, output: usage.output, model }
  }
  return { anchored, increments, ratio: [...states.values()].at(-1)?.ratio }
}

/** A counter for each model of a session that its usage is of. */
export const countersOf = (session: Session) =>
  Effect.gen(function* () {
    const models = new Set(
      session.requests.flatMap(({ model, usage }) => (usage ? [model ?? ""] : []))
    )
    const counters = new Map<string, Counter>()
    for (const model of models) {
      const counter = yield* tiktokenCounter().start(profile(model, {}, { onWarning: () => {} }))
      yield* counter.ready ?? Effect.void
      counters.set(model, counter)
    }
    return counters
  })

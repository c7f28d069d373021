// How far token counts are from what providers reported, over all real sessions with usage: the whole context at
// the next request (anchored at the last usage), and single increments of 200 tokens and more (not anchored).
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
import { requireData } from "@varve-examples/session-readers/Data"
import type { Session } from "@varve-examples/session-readers/Session"
import { sessions } from "@varve-examples/session-readers/Sessions"
import * as Effect from "effect/Effect"

interface Count {
  readonly tokens: number
  readonly fixed: number
}

interface Estimator {
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

const estimators: Readonly<Record<string, Estimator>> = {
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

const replay = (session: Session, counters: ReadonlyMap<string, Counter>, estimator: Estimator) => {
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

const mean = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0) / values.length
const quantile = (values: ReadonlyArray<number>, share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN
const percent = (share: number, digits: number) => Number((100 * share).toFixed(digits))

if (requireData("the benchmark of token counts")) {
  const anchoredRows: Array<Record<string, string | number>> = []
  const incrementRows: Array<Record<string, string | number>> = []
  const program = Effect.gen(function* () {
    for (const entry of sessions()) {
      // Midscene sends no conversation: what its reader builds is more than what its requests held.
      if (entry.path.includes("midscene")) continue
      const session = entry.read()
      const models = new Set(
        session.requests.flatMap(({ model, usage }) => (usage ? [model ?? ""] : []))
      )
      const counters = new Map<string, Counter>()
      for (const model of models) {
        const counter = yield* tiktokenCounter().start(profile(model, {}, { onWarning: () => {} }))
        yield* counter.ready ?? Effect.void
        counters.set(model, counter)
      }
      const anchoredRow: Record<string, string | number> = { session: entry.name }
      const incrementRow: Record<string, string | number> = { session: entry.name }
      for (const [name, estimator] of Object.entries(estimators)) {
        const { anchored, increments, ratio } = replay(session, counters, estimator)
        if (anchored.length < 2) break
        anchoredRow.requests = anchored.length
        anchoredRow[`${name} %`] = percent(mean(anchored), 4)
        if (estimator.learns) {
          anchoredRow["max %"] = percent(Math.max(...anchored), 2)
          anchoredRow.ratio = Number(ratio?.toFixed(2))
        }
        if (increments.length === 0) continue
        incrementRow.increments = increments.length
        const cells = [quantile(increments, 0.5), mean(increments), quantile(increments, 0.95)]
        incrementRow[`${name} %`] = cells.map((cell) => percent(cell, 1)).join(" / ")
      }
      if (anchoredRow.requests !== undefined) anchoredRows.push(anchoredRow)
      if (incrementRow.increments !== undefined) incrementRows.push(incrementRow)
    }
  })
  await Effect.runPromise(Effect.scoped(program))
  console.log("Whole context at the next request, anchored at the last usage: mean error")
  console.table(anchoredRows)
  console.log(
    "Increments of 200 tokens and more, after 2 000 tokens, not anchored: error (median / mean / 95 %)"
  )
  console.table(incrementRows)
}

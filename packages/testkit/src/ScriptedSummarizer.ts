import type { Summarizer, SummaryRequest, SummaryResult } from "@varve/core/Summarizer"
import { SummaryError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"

/** How a scripted summarizer answers one request. */
export type SummaryOutcome =
  /** A short text that fits. */
  | "good"
  /** A text that was cut at the output limit. */
  | "truncated"
  /** Nothing, or white space. */
  | "empty"
  | "blank"
  /** Four times what was asked for. */
  | "too-long"
  /** One sentence over and over. */
  | "degenerate"
  /** A tool call in the place of a text. */
  | "tool-call"
  /** All that it was given, word for word. */
  | "echo"
  /** A typed failure that may pass, and one that will not. */
  | "failing"
  | "refusing"
  /** A result of the wrong shape, as plain code may give. */
  | "garbage"
  /** An exception that nobody typed. */
  | "throwing"
  /** A good answer, 20 ms late. */
  | "slow"
  /** No answer, ever. */
  | "hanging"

/** A summarizer with the requests that it got, oldest first. */
export interface ScriptedSummarizer {
  readonly summarizer: Summarizer
  readonly requests: ReadonlyArray<SummaryRequest>
}

const words = (request: SummaryRequest, most: number): string => {
  const all = [...(request.previous ?? "").split(/\s+/), ...request.material.map((m) => m.from)]
  let text = "Summary:"
  for (const word of all) {
    const next = text + " " + word
    if (word === "" || request.count(next) > most) continue
    text = next
  }
  return text
}

const longer = (unit: string, request: SummaryRequest, tokens: number): string => {
  let text = unit
  while (request.count(text) < tokens) text += text
  return text
}

type Answer = (request: SummaryRequest) => Effect.Effect<SummaryResult, SummaryError>

const says =
  (text: (request: SummaryRequest) => string, stopReason = "stop"): Answer =>
  (request) =>
    Effect.succeed({ text: text(request), stopReason, model: "scripted" })

const long = "Everything that happened, told at length. "

const answers: Readonly<Record<SummaryOutcome, Answer>> = {
  good: says((r) => words(r, r.targetTokens)),
  truncated: says((r) => words(r, r.targetTokens) + " and then the", "length"),
  empty: says(() => ""),
  blank: says(() => " \n\t "),
  "too-long": says((r) => longer(long, r, r.targetTokens * 4)),
  degenerate: says((r) => longer("I will continue. ", r, r.targetTokens)),
  "tool-call": says(() => "", "toolUse"),
  echo: says((r) => r.material.map((m) => m.text).join("\n")),
  failing: () => Effect.fail(new SummaryError("failed", "overloaded", { transient: true })),
  refusing: () => Effect.fail(new SummaryError("failed", "invalid key")),
  garbage: () => Effect.succeed({ text: { summary: ["x"] } } as unknown as SummaryResult),
  throwing: () => Effect.die(new Error("the summarizer threw")),
  slow: (r) => Effect.delay(answers.good(r), 20),
  hanging: () => Effect.never
}

/** All outcomes, for tables and arbitraries. */
export const summaryOutcomes = Object.keys(answers) as ReadonlyArray<SummaryOutcome>

/**
 * A summarizer that answers by a script, one outcome a request; the last one holds for all that follow.
 * Its texts depend on the request alone.
 *
 * @example
 * ```ts
 * import { scriptedSummarizer } from "@varve/testkit/ScriptedSummarizer"
 * import * as Effect from "effect/Effect"
 *
 * const { summarizer } = scriptedSummarizer(["failing", "good"])
 * const request = { previous: undefined, material: [{ from: "user", text: "hi" }], keep: [], targetTokens: 100, count: (s: string) => s.length }
 * const first = await Effect.runPromise(Effect.result(summarizer(request)))
 * console.log(first._tag) // => Failure
 * console.log((await Effect.runPromise(summarizer(request))).text) // => Summary: user
 * ```
 */
export const scriptedSummarizer = (script: ReadonlyArray<SummaryOutcome>): ScriptedSummarizer => {
  const requests: Array<SummaryRequest> = []
  return {
    requests,
    summarizer: (request) =>
      Effect.suspend(() => {
        const outcome = script[Math.min(requests.length, script.length - 1)] ?? "good"
        requests.push(request)
        return answers[outcome](request)
      })
  }
}

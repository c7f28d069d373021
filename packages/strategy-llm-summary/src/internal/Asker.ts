import type { SummaryRequest, SummaryResult } from "@varve/core/Summarizer"
import { checkSummary } from "@varve/core/SummaryCheck"
import { SummaryError } from "@varve/core/VarveError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { ModelAnswer, ModelRequest } from "../ModelSummarizer.ts"
import { Breaker } from "./Breaker.ts"
import type { BreakerOptions } from "./Breaker.ts"
import { isOverflow } from "./failure.ts"
import { readAnswer } from "./readAnswer.ts"

/** How a model is asked. */
export interface AskerOptions {
  readonly ask: (request: ModelRequest) => Effect.Effect<ModelAnswer, SummaryError>
  readonly retries: number
  readonly breaker: BreakerOptions
  /** Most calls, and most tokens in and out of them. */
  readonly calls: number
  readonly tokens: number
  /** Most tokens that the model writes, where it is known. */
  readonly mostOutput: number
}

/** One question: the prompt, and what its answer has to keep to. */
export interface Question extends ModelRequest {
  /** Tokens of the prompt with its system text. */
  readonly promptTokens: number
  readonly request: SummaryRequest
  /** When nobody waits any more, in ms since 1970. */
  readonly deadline: number
}

/** Between retries: one second, then two, and so on, each up to a fifth more or less. */
const backOff = Schedule.jittered(Schedule.exponential(1000))

/** An answer that came to its cap; with a larger one it may be whole. */
class Cut extends SummaryError {}

/** Where the model is left alone, the error says what was wrong, as long as it is. */
const paused = (last: SummaryError | undefined): SummaryError =>
  new SummaryError(
    "failed",
    `The model is left alone for a while, after failures in a row${last === undefined ? "" : `; the last: ${last.message}`}`,
    { cause: last }
  )

/** Tokens that a call took; one that failed counts with its prompt. */
const used = ({ promptTokens, request }: Question, answer: ModelAnswer | undefined): number => {
  if (answer?.usage !== undefined) return answer.usage.input + answer.usage.output
  return promptTokens + (typeof answer?.text === "string" ? request.count(answer.text) : 0)
}

/** What the end of a call says of the model; nothing where it was aborted or the prompt was too long. */
const verdict = (exit: Exit.Exit<unknown, SummaryError>, late: boolean): boolean | undefined => {
  if (exit._tag === "Success") return true
  if (Cause.hasInterruptsOnly(exit.cause)) return late ? false : undefined
  const error = Cause.squash(exit.cause)
  return error instanceof SummaryError && isOverflow(error) ? undefined : false
}

/** What a failed call failed with; one that was ended was late. */
const errorOf = (exit: Exit.Exit<unknown, SummaryError>): SummaryError => {
  const error = exit._tag === "Failure" ? Cause.squash(exit.cause) : undefined
  return error instanceof SummaryError ? error : new SummaryError("timeout", "No answer in time.")
}

/** Asks a model for one memory: it has its own breaker and its own count of calls and tokens. */
export class Asker {
  readonly #options: AskerOptions
  readonly #breaker: Breaker
  #calls = 0
  #tokens = 0
  /** How the last call failed. */
  #last: SummaryError | undefined
  /** Most tokens of a prompt, as far as a provider's refusals have taught it. */
  room = Infinity

  constructor(options: AskerOptions) {
    this.#options = options
    this.#breaker = new Breaker(options.breaker)
  }

  /** A checked answer; what may pass is tried again, what was cut gets one more try with twice the cap. */
  answer(question: Question): Effect.Effect<SummaryResult, SummaryError> {
    const { mostOutput, retries } = this.#options
    const more = Math.min(mostOutput, question.maxTokens * 2 + 2048)
    const allowed = Effect.map(Clock.currentTimeMillis, (now) => this.#breaker.allows(now))
    return this.#once(question).pipe(
      Effect.catchIf(
        (error) => error instanceof Cut && more > question.maxTokens,
        (error) =>
          Effect.flatMap(allowed, (go) =>
            go ? this.#once({ ...question, maxTokens: more }) : Effect.fail(error)
          )
      ),
      Effect.retry({
        schedule: backOff,
        times: retries,
        while: (error) => (error.transient ? allowed : false)
      })
    )
  }

  #once(question: Question): Effect.Effect<SummaryResult, SummaryError> {
    const { maxTokens, prompt, promptTokens, system } = question
    // What is taken here has to be given back, wherever an interruption falls.
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const refused = this.#refused(question)
        if (refused !== undefined) return Effect.fail(refused)
        const pass = this.#breaker.pass(now)
        if (pass === undefined) return Effect.fail(paused(this.#last))
        this.#calls++
        this.#tokens += promptTokens + maxTokens
        let answer: ModelAnswer | undefined
        const asked = Effect.suspend(() => this.#options.ask({ system, prompt, maxTokens }))
        return restore(asked).pipe(
          Effect.flatMap((given) => Effect.fromResult(this.#read(question, (answer = given)))),
          Effect.onExit((exit) =>
            Effect.map(Clock.currentTimeMillis, (end) => {
              this.#tokens += used(question, answer) - promptTokens - maxTokens
              const good = verdict(exit, end >= question.deadline)
              if (good === false) this.#last = errorOf(exit)
              this.#breaker.settle(pass, good, end)
            })
          )
        )
      })
    )
  }

  #refused({ maxTokens, promptTokens }: Question): SummaryError | undefined {
    const { calls, tokens } = this.#options
    if (this.#calls >= calls)
      return new SummaryError("failed", `This memory has made its ${calls} calls for summaries.`)
    if (this.#tokens + promptTokens + maxTokens > tokens)
      return new SummaryError("failed", `This memory has used its ${tokens} tokens for summaries.`)
    return undefined
  }

  #read(
    { maxTokens, request }: Question,
    answer: ModelAnswer
  ): Result.Result<SummaryResult, SummaryError> {
    const { model, stopReason, text, usage } = (answer ?? {}) as Partial<ModelAnswer>
    if (typeof text !== "string" || typeof stopReason !== "string")
      return Result.fail(
        new SummaryError("unreadable", "The model's answer has no `text` and `stopReason`.")
      )
    const cap = `its cap of ${maxTokens} tokens`
    if (stopReason === "length" && text.trim() === "")
      return Result.fail(new Cut("reasoning", `The model reasoned until ${cap} was used.`))
    if (stopReason === "length")
      return Result.fail(new Cut("stop-reason", `The answer was cut at ${cap}.`))
    const read = stopReason === "stop" ? readAnswer(text) : { text }
    if (read === undefined)
      return Result.fail(new SummaryError("unreadable", "The answer is JSON without a summary."))
    const result: SummaryResult = {
      text: read.text.trim(),
      stopReason,
      ...(read.structure === undefined ? {} : { structure: read.structure }),
      ...(model === undefined ? {} : { model }),
      ...(usage === undefined ? {} : { usage })
    }
    // What is too long is clipped later, and what must be kept is put in by code.
    const lenient = { ...request, keep: [], targetTokens: Infinity }
    return checkSummary(lenient, result, { replaces: Infinity })
  }
}

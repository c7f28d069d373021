import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Proposal } from "../Edit.ts"
import type { Redact } from "../Redact.ts"
import type { Propose, Strategy } from "../Strategy.ts"
import { isVarveError, show, SummaryError } from "../VarveError.ts"
import type { View } from "../View.ts"
import type { Breaker } from "./breaker.ts"
import { makeBreaker } from "./breaker.ts"

/** A strategy that was started for one memory, in its box. */
export interface Started {
  readonly strategy: Strategy
  readonly propose: Propose<unknown>
  readonly breaker: Breaker
}

export const started = (strategy: Strategy, propose: Propose<unknown>): Started => ({
  strategy,
  propose,
  breaker: makeBreaker({})
})

export interface Boxed {
  readonly proposals: ReadonlyArray<Proposal>
  readonly error: string | undefined
}

/**
 * Words of an error for a report: no stack, no long text, nothing that could hold base64, nor what `redact`
 * takes out, which happens before anything is cut.
 */
export const errorText = (error: unknown, redact: Redact = (text) => text): string => {
  try {
    const text =
      error instanceof Error
        ? redact(`${error.name}: ${error.message}`)
        : show(typeof error === "string" ? redact(error) : error)
    return text.length > 300 ? text.slice(0, 300) + "…" : text
  } catch {
    return "an error that can't be read"
  }
}

/** Whatever a summarizer fails with, as the error that it should have failed with. */
export const summaryError = (error: unknown, redact: Redact): SummaryError =>
  isVarveError(error) && error._tag === "SummaryError"
    ? error
    : new SummaryError("failed", `The summarizer failed: ${errorText(error, redact)}`, {
        cause: error
      })

const isProposal = (u: unknown): u is Proposal =>
  typeof u === "object" && u !== null && Array.isArray((u as Proposal).edits)

/** Reads an answer once, so that nothing behind it has to do with a list or an object of the strategy's own. */
const read = (exit: Exit.Exit<ReadonlyArray<Proposal>, unknown>, name: string): Boxed => {
  if (Exit.isFailure(exit)) return { proposals: [], error: errorText(Cause.squash(exit.cause)) }
  const { value } = exit
  try {
    if (!Array.isArray(value))
      return { proposals: [], error: `it gave ${show(value)}, not a list of proposals` }
    const given: ReadonlyArray<unknown> = [...value]
    const proposals = given.filter(isProposal).map(({ edits, reason, atomic }) => ({
      edits: [...edits],
      reason: typeof reason === "string" ? reason : name,
      atomic: atomic === true
    }))
    const odd = given.length - proposals.length
    return {
      proposals,
      error: odd > 0 ? `${odd} of ${given.length} proposals have no list of edits` : undefined
    }
  } catch (error) {
    return { proposals: [], error: `what it gave can't be read: ${errorText(error)}` }
  }
}

/** Waits for a strategy's answer, and lets go of it at the limit or when the request is aborted. */
const answer = <A>(
  fiber: Fiber.Fiber<A, unknown>,
  name: string,
  limit: number
): Effect.Effect<Exit.Exit<A, unknown>> => {
  const letGo = Effect.forkDetach(Fiber.interrupt(fiber))
  return Fiber.await(fiber).pipe(
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () => Effect.as(letGo, Exit.fail(new Error(`${name} took longer than ${limit} ms`)))
    }),
    Effect.onInterrupt(() => letGo)
  )
}

/** How long a strategy may take, and the time; both in ms. */
interface Timing {
  readonly strategyTimeout: number
  readonly now: () => number
}

/**
 * Runs a strategy in its box: failure, time-out and nonsense are its own and end in the report. A strategy
 * that answers at once costs no timer.
 */
export const runBoxed = (
  { propose, breaker, strategy }: Started,
  view: View,
  { now, strategyTimeout }: Timing
): Effect.Effect<Boxed> =>
  Effect.gen(function* () {
    if (!breaker.allows(now()))
      return { proposals: [], error: "left alone after failures in a row" }
    // Detached: a strategy that can't be interrupted must not hold the request that gave up on it.
    const fiber = yield* Effect.forkDetach(
      Effect.suspend(() => propose(view)),
      { startImmediately: true }
    )
    const exit = fiber.pollUnsafe() ?? (yield* answer(fiber, strategy.name, strategyTimeout))
    const boxed = read(exit, strategy.name)
    breaker.settle(boxed.error === undefined, now())
    return boxed
  })

import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { clipLines } from "../Clip.ts"
import type { Redact } from "../Redact.ts"
import { CurrentRedact } from "../Redact.ts"
import type { AnySummarizer, SummaryRequest, SummaryResult } from "../Summarizer.ts"
import { toSummarizer } from "../Summarizer.ts"
import type { SummaryCheckOptions } from "../SummaryCheck.ts"
import { checkSummary } from "../SummaryCheck.ts"
import { SummaryError } from "../VarveError.ts"
import { warnOf } from "../Warn.ts"
import { summaryError } from "./box.ts"

/** Checks a result; a text that is only too long for its cap is clipped to it: most of the work is good. */
const fit = (
  request: SummaryRequest,
  result: SummaryResult,
  options: SummaryCheckOptions
): Result.Result<SummaryResult, SummaryError> => {
  const { targetTokens, count } = request
  const sound = checkSummary(request, result, { ...options, replaces: Infinity, clipped: true })
  if (Result.isFailure(sound)) return sound
  const text = clipLines(result.text, targetTokens, count, { head: 0.8 })
  return checkSummary(request, text === result.text ? result : { ...result, text }, options)
}

/** What came back, as it may be kept: without what nobody may see, before anything is cut, and well-formed. */
const cleaned = (result: SummaryResult, redact: Redact): SummaryResult => {
  const text: unknown = (result as Partial<SummaryResult> | undefined)?.text
  return typeof text === "string" ? { ...result, text: redact(text).toWellFormed() } : result
}

/** The error of a summary that took too long. */
export const late = (timeout: number): SummaryError =>
  new SummaryError("timeout", `No summary within ${timeout} ms.`, { transient: true })

/**
 * Asks a summarizer and checks what comes back, redacted and well-formed. Whatever it does (throws, hangs,
 * can't be interrupted, gives nonsense), this ends within `timeout` ms with a checked summary or a
 * `SummaryError`, of which the host is told. `keep` is what must stand in it, where that is less than what was
 * asked for.
 */
export const summarize = (
  summarizer: AnySummarizer,
  request: SummaryRequest,
  timeout: number,
  options: SummaryCheckOptions,
  keep: ReadonlyArray<string> = request.keep
): Effect.Effect<SummaryResult, SummaryError> =>
  Effect.gen(function* () {
    const redact = yield* CurrentRedact
    // Detached, since a fiber waits for its children when it ends, and this one may not let itself be ended.
    const fiber = yield* Effect.forkDetach(
      Effect.suspend(() => toSummarizer(summarizer)({ ...request, timeout })),
      { startImmediately: true }
    )
    const stop = Effect.forkDetach(Fiber.interrupt(fiber))
    const exit =
      fiber.pollUnsafe() ??
      (yield* Fiber.await(fiber).pipe(
        Effect.timeoutOrElse({
          duration: timeout,
          orElse: () => Effect.andThen(stop, Effect.fail(late(timeout)))
        }),
        Effect.onInterrupt(() => stop)
      ))
    if (exit._tag === "Success")
      return yield* Effect.fromResult(
        fit({ ...request, keep }, cleaned(exit.value, redact), options)
      )
    return yield* Effect.fail(summaryError(Cause.squash(exit.cause), redact))
  }).pipe(
    // Else nobody learns of one that never works: the text is clipped, and all goes on.
    Effect.tapError(warnOf)
  )

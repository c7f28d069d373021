import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { clipText } from "../Clip.ts"
import type { Summarizer, SummaryRequest, SummaryResult } from "../Summarizer.ts"
import type { SummaryCheckOptions } from "../SummaryCheck.ts"
import { checkSummary } from "../SummaryCheck.ts"
import { isVarveError, SummaryError } from "../VarveError.ts"
import { errorText } from "./box.ts"

/** Checks a result; a text that is only too long for its cap is clipped to it: most of the work is good. */
const fit = (
  request: SummaryRequest,
  result: SummaryResult,
  options: SummaryCheckOptions
): Result.Result<SummaryResult, SummaryError> => {
  const { targetTokens, count } = request
  const sound = checkSummary({ ...request, targetTokens: Infinity }, result, { replaces: Infinity })
  if (Result.isFailure(sound)) return sound
  const text = clipText(result.text, targetTokens, count, { head: 0.8 })
  return checkSummary(request, text === result.text ? result : { ...result, text }, options)
}

/** The error of a summary that took too long. */
export const late = (timeout: number): SummaryError =>
  new SummaryError("timeout", `No summary within ${timeout} ms.`, { transient: true })

/**
 * Asks a summarizer and checks what comes back. Whatever it does (throws, hangs, can't be interrupted, gives
 * nonsense), this ends within `timeout` ms with a checked summary or a `SummaryError`. `keep` is what must
 * stand in it, where that is less than what was asked for.
 */
export const summarize = (
  summarizer: Summarizer,
  request: SummaryRequest,
  timeout: number,
  options: SummaryCheckOptions,
  keep: ReadonlyArray<string> = request.keep
): Effect.Effect<SummaryResult, SummaryError> =>
  Effect.gen(function* () {
    // Detached, since a fiber waits for its children when it ends, and this one may not let itself be ended.
    const fiber = yield* Effect.forkDetach(
      Effect.suspend(() => summarizer({ ...request, timeout })),
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
      return yield* Effect.fromResult(fit({ ...request, keep }, exit.value, options))
    const error = Cause.squash(exit.cause)
    return yield* Effect.fail(
      isVarveError(error) && error._tag === "SummaryError"
        ? error
        : new SummaryError("failed", `The summarizer failed: ${errorText(error)}`, { cause: error })
    )
  })

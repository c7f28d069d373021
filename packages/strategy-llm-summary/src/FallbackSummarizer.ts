import type {
  AnySummarizer,
  Summarizer,
  SummaryRequest,
  SummaryResult
} from "@varve/core/Summarizer"
import { costOf, toSummarizer } from "@varve/core/Summarizer"
import { checkSummary } from "@varve/core/SummaryCheck"
import { ConfigError, show, SummaryError } from "@varve/core/VarveError"
import { warnOf } from "@varve/core/Warn"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Share of the time that stays for the last one, which is a quick one as a rule. */
const LAST = 0.1

/** What would be refused later lets the next one try now. What is only too long is clipped later. */
const checked = (request: SummaryRequest, result: SummaryResult) =>
  Effect.fromResult(checkSummary(request, result, { replaces: Infinity, clipped: true }))

/** Else nobody learns of one that never works. */
const told = (cause: Cause.Cause<SummaryError>): Effect.Effect<void> =>
  Cause.hasInterrupts(cause)
    ? Effect.void
    : warnOf(Cause.squash(cause), "the next summarizer is asked")

/**
 * Asks the first summarizer; where it fails, takes too long or what it gives is refused, the next, and so on.
 * Fails as the last one fails; the strategies of core then clip, so that nothing hangs on it.
 *
 * Where the request says how long its answer is waited for, that time is shared out: a tenth of it for the
 * last one, the rest in equal parts, and who is quicker leaves more to the others.
 *
 * Throws `ConfigError` where one of them is no function.
 *
 * @example
 * ```ts
 * import { clipSummarizer } from "@varve/core/ClipSummarizer"
 * import { fallbackSummarizer } from "@varve/strategy-llm-summary/FallbackSummarizer"
 * import { modelSummarizer } from "@varve/strategy-llm-summary/ModelSummarizer"
 * import * as Effect from "effect/Effect"
 *
 * const down = modelSummarizer({ complete: () => Promise.reject(new Error("401 no such key")) })
 * const summarizer = fallbackSummarizer(down, clipSummarizer())
 * const { model } = await Effect.runPromise(
 *   summarizer({
 *     previous: undefined,
 *     material: [{ from: "user", text: "Book a table for two." }],
 *     keep: [],
 *     targetTokens: 100,
 *     count: (text) => text.length / 4
 *   })
 * )
 * console.log(model) // => clip
 * ```
 */
export const fallbackSummarizer = (
  first: AnySummarizer,
  ...others: ReadonlyArray<AnySummarizer>
): Summarizer => {
  const all = [first, ...others]
  const wrong = all.flatMap((given, i) =>
    typeof given === "function"
      ? []
      : [{ path: `fallbackSummarizer[${i}]`, given: show(given), allowed: "a summarizer" }]
  )
  if (wrong.length > 0) throw new ConfigError(wrong)

  const summarize: Summarizer = (request) =>
    Effect.flatMap(Clock.currentTimeMillis, (start) => {
      const end = start + (request.timeout ?? Infinity)
      const reserve = (request.timeout ?? 0) * LAST
      const from = (i: number): Effect.Effect<SummaryResult, SummaryError> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const summarizer = toSummarizer(all[i]!)
          const later = all.length - 1 - i
          const left = Math.max(1, end - now)
          const share = later === 0 ? left : Math.max(1, Math.floor((left - reserve) / later))
          const asked = Number.isFinite(share) ? { ...request, timeout: share } : request
          const answer = summarizer(asked).pipe(
            Effect.flatMap((result) => checked(request, result)),
            (work) =>
              Number.isFinite(share)
                ? Effect.timeoutOrElse(work, {
                    duration: share,
                    orElse: () =>
                      Effect.fail(
                        new SummaryError("timeout", `No summary within ${share} ms.`, {
                          transient: true
                        })
                      )
                  })
                : work
          )
          // An exception is that summarizer's own fault, too.
          return later === 0
            ? answer
            : Effect.catchCause(answer, (cause) => Effect.andThen(told(cause), () => from(i + 1)))
        })
      return from(0)
    })
  return Object.assign(summarize, costOf(first))
}

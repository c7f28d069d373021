import * as Result from "effect/Result"
import type { SummaryRequest, SummaryResult } from "./Summarizer.ts"
import type { SummaryReason } from "./VarveError.ts"
import { show, SummaryError } from "./VarveError.ts"

/** What `checkSummary` measures against. */
export interface SummaryCheckOptions {
  /** Tokens of what the summary replaces; default: those of the previous summary and the material. */
  readonly replaces?: number
  /** Share of it that must be saved; default 0.2. */
  readonly margin?: number
}

/** Pieces of this many units are compared to find loops: longer than a word, shorter than a sentence. */
const PIECE = 12

/** No more than this of a text is looked at for loops. */
const LOOKED_AT = 65_536

/** Share of a text's pieces that stood in it before: about 0 for prose, up to 0.7 for code, near 1 for a loop. */
const repetition = (text: string): number => {
  const seen = new Set<string>()
  const end = Math.min(text.length, LOOKED_AT) - PIECE + 1
  for (let i = 0; i < end; i++) seen.add(text.slice(i, i + PIECE))
  return end < 80 ? 0 : 1 - seen.size / end
}

const isLoop = (text: string, source: () => string): boolean => {
  const whole = repetition(text)
  const end = repetition(text.slice(text.length >> 1))
  if (whole < 0.65 && end < 0.75) return false
  // A list of a hundred like steps has like lines: what repeats itself no more than its source is no loop.
  const given = repetition(source())
  return whole > given + 0.1 || end > given + 0.2
}

const NOTHING =
  /^\W*(no (content|summary)( available)?|none|nothing|null|undefined|n\/a|empty|object object)\W*$/i
const CALL =
  /^\s*(<[|｜]?(antml:)?(tool[_▁]?calls?|function[_▁]?calls?|function|invoke)\b|\[TOOL_CALLS?\]|```tool)/i

const isCall = (text: string): boolean => {
  if (CALL.test(text)) return true
  if (!/^\s*[[{]/.test(text)) return false
  try {
    const parsed: unknown = JSON.parse(text)
    const [first] = Array.isArray(parsed) ? parsed : [parsed]
    if (typeof first !== "object" || first === null) return false
    return "tool_calls" in first || ("name" in first && ("arguments" in first || "input" in first))
  } catch {
    return false
  }
}

/**
 * The one check that every summary passes before it may take the place of anything. It wants the stop reason
 * `stop`, a text that isn't blank, no tool call, no loop, every text of `keep` word for word, no more than
 * `targetTokens`, and a fifth less than what it replaces. Pure; never throws, whatever came back.
 *
 * Fails with `SummaryError`: `unreadable`, `tool-call`, `stop-reason`, `blank`, `degenerate`, `missing` or
 * `too-large`. The message never quotes the summary.
 *
 * @example
 * ```ts
 * import { checkSummary } from "@varve/core/SummaryCheck"
 * import * as Result from "effect/Result"
 *
 * const request = {
 *   previous: undefined,
 *   material: [{ from: "user", text: "A long text. ".repeat(100) }],
 *   keep: [],
 *   targetTokens: 50,
 *   count: (text: string) => text.length / 4
 * }
 * const cut = checkSummary(request, { text: "The user wrote a lo", stopReason: "length" })
 * console.log(Result.isFailure(cut) && cut.failure.reason) // => stop-reason
 * ```
 */
export const checkSummary = (
  request: SummaryRequest,
  result: SummaryResult,
  { replaces, margin = 0.2 }: SummaryCheckOptions = {}
): Result.Result<SummaryResult, SummaryError> => {
  const refuse = (reason: SummaryReason, message: string) =>
    Result.fail(new SummaryError(reason, `The summary was refused: ${message}`))
  const { text, stopReason } = (result ?? {}) as Partial<SummaryResult>
  const { previous = "", material, keep, targetTokens, count } = request
  if (typeof text !== "string") return refuse("unreadable", `its text is ${show(text)}`)
  if (/^tool/i.test(String(stopReason))) return refuse("tool-call", "the model called a tool")
  if (stopReason !== "stop") return refuse("stop-reason", `it ended with ${show(stopReason)}`)
  if (!/[\p{L}\p{N}]/u.test(text) || NOTHING.test(text)) return refuse("blank", "it says nothing")
  if (isCall(text)) return refuse("tool-call", "it is a tool call")

  const missing = keep.filter((wanted) => !text.includes(wanted)).length
  if (missing > 0)
    return refuse("missing", `${missing} of ${keep.length} texts to keep are not in it`)
  const tokens = count(text)
  if (tokens > targetTokens)
    return refuse("too-large", `${tokens} tokens, asked for ${targetTokens}`)
  const source = (): string => [previous, ...material.map((m) => m.text)].join("\n")
  const before = replaces ?? count(source())
  if (tokens > before * (1 - margin)) {
    return refuse("too-large", `${tokens} tokens in the place of ${before} save too little`)
  }
  return isLoop(text, source) ? refuse("degenerate", "it repeats itself") : Result.succeed(result)
}

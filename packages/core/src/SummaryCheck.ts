import * as Result from "effect/Result"
import type { SummaryRequest, SummaryResult } from "./Summarizer.ts"
import type { SummaryReason } from "./VarveError.ts"
import { notSummary } from "./internal/notSummary.ts"
import { show, SummaryError } from "./VarveError.ts"

/** What `checkSummary` measures against. */
export interface SummaryCheckOptions {
  /** Tokens of what the summary replaces; default: those of the previous summary and the material. */
  readonly replaces?: number
  /** Share of it that must be saved; default 0.2. */
  readonly margin?: number
  /** True where a text over its cap will be clipped to it: then its length refuses nothing. Default false. */
  readonly clipped?: boolean
}

/**
 * Shares of the cap, or of what is replaced where that is less. What is shorter than the first stands for
 * nothing of it; what is shorter than the second has to name something that occurs in it. With the usual cap of
 * 1 500 tokens these are 8 and 30.
 */
const LEAST = 0.005
const FEW = 0.02

/** A word that says what a text is about: long, or with a digit in it. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2}|[\p{L}\p{N}_]*(?:\p{N}|[\p{L}_]{5})[\p{L}\p{N}_]*/gu

const namesAny = (text: string, source: string): boolean => {
  const lower = source.toLowerCase()
  // Without its ending: "pages" speaks of "page 4".
  const stem = (word: string): string => word.slice(0, Math.max(4, word.length - 2))
  return (text.toLowerCase().match(WORD) ?? []).some((word) => lower.includes(stem(word)))
}

/** Pieces of this many units are compared to find loops: longer than a word, shorter than a sentence. */
const PIECE = 12

/** No more than this of a text is looked at for loops. */
const LOOKED_AT = 65_536

/** A list names something new within this many units, and within a quarter of it. */
const STRETCH = 400

/** Share of a text's pieces that stood in it before: about 0 for prose, up to 0.7 for code, near 1 for a loop. */
const repetition = (text: string): number => {
  const seen = new Set<string>()
  const end = Math.min(text.length, LOOKED_AT) - PIECE + 1
  for (let i = 0; i < end; i++) seen.add(text.slice(i, i + PIECE))
  return end < 80 ? 0 : 1 - seen.size / end
}

/** A word, or a letter of a script without spaces. */
const NAME =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}_]+/gu

/**
 * Whether a text goes on to name what it didn't name before and what occurs in the source. So does a list, whose
 * lines are alike but for one name; what goes round in circles doesn't.
 */
const goesOn = (text: string, source: string): boolean => {
  const known = new Set(source.toLowerCase().match(NAME))
  const stretch = Math.min(STRETCH, text.length / 4)
  let last = 0
  for (const { 0: word, index } of text.toLowerCase().matchAll(NAME)) {
    // Deleted, so that it is new only once.
    if (!known.delete(word)) continue
    if (index - last > stretch) return false
    last = index
  }
  return text.length - last <= stretch
}

const isLoop = (text: string, source: () => string): boolean => {
  const whole = repetition(text)
  const end = repetition(text.slice(text.length >> 1))
  if (whole < 0.65 && end < 0.75) return false
  if (goesOn(text, source())) return false
  // A few words over and over tell nothing, whatever they tell of.
  if (whole > 0.97) return true
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
 * `stop`, a text that isn't blank, no tool call, no refusal or offer, no page, data, broken JSON or reasoning, no
 * loop, every text of `keep` word for word, no more than `targetTokens`, and a fifth less than what it replaces.
 * No loop is a list that goes on to name what occurs in the material, and no refusal a text of which another
 * sentence names a path, an identifier or a number of it: that is a summary with an honest line in it.
 * A text of less than a fiftieth of its cap (or of what it replaces, where that is less) has to name something
 * that occurs in there; of less than a two-hundredth it is refused. Pure; never throws, whatever came back.
 *
 * The strategies of core ask with `clipped` first and cut what is over its cap to head and tail, so that an answer
 * that is too long is no failure; what is left is checked again, with its cap.
 *
 * Fails with `SummaryError`: `unreadable`, `tool-call`, `stop-reason`, `blank`, `reasoning`, `refusal`,
 * `not-text`, `degenerate`, `missing`, `too-short` or `too-large`. The message never quotes the summary.
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
  { replaces, margin = 0.2, clipped = false }: SummaryCheckOptions = {}
): Result.Result<SummaryResult, SummaryError> => {
  const refuse = (reason: SummaryReason, message: string) =>
    Result.fail(new SummaryError(reason, `The summary was refused: ${message}`))
  const { text, stopReason } = (result ?? {}) as Partial<SummaryResult>
  const { previous = "", material, keep, targetTokens, count } = request
  if (typeof result === "string")
    return refuse("unreadable", 'it is a bare text, no { text, stopReason: "stop" }')
  if (typeof text !== "string") return refuse("unreadable", `its text is ${show(text)}`)
  if (stopReason === undefined)
    return refuse("stop-reason", 'it has no stopReason; a whole answer has "stop"')
  if (/^tool/i.test(String(stopReason))) return refuse("tool-call", "the model called a tool")
  if (stopReason !== "stop") return refuse("stop-reason", `it ended with ${show(stopReason)}`)
  if (!/[\p{L}\p{N}]/u.test(text) || NOTHING.test(text)) return refuse("blank", "it says nothing")
  if (isCall(text)) return refuse("tool-call", "it is a tool call")

  let joined: string | undefined
  const source = (): string => (joined ??= [previous, ...material.map((m) => m.text)].join("\n"))
  if (isLoop(text, source)) return refuse("degenerate", "it repeats itself")
  const not = notSummary(text, source)
  if (not !== undefined) return refuse(...not)

  const missing = keep.filter((wanted) => !text.includes(wanted)).length
  if (missing > 0)
    return refuse("missing", `${missing} of ${keep.length} texts to keep are not in it`)
  const tokens = count(text)
  if (tokens > targetTokens && !clipped)
    return refuse("too-large", `${tokens} tokens, asked for ${targetTokens}`)
  const before = replaces ?? count(source())
  if (tokens > before * (1 - margin)) {
    return refuse("too-large", `${tokens} tokens in the place of ${before} save too little`)
  }
  if (Number.isFinite(targetTokens) && tokens < targetTokens * FEW) {
    const whole = [source(), ...material.map(({ from }) => from)].join("\n")
    const size = Math.min(targetTokens, Number.isFinite(before) ? before : count(whole))
    if (tokens < size * LEAST || (tokens < size * FEW && !namesAny(text, whole)))
      return refuse("too-short", `${tokens} tokens say too little, of ${targetTokens} asked for`)
  }
  return Result.succeed(result)
}

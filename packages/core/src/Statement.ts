import { isConstraint, isDecision, outcomeIn } from "./internal/cues.ts"
import { ends, ERROR, LINE_BREAK, NAMED_ERROR, short, unwrap } from "./internal/statements.ts"

/** What a sentence is to the one who has to remember it. */
export type StatementKind = "constraint" | "decision" | "error" | "outcome"

/** Longer sentences are clipped, in UTF-16 units. */
const LONGEST = 400

/** Texts longer than this are read at their head and their tail only, in UTF-16 units. */
const LOOKED_AT = 65_536

let segmenter: Intl.Segmenter | undefined

/**
 * The sentences of a text in any language, by line, without the marks of lists; each at most 400 units long.
 * Of a text of more than 65 536 units, the head and the tail.
 *
 * @example
 * ```ts
 * import { sentencesOf } from "@varve/core/Statement"
 *
 * console.log([...sentencesOf("- Open v1.2 first. Then save it.\n請先儲存。然後關閉。")])
 * // => [ 'Open v1.2 first.', 'Then save it.', '請先儲存。', '然後關閉。' ]
 * ```
 */
export function* sentencesOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })
  for (const line of ends(text, LOOKED_AT).split(LINE_BREAK)) {
    for (const { segment } of segmenter.segment(line)) {
      const sentence = segment.replace(/^\s*(?:[-*•+>]\s+|\d+[.)]\s+)?/, "").trim()
      if (sentence !== "") yield short(sentence, LONGEST)
    }
  }
}

/**
 * The lines of a text that people write, each whole: a line that was broken in the middle of a sentence goes
 * on in the next one. Items of lists, headings, quotes, tables, code and blank lines stay by themselves. Of a
 * text of more than 65 536 units, the head and the tail. Not for logs and source code, where a line is a line.
 *
 * @example
 * ```ts
 * import { linesOf } from "@varve/core/Statement"
 *
 * console.log(linesOf("You must not\nrestart the payment worker.\n- ask first\n- then wait"))
 * // => [ 'You must not restart the payment worker.', '- ask first', '- then wait' ]
 * ```
 */
export const linesOf = (text: string): ReadonlyArray<string> => unwrap(ends(text, LOOKED_AT))

/**
 * Tells by cues in a dozen languages what a sentence is, or nothing where it is none of these. `from` is as
 * in `Material`: `user`, `assistant`, `tool NAME`. Only the user gives constraints; tools only tell of errors.
 * What the assistant says is not done, is an error; where that isn't clear, nothing.
 *
 * @example
 * ```ts
 * import { statementKind } from "@varve/core/Statement"
 *
 * console.log(statementKind("Never click Delete.", "user")) // => constraint
 * console.log(statementKind("Never click Delete.", "tool browser")) // => undefined
 * ```
 */
export const statementKind = (sentence: string, from: string): StatementKind | undefined => {
  if (from === "user") {
    if (isConstraint(sentence)) return "constraint"
    return isDecision(sentence, "user") ? "decision" : undefined
  }
  if (from === "assistant") {
    if (isDecision(sentence, "assistant")) return "decision"
    const outcome = outcomeIn(sentence)
    if (outcome === true) return "outcome"
    return outcome === false || ERROR.test(sentence) ? "error" : undefined
  }
  return NAMED_ERROR.test(sentence) || (from.endsWith("(error)") && ERROR.test(sentence))
    ? "error"
    : undefined
}

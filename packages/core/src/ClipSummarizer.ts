import * as Effect from "effect/Effect"
import { clipText } from "./Clip.ts"
import type { Summarizer, SummaryRequest } from "./Summarizer.ts"

/** No piece of the material takes more than this share of what is left for it: one log can't fill it all. */
const SHARE = 0.4

const lineOf = ({ from, text }: SummaryRequest["material"][number]): string =>
  `${from}: ${text.trim()}`

/** The text of `clipSummarizer`, without Effect. */
export const clipSummary = (request: SummaryRequest): string => {
  const { previous = "", material, keep, targetTokens, count } = request
  const lines = [...new Set(keep)]
  // What must be kept stands in the previous summary as well; once is enough.
  let before = previous
  for (const text of lines) if (text !== "") before = before.split(text).join("")
  before = before.replace(/\n{2,}/g, "\n").trim()

  let left = targetTokens - (lines.length === 0 ? 0 : count(lines.join("\n")) + 1)
  if (before !== "") {
    const needed = material.length === 0 ? 0 : count(material.map(lineOf).join("\n"))
    before = clipText(before, Math.floor(Math.max(left / 2, left - needed)), count)
    if (before !== "") lines.push(before)
    left = targetTokens - count(lines.join("\n"))
  }

  const newest: Array<string> = []
  while (newest.length < material.length) {
    const last = newest.length === material.length - 1
    const whole = lineOf(material[material.length - 1 - newest.length]!)
    const line = clipText(whole, last ? left - 1 : Math.max(16, Math.floor(left * SHARE)), count)
    // One token each for the line breaks that join it.
    const cost = count(line) + 1
    if (line.trim() === "" || cost > left) break
    newest.push(line)
    left -= cost
  }
  const join = (): string => {
    const out = material.length - newest.length
    const note = out > 0 ? [`[… ${out} earlier ones left out …]`] : []
    return [...lines, ...note, ...newest.toReversed()].join("\n")
  }
  let text = join()
  while (newest.length > 0 && count(text) > targetTokens) {
    newest.pop()
    text = join()
  }
  if (newest.length > 0 || material.length === 0) return text
  return lines.length > 0
    ? lines.join("\n")
    : clipText(lineOf(material.at(-1)!), targetTokens, count)
}

/**
 * Summarises without a model: what must be kept word for word, then the previous summary and the newest of
 * the material, clipped to the target. Deterministic, never fails; the last rung of any fallback.
 *
 * @example
 * ```ts
 * import { clipSummarizer } from "@varve/core/ClipSummarizer"
 * import * as Effect from "effect/Effect"
 *
 * const { text } = await Effect.runPromise(
 *   clipSummarizer()({
 *     previous: "The user plans a dinner.",
 *     material: [{ from: "user", text: "Book a table for two." }],
 *     keep: [],
 *     targetTokens: 100,
 *     count: (text) => text.length / 4
 *   })
 * )
 * console.log(text) // => The user plans a dinner. user: Book a table for two.
 * ```
 */
export const clipSummarizer = (): Summarizer => (request) =>
  Effect.sync(() => ({ text: clipSummary(request), stopReason: "stop", model: "clip" }))

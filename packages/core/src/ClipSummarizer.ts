import * as Effect from "effect/Effect"
import { clipLines, clipText } from "./Clip.ts"
import type { Summarizer, SummaryRequest } from "./Summarizer.ts"

/** No piece of the material takes more than this share of what is left for it: one log can't fill it all. */
const SHARE = 0.4

/** A piece of one line and at most so many tokens, such as a step, is whole or left out. */
const SHORT = 120

/** A text cut to some tokens, which shows that it is cut however few they are. */
const cut = (text: string, tokens: number, count: (text: string) => number): string => {
  const out = clipText(text, tokens, count)
  if (out === text || out.includes("[… ")) return out
  const marked = clipText(text, tokens - 1, count).trimEnd() + "…"
  return marked === "…" || count(marked) > tokens ? out : marked
}

const lineOf = ({ from, text }: SummaryRequest["material"][number]): string =>
  `${from}: ${text.trim()}`

/** The text of `clipSummarizer`, without Effect. */
export const clipSummary = (request: SummaryRequest): string => {
  const { previous = "", material, keep, targetTokens, count } = request
  const kept = [...new Set(keep)].filter((text) => text !== "")
  // What must be kept stands in the previous summary as well; once is enough.
  let before = previous
  for (const text of kept) before = before.split(text).join("")
  before = before.replace(/\n{2,}/g, "\n").trim()

  const newest: Array<string> = []
  const join = (): string => {
    const out = material.length - newest.length
    const note = out > 0 && newest.length > 0 ? [`[… ${out} earlier ones left out …]`] : []
    return [...kept, ...(before === "" ? [] : [before]), ...note, ...newest.toReversed()].join("\n")
  }
  let left = targetTokens - (kept.length === 0 ? 0 : count(kept.join("\n")) + 1)
  if (before !== "") {
    const needed = material.length === 0 ? 0 : count(material.map(lineOf).join("\n"))
    before = clipLines(before, Math.floor(Math.max(left / 2, left - needed)), count)
    left = targetTokens - count(join())
  }
  while (newest.length < material.length) {
    const last = newest.length === material.length - 1
    const whole = lineOf(material[material.length - 1 - newest.length]!)
    const size = whole.includes("\n") ? Infinity : count(whole)
    if (newest.length > 0 && size <= SHORT && size + 1 > left) break
    const room = last || size <= SHORT ? left - 1 : Math.max(16, Math.floor(left * SHARE))
    const line = cut(whole, room, count)
    // One token each for the line breaks that join it.
    const cost = count(line) + 1
    if (line.trim() === "" || cost > left) break
    newest.push(line)
    left -= cost
  }

  let text = join()
  // A counter may find more in the whole than in its parts.
  for (let over = count(text) - targetTokens; over > 0; over = count(text) - targetTokens) {
    if (newest.length > 0) newest.pop()
    else if (before !== "") before = clipLines(before, count(before) - Math.ceil(over), count)
    else break
    text = join()
  }
  if (text.trim() !== "" || material.length === 0) return text
  return cut(lineOf(material.at(-1)!), targetTokens, count)
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
export const clipSummarizer = (): Summarizer =>
  Object.assign(
    (request: SummaryRequest) =>
      Effect.sync(() => ({ text: clipSummary(request), stopReason: "stop", model: "clip" })),
    { free: true }
  )

import { clipSummary } from "@varve/core/ClipSummarizer"
import type { Summarizer, SummaryRequest } from "@varve/core/Summarizer"
import * as Effect from "effect/Effect"
import type { Candidate, LineKind } from "./internal/candidates.ts"
import { candidatesOf, WEIGHT } from "./internal/candidates.ts"
import { lexRank } from "./internal/lexRank.ts"

/** The share of the tokens that lines of a kind get in any case, newest first; what is left goes by worth. */
const SHARES: ReadonlyArray<readonly [kind: LineKind | "before", share: number]> = [
  ["constraint", 0.15],
  ["before", 0.45],
  ["decision", 0.15],
  ["error", 0.15],
  ["outcome", 0.15],
  ["asked", 0.15]
]

/** Lines that share more than this of their terms say the same. */
const SAME = 0.75

/** A summary has at most this share of what it stands for. */
const MOST = 0.75

/** More characters than this a token never stand for; beyond them the source needn't be counted. */
const UNITS_A_TOKEN = 16

const isSame = (a: Candidate, b: Candidate): boolean => {
  // Steps are alike and yet each its own.
  if (a.line.startsWith("step ")) return false
  const [few, many] = a.terms.size < b.terms.size ? [a.terms, b.terms] : [b.terms, a.terms]
  if (few.size < SAME * many.size) return false
  let shared = 0
  for (const term of few.keys()) if (many.has(term)) shared++
  return shared > SAME * (few.size + many.size - shared)
}

/** Tokens that the answer may have: what was asked for, and less than what it stands for. */
const budgetOf = ({ previous = "", material, targetTokens, count }: SummaryRequest): number => {
  let units = previous.length
  for (const { text } of material) units += text.length
  if (units > targetTokens * UNITS_A_TOKEN) return targetTokens
  const source = count([previous, ...material.map(({ text }) => text)].join("\n"))
  return Math.max(1, Math.min(targetTokens, Math.floor(source * MOST)))
}

/** The text of `extractiveSummarizer`, without Effect. */
export const extractiveSummary = (request: SummaryRequest): string => {
  const { count } = request
  const budget = budgetOf(request)
  const kept = [...new Set(request.keep)].filter((text) => text !== "")
  const candidates = candidatesOf({ ...request, keep: kept })
  const ranks = lexRank(candidates.map(({ terms }) => terms))
  const costs = candidates.map(({ line }) => count(line) + 1)
  // What is central counts, and what is new: the end tells how it went.
  const worth = candidates.map(
    ({ kind, at, before }, i) =>
      WEIGHT[kind] * (0.5 + ranks[i]! + (before ? 0.5 : (0.5 * (at + 1)) / candidates.length))
  )
  const byWorth = candidates.map((_, i) => i).toSorted((a, b) => worth[b]! - worth[a]! || b - a)

  const chosen = new Set<number>()
  let left = budget - (kept.length === 0 ? 0 : count(kept.join("\n")) + 1)
  const take = (most: number, wanted: (candidate: Candidate) => boolean): void => {
    let room = Math.min(most, left)
    for (const i of byWorth) {
      const candidate = candidates[i]!
      if (costs[i]! > room || chosen.has(i) || !wanted(candidate)) continue
      if ([...chosen].some((other) => isSame(candidates[other]!, candidate))) continue
      chosen.add(i)
      room -= costs[i]!
      left -= costs[i]!
    }
  }
  for (const [kind, share] of SHARES)
    take(share * budget, ({ before, ...line }) => (before ? "before" : line.kind) === kind)
  take(left, () => true)

  const join = (): string =>
    [...kept, ...candidates.filter((_, i) => chosen.has(i)).map(({ line }) => line)].join("\n")
  let text = join()
  // A counter may find more in the whole than in its parts.
  for (const i of byWorth.toReversed()) {
    if (count(text) <= budget) break
    if (chosen.delete(i)) text = join()
  }
  return chosen.size > 0 ? text : clipSummary({ ...request, targetTokens: budget })
}

/**
 * Summarises without a model, key or network: takes over whole sentences of the material, with whose they
 * are. What must be kept comes first, word for word; then lines of the summary so far, constraints, decisions,
 * errors, outcomes and requests, each with a share of the target; then what says most. What says most is told
 * by LexRank (Erkan and Radev, 2004), in any language: writing without spaces is compared by pairs of
 * characters. Deterministic; never fails; never more than `targetTokens`, unless what must be kept has more.
 *
 * Reads about 400 000 characters of the material, the ends of each piece, so its time is bounded.
 *
 * @example
 * ```ts
 * import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
 * import * as Effect from "effect/Effect"
 *
 * const { text } = await Effect.runPromise(
 *   extractiveSummarizer()({
 *     previous: "user: Find the cheapest flight to Oslo.",
 *     material: [
 *       { from: "tool browser", text: "Menu. Home. Hotels. Cars. Help. Imprint. ".repeat(20) },
 *       { from: "assistant", text: "I found one for 74 EUR with Norwegian." }
 *     ],
 *     keep: ["Never book anything."],
 *     targetTokens: 30,
 *     count: (text) => text.length / 4
 *   })
 * )
 * console.log(text.split("\n"))
 * // => [ 'Never book anything.', 'user: Find the cheapest flight to Oslo.', 'assistant: I found one for 74 EUR with Norwegian.' ]
 * ```
 */
export const extractiveSummarizer = (): Summarizer => (request) =>
  Effect.sync(() => ({ text: extractiveSummary(request), stopReason: "stop", model: "extractive" }))

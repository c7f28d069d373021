import { clipSummary } from "@varve/core/ClipSummarizer"
import type { Summarizer, SummaryRequest } from "@varve/core/Summarizer"
import * as Effect from "effect/Effect"
import type { Candidate } from "./internal/candidates.ts"
import { candidatesOf } from "./internal/candidates.ts"
import type { LineKind } from "./internal/kinds.ts"
import { SHARES, WEIGHT } from "./internal/kinds.ts"
import { lexRank } from "./internal/lexRank.ts"
import { correctionsOf, latest } from "./internal/relations.ts"

/** The share of the tokens that corrections get, the newest first. */
const CORRECTIONS = 0.25

/** The share that calls get of what is left: which files were touched. */
const CALLS = 0.15

/** What is taken only for lack of anything else. */
const SPARE: ReadonlySet<LineKind> = new Set<LineKind>(["called", "did", "little", "noise"])

/** A summary has at most this share of what it stands for. */
const MOST = 0.75

/** More characters than this a token never stand for; beyond them the source needn't be counted. */
const UNITS_A_TOKEN = 16

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
  const candidates = latest(candidatesOf({ ...request, keep: kept }))
  const ranks = lexRank(candidates.map(({ terms }) => terms))
  const correctedBy = correctionsOf(candidates)
  const costs = candidates.map(({ line }) => count(line) + 1)
  // What is central counts, and what is new: the end tells how it went. Of corrections the newest holds.
  const worth = candidates.map(({ kind, at, before }, i) => {
    if (kind === "correction") return WEIGHT.correction * 2 + i
    const newness = before ? 0.5 : (0.5 * (at + 1)) / candidates.length
    return WEIGHT[kind] * (0.5 + ranks[i]! + newness)
  })
  const byWorth = candidates.map((_, i) => i).toSorted((a, b) => worth[b]! - worth[a]! || b - a)

  const chosen = new Set<number>()
  let left = budget - (kept.length === 0 ? 0 : count(kept.join("\n")) + 1)
  const take = (most: number, wanted: (candidate: Candidate) => boolean): void => {
    let room = Math.min(most, left)
    for (const i of byWorth) {
      if (chosen.has(i) || !wanted(candidates[i]!)) continue
      // What was put right stands beside what puts it right, or not at all.
      const by = correctedBy.get(i)
      if (costs[i]! > room || (by !== undefined && !chosen.has(by))) continue
      chosen.add(i)
      room -= costs[i]!
      left -= costs[i]!
    }
  }
  const newest = candidates.findLast(({ kind }) => kind === "correction")
  take(left, (candidate) => candidate === newest)
  const isOpen = ({ kind }: Candidate): boolean =>
    kind !== "correction" || (newest !== undefined && chosen.has(candidates.indexOf(newest)))
  take(CORRECTIONS * budget, (line) => line.kind === "correction" && isOpen(line))
  for (const [kind, share] of SHARES)
    take(share * budget, (line) => (line.before ? "before" : line.kind) === kind && isOpen(line))
  take(left, (line) => !SPARE.has(line.kind) && isOpen(line))
  take(CALLS * budget, ({ kind }) => kind === "called" || kind === "did")
  if (chosen.size === 0) take(left, isOpen)

  const join = (): string =>
    [...kept, ...candidates.filter((_, i) => chosen.has(i)).map(({ line }) => line)].join("\n")
  let text = join()
  // A counter may find more in the whole than in its parts.
  for (const i of byWorth.toReversed()) {
    if (count(text) <= budget) break
    if (chosen.delete(i)) text = join()
  }
  if (chosen.size > 0) return text
  // As much of the newest correction as fits, before anything that it may put right.
  const only =
    newest === undefined
      ? {}
      : {
          previous: undefined,
          material: [{ from: "user", text: newest.line.replace(/^user: /, "") }]
        }
  return clipSummary({ ...request, ...only, targetTokens: budget })
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
export const extractiveSummarizer = (): Summarizer =>
  Object.assign(
    (request: SummaryRequest) =>
      Effect.sync(() => ({
        text: extractiveSummary(request),
        stopReason: "stop",
        model: "extractive"
      })),
    { free: true }
  )

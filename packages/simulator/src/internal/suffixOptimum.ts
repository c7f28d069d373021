import type { Piece } from "../CacheModel.ts"
import type { OptimumOptions } from "../Optimum.ts"
import type { Laid } from "../Pieces.ts"
import type { Trace } from "../Trace.ts"
import { aligned } from "./course.ts"
import { settingsOf } from "./settings.ts"
import { suffixPlans, type SuffixPlans } from "./suffixPlan.ts"

/** An edit as the pieces of requests show it: where, since when, and what stands there then. */
interface PieceEdit {
  readonly piece: number
  readonly from: number
  readonly saved: number
  /** Nothing where the piece is gone. */
  readonly to: Piece | undefined
}

/**
 * The edits behind a run's requests, by position. Nothing where they are none that a schedule of suffixes can be
 * found for: where a piece changes twice, or an older one is edited later than a newer one.
 */
const editsOf = (
  raw: ReadonlyArray<Laid>,
  edited: ReadonlyArray<Laid>
): ReadonlyArray<PieceEdit> | undefined => {
  const found = new Map<number, PieceEdit>()
  let before: ReadonlyArray<Piece> = []
  for (const [t, { pieces }] of raw.entries()) {
    if (before.some(({ key }, i) => pieces[i]?.key !== key)) return undefined
    before = pieces
    const shown = aligned(pieces, edited[t]!.pieces)
    if (shown === undefined) return undefined
    for (const [piece, { key, tokens }] of pieces.entries()) {
      const to = shown[piece]
      const known = found.get(piece)
      if (to?.key === (known === undefined ? key : known.to?.key)) continue
      if (known !== undefined) return undefined
      found.set(piece, { piece, from: t, saved: tokens - (to?.tokens ?? 0), to })
    }
  }
  const edits = [...found.values()].toSorted((a, b) => a.piece - b.piece)
  return edits.some(({ from }, i) => from < (edits[i - 1]?.from ?? 0)) ? undefined : edits
}

/** Schedules whose commits take suffixes. */
export interface SuffixOptimum {
  /** For each length of the run: what doing nothing costs, less what the best schedule gains. About right. */
  readonly gains: SuffixPlans["gains"]
  /** Schedules of the whole run, one of which is about the best: requests, and the piece a commit begins at. */
  readonly plans: ReadonlyArray<ReadonlyArray<{ readonly request: number; readonly piece: number }>>
}

/** The best schedules of suffixes by the prices of the first tier; nothing where there are none. */
export const suffixOptimum = (
  trace: Trace,
  raw: ReadonlyArray<Laid>,
  edited: ReadonlyArray<Laid>,
  { cache, profile, marks = false }: OptimumOptions
): SuffixOptimum | undefined => {
  const edits = editsOf(raw, edited)
  if (edits === undefined || edits.length === 0) return undefined
  const { requests } = trace
  const { lifetime, lookback } = settingsOf(profile.cache)
  const read = profile.prices.cacheRead
  const write = cache === "none" ? profile.prices.input : profile.prices.cacheWrite
  const all = raw.at(-1)!.pieces
  const sums = [0]
  /** What a read looks back over, up to each piece: positions, or messages that could carry a mark. */
  const places = [0]
  for (const { markable, positions = 1, tokens } of all) {
    sums.push(sums.at(-1)! + tokens)
    places.push(places.at(-1)! + (cache === "anthropic" ? positions : +markable))
  }
  const ends = raw.map(({ pieces }) => pieces.length)
  const cold = requests.map(
    ({ at }, t) => cache === "none" || t === 0 || at - requests[t - 1]!.at > lifetime
  )
  const free = cache === "lcp" || marks
  /** A commit at a piece: what stood behind it is written, less what is gone, and no longer read. */
  const rewrite = (piece: number, t: number, saved: number): number => {
    const stood = sums[ends[t - 1]!]! - sums[piece]!
    return cold[t] ? -write * saved : write * (stood - saved) - read * stood
  }
  /** Without marks a commit is read as far as a request ended behind the last one further up, if that is near. */
  const plansFor = (isNear: (edit: number, t: number, since: number) => boolean): SuffixPlans =>
    suffixPlans({
      length: requests.length,
      from: edits.map(({ from }) => from),
      saved: edits.map(({ saved }) => saved),
      price: cold.map((isCold) => (isCold ? write : read)),
      cost: (edit, t, saved, since) =>
        free || cold[t]! || isNear(edit, t, since)
          ? rewrite(edits[edit]!.piece, t, saved)
          : Infinity,
      // Nobody sets a mark at the system text of OpenAI's.
      whole: (t, saved) => rewrite(cache === "openai-56" && !marks ? 0 : 1, t, saved)
    })
  const isInReach = (edit: number, t: number): boolean =>
    places[ends[t]!]! - places[edits[edit]!.piece]! < lookback
  const plans = plansFor(
    (edit, t, since) => isInReach(edit, t) && ends[since]! <= edits[edit]!.piece
  )
  // Where it ended further up, less is read. How much less, these plans don't know; their bill does.
  const others = free ? [] : [plansFor(isInReach)]

  return {
    gains: plans.gains,
    plans: [plans, ...others].map(({ plan }) =>
      plan(requests.length).map(({ edit, request }) => ({ request, piece: edits[edit]!.piece }))
    )
  }
}

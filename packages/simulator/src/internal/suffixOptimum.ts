import { costOf } from "../Bill.ts"
import type { Piece } from "../CacheModel.ts"
import { CacheModel } from "../CacheModel.ts"
import type { OptimumOptions, PlannedCommit } from "../Optimum.ts"
import type { Laid } from "../Pieces.ts"
import type { Trace } from "../Trace.ts"
import { suffixPlans, type SuffixPlans } from "./suffixPlan.ts"

/** An edit as the pieces of requests show it: where, since when, and what stands there then. */
interface PieceEdit {
  readonly piece: number
  readonly from: number
  readonly saved: number
  /** Nothing where the piece is gone. */
  readonly to: Piece | undefined
}

/** What became of each piece of a request; nothing where that can't be said. */
const aligned = (
  raw: ReadonlyArray<Piece>,
  edited: ReadonlyArray<Piece>
): ReadonlyArray<Piece | undefined> | undefined => {
  if (raw.length === edited.length) return edited
  let at = 0
  const out = raw.map((piece) => (edited[at]?.key === piece.key ? edited[at++] : undefined))
  return at === edited.length ? out : undefined
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

/** Positions that a read looks back, where nobody sets a mark. */
const LOOKBACK = 20

/** Schedules whose commits take suffixes; nothing where there are none. */
export interface SuffixOptimum {
  /** For each length of the run: what doing nothing costs, less what the best schedule gains. About right. */
  readonly gains: SuffixPlans["gains"]
  /** USD of the best schedule of each length, billed to the token, and the schedule. */
  readonly best: (length: number) => {
    readonly cost: number
    readonly commits: ReadonlyArray<PlannedCommit>
  }
}

export const suffixOptimum = (
  trace: Trace,
  raw: ReadonlyArray<Laid>,
  edited: ReadonlyArray<Laid>,
  { cache, profile, marks = false }: OptimumOptions
): SuffixOptimum | undefined => {
  const edits = editsOf(raw, edited)
  if (edits === undefined || edits.length === 0) return undefined
  const { requests } = trace
  const { lifetime } = profile.cache
  const read = profile.prices.cacheRead
  const write = cache === "none" ? profile.prices.input : profile.prices.cacheWrite
  const all = raw.at(-1)!.pieces
  const sums = [0]
  for (const { tokens } of all) sums.push(sums.at(-1)! + tokens)
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
      whole: (t, saved) => rewrite(1, t, saved)
    })
  const isInReach = (edit: number, t: number): boolean => ends[t]! - edits[edit]!.piece < LOOKBACK
  const plans = plansFor(
    (edit, t, since) => isInReach(edit, t) && ends[since]! <= edits[edit]!.piece
  )
  // Where it ended further up, less is read. How much less, these plans don't know; their bill does.
  const others = free ? [] : [plansFor(isInReach)]

  /** Bills a schedule to the token. Marks stand where the next commits will change something. */
  const billed = (plan: ReturnType<SuffixPlans["plan"]>, length: number): number => {
    const model = new CacheModel(cache, profile.cache)
    const inForce = new Set<number>()
    let cost = 0
    for (let t = 0; t < length; t++) {
      for (const { edit, request } of plan)
        if (request === t)
          for (let e = edit; e < edits.length && edits[e]!.from <= t; e++) inForce.add(e)
      const shown = raw[t]!.pieces.slice() as Array<Piece | undefined>
      for (const e of inForce) shown[edits[e]!.piece] = edits[e]!.to
      const pieces: Array<Piece> = []
      const next = plan.filter(({ request }) => request > t).slice(0, 2)
      const stops = new Set(next.map(({ edit }) => edits[edit]!.piece))
      const set = [0]
      for (const [i, piece] of shown.entries()) {
        if (marks && stops.has(i)) set.push(pieces.length - 1)
        if (piece !== undefined) pieces.push(piece)
      }
      set.push(pieces.findLastIndex((p) => p.markable))
      cost += costOf(model.bill(pieces, requests[t]!.at, set), requests[t]!.output, profile.prices)
    }
    return cost
  }
  const { ofMessage } = raw.at(-1)!
  const best: SuffixOptimum["best"] = (length) =>
    [plans, ...others]
      .map(({ plan: of }) => {
        const plan = of(length)
        return {
          cost: billed(plan, length),
          commits: plan.map(({ edit, request }) => ({
            request,
            from: edit === 0 ? 0 : ofMessage.lastIndexOf(edits[edit - 1]!.piece) + 1
          }))
        }
      })
      .reduce((a, b) => (b.cost < a.cost ? b : a))
  return { gains: plans.gains, best }
}

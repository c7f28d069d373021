import { costOf } from "../Bill.ts"
import type { Piece } from "../CacheModel.ts"
import type { OptimumOptions } from "../Optimum.ts"
import type { Laid } from "../Pieces.ts"
import type { Trace } from "../Trace.ts"
import { settingsOf } from "./settings.ts"

/** What stands in a piece's place from a request on, if a commit takes it. */
interface Version {
  readonly from: number
  readonly key: string
  readonly tokens: number
  /** 0 where the piece is gone. */
  readonly positions: number
}

/** A run and the edits behind it, by piece. */
export interface Course {
  /** Of the last request, without edits. */
  readonly pieces: ReadonlyArray<Piece>
  /** For each request, how many of them it has. */
  readonly ends: ReadonlyArray<number>
  /** For each piece, what takes its place, by request. */
  readonly versions: ReadonlyArray<ReadonlyArray<Version>>
  /** Pieces that something takes the place of. */
  readonly cuts: ReadonlyArray<number>
}

/** What became of each piece of a request; nothing where that can't be said. */
export const aligned = (
  raw: ReadonlyArray<Piece>,
  edited: ReadonlyArray<Piece>
): ReadonlyArray<Piece | undefined> | undefined => {
  if (raw.length === edited.length) return edited
  let at = 0
  const out = raw.map((piece) => (edited[at]?.key === piece.key ? edited[at++] : undefined))
  return at === edited.length ? out : undefined
}

/** The edits of a run; nothing where its requests are not appended to, or pieces can't be told apart. */
export const courseOf = (
  raw: ReadonlyArray<Laid>,
  edited: ReadonlyArray<Laid>
): Course | undefined => {
  const versions: Array<Array<Version>> = []
  let before: ReadonlyArray<Piece> = []
  for (const [t, { pieces }] of raw.entries()) {
    if (before.some(({ key }, i) => pieces[i]?.key !== key)) return undefined
    before = pieces
    const shown = aligned(pieces, edited[t]!.pieces)
    if (shown === undefined) return undefined
    for (const [piece, { key }] of pieces.entries()) {
      const to = shown[piece]
      const own = (versions[piece] ??= [])
      if ((to?.key ?? "") === (own.at(-1)?.key ?? key)) continue
      const positions = to === undefined ? 0 : (to.positions ?? 1)
      own.push({ from: t, key: to?.key ?? "", tokens: to?.tokens ?? 0, positions })
    }
  }
  const ends = raw.map(({ pieces }) => pieces.length)
  const cuts = versions.flatMap((own, piece) => (own.length > 0 ? [piece] : []))
  return { pieces: before, ends, versions, cuts }
}

/** For each request the piece at or behind which all that is staged comes into force; -1: nothing does. */
export type Schedule = Int32Array

/**
 * What a run costs with a schedule, in USD: what `CacheModel` bills, without laying out every request anew. With
 * marks they stand behind what is left of the request before, and where the next commit will change something.
 */
export const biller = (
  { ends, pieces, versions }: Course,
  { requests }: Trace,
  { cache, profile, marks = false }: OptimumOptions
): ((schedule: Schedule) => number) => {
  const { lifetime, lookback, marks: most, minimum, step } = settingsOf(profile.cache)
  const size = pieces.length
  /** Tokens, positions and messages that could carry a mark, up to each piece. */
  const sums = new Float64Array(size + 1)
  const places = new Int32Array(size + 1)
  const endings = new Int32Array(size + 1)
  const inForce = new Int32Array(size)
  const isMarked = cache === "anthropic" || cache === "openai-56"

  const isGone = (p: number): boolean =>
    inForce[p]! >= 0 && versions[p]![inForce[p]!]!.positions === 0
  /** Brings into force what is staged at or behind a piece, and says where the first change is. */
  const commit = (t: number, cut: number, end: number): number => {
    let first = end
    for (let p = cut; p < end; p++) {
      const own = versions[p]!
      let version = own.length - 1
      while (version >= 0 && own[version]!.from > t) version--
      if (version <= inForce[p]!) continue
      inForce[p] = version
      if (p < first) first = p
    }
    return first
  }
  const layOut = (from: number, end: number): void => {
    for (let p = from; p < end; p++) {
      const { markable: canStand, positions = 1, tokens } = pieces[p]!
      const version = inForce[p]! < 0 ? undefined : versions[p]![inForce[p]!]!
      sums[p + 1] = sums[p]! + (version?.tokens ?? tokens)
      places[p + 1] = places[p]! + (version?.positions ?? positions)
      endings[p + 1] = endings[p]! + (canStand && version?.positions !== 0 ? 1 : 0)
    }
  }
  /** The nearest piece at or before one that is there and, at OpenAI, can carry a mark. */
  const markAt = (from: number, mayBeAny: boolean): number => {
    let p = from
    while (p >= 0 && (isGone(p) || !(mayBeAny || pieces[p]!.markable))) p--
    return p
  }

  /** Where marks stand in a request of so many pieces, ascending; `behind`: pieces at whose border one is set. */
  const marksOf = (end: number, behind: ReadonlyArray<number>): ReadonlyArray<number> => {
    const mayBeAny = cache === "anthropic"
    const set = [...behind.map((n) => markAt(n - 1, mayBeAny)), markAt(end - 1, false)]
    if (mayBeAny) set.push(0)
    return [...new Set(set)]
      .filter((p) => p >= 0 && sums[p + 1]! >= minimum)
      .toSorted((a, b) => a - b)
  }
  /** The last piece up to which a request is read; -1: nothing is. `alive`: until when an entry ends there. */
  const hitOf = (alive: Float64Array, at: number, usable: ReadonlyArray<number>): number => {
    let hit = -1
    if (cache === "anthropic") {
      for (const m of usable.slice(-most))
        for (let p = m; p > hit && places[m + 1]! - places[p + 1]! < lookback; p--)
          if (alive[p]! >= at) hit = p
      return hit
    }
    const last = usable.at(-1)!
    for (const m of usable) if (alive[m]! >= at) hit = m
    for (let p = last; p > hit && endings[last + 1]! - endings[p + 1]! <= lookback; p--)
      if (pieces[p]!.markable && alive[p]! >= at) hit = p
    return hit
  }

  return (schedule) => {
    /** For each request where the next commit behind it will change something; 0: nowhere. */
    const next = new Int32Array(schedule.length)
    inForce.fill(-1)
    if (marks && isMarked) {
      const changes = schedule.map((cut, t) => {
        if (cut < 0) return 0
        const change = commit(t, cut, ends[t]!)
        return t > 0 && change < ends[t - 1]! ? change : 0
      })
      for (let t = schedule.length - 2; t >= 0; t--) next[t] = changes[t + 1]! || next[t + 1]!
      inForce.fill(-1)
    }
    /** Until when an entry that ends with a piece is alive, ms. */
    const alive = new Float64Array(size).fill(-Infinity)
    let cost = 0
    let laid = 0
    let before = { end: 0, at: -Infinity, isCached: false }
    for (const [t, cut] of schedule.entries()) {
      const { at, output } = requests[t]!
      const end = ends[t]!
      const change = cut < 0 ? end : commit(t, cut, end)
      alive.fill(-Infinity, change)
      layOut(Math.min(laid, change), end)
      laid = end
      const total = sums[end]!
      let read = 0
      let upTo = total
      if (cache === "lcp") {
        const shared = sums[Math.min(change, before.end)]!
        const hit = Math.floor(shared / step) * step
        if (before.isCached && at - before.at <= lifetime && hit >= minimum) read = hit
        before = { end, at, isCached: total >= minimum }
      } else if (isMarked) {
        const left = t === 0 ? 0 : Math.min(change, ends[t - 1]!)
        const usable = marksOf(end, marks ? [left, Math.min(next[t]!, end)] : [])
        const last = usable.at(-1)
        const written = usable.slice(-most)
        const hit = last === undefined ? -1 : hitOf(alive, at, usable)
        if (hit >= 0) alive[hit] = at + lifetime
        for (const p of written) alive[p] = at + lifetime
        read = hit < 0 ? 0 : sums[hit + 1]!
        upTo = last === undefined ? 0 : Math.max(read, sums[last + 1]!)
      } else upTo = 0
      cost += costOf({ read, write: upTo - read, uncached: total - upTo }, output, profile.prices)
    }
    return cost
  }
}

/** What a schedule is made for: edits in order of their position, each staged once. Tokens, prices by token. */
export interface Staging {
  /** Requests of the run. */
  readonly length: number
  /** For each edit: the request with which it is staged (never less than that of the one before). */
  readonly from: ReadonlyArray<number>
  /** For each edit: what it takes away. */
  readonly saved: ReadonlyArray<number>
  /** What a token that stands costs in each request. */
  readonly price: ReadonlyArray<number>
  /**
   * What a commit adds to the cost of a request when it takes all edits at and behind one of them, which take
   * `saved` away; `Infinity` where there is no such commit. `since` is the last request with a commit further up.
   */
  readonly cost: (edit: number, request: number, saved: number, since: number) => number
  /** The same for a commit that re-writes everything and takes all edits. */
  readonly whole: (request: number, saved: number) => number
}

/** One commit: everything staged at or behind this edit comes into force with this request. */
interface Commit {
  readonly request: number
  readonly edit: number
}

/** The best schedules for runs of every length up to the whole one. */
export interface SuffixPlans {
  /** For each length what the best schedule adds to the cost of doing nothing: 0 or less. */
  readonly gains: ReadonlyArray<number>
  /** The schedule for a run of so many requests. */
  readonly plan: (length: number) => ReadonlyArray<Commit>
}

/**
 * The best schedules in which each commit takes a suffix of the edits, by position. A commit at an edit takes
 * all staged edits behind it as well, since they re-write nothing more. So what it costs doesn't depend on what
 * came before, and a window of time can be solved by itself: its oldest edit comes into force with one commit or
 * with none; before that commit only the others can, behind it only those that are staged later.
 */
export const suffixPlans = (given: Staging): SuffixPlans => {
  const { length: n, from, saved, price, cost, whole } = given
  const edits = from.length
  const prices = new Float64Array(n + 1)
  for (let t = 0; t < n; t++) prices[t + 1] = prices[t]! + price[t]!
  const sums = new Float64Array(edits + 1)
  for (let e = 0; e < edits; e++) sums[e + 1] = sums[e]! + saved[e]!
  /** Edits that are staged with or before each request. */
  const staged = new Int32Array(n + 1)
  for (let t = 0, e = 0; t <= n; t++) {
    while (e < edits && from[e]! <= t) e++
    staged[t] = e
  }
  /** Of the edits staged behind request `i` alone: for each end, by the oldest that may come into force. */
  const fresh: Array<Float64Array> = []
  const solve = (i: number): ReadonlyArray<Float64Array> => {
    const first = staged[i]!
    const by: Array<Float64Array> = Array.from({ length: edits + 1 })
    by[edits] = new Float64Array(n + 1)
    for (let q = edits - 1; q >= first; q--) {
      const before = by[q + 1]!
      const best = before.slice()
      for (let m = Math.max(from[q]!, i + 1); m < n; m++) {
        const takes = sums[staged[m]!]! - sums[q]!
        const start = before[m]! + cost(q, m, takes, i)
        if (start === Infinity) continue
        const later = fresh[m]!
        for (let j = m + 1; j <= n; j++) {
          const value = start - takes * (prices[j]! - prices[m + 1]!) + later[j]!
          if (value < best[j]!) best[j] = value
        }
      }
      by[q] = best
    }
    return by
  }
  for (let i = n - 1; i >= 0; i--) fresh[i] = solve(i)[staged[i]!]!

  // Commits of everything part the run; between two of them are windows of their own.
  const upTo = new Float64Array(n + 1).fill(Infinity)
  const parted = new Int32Array(n + 1).fill(-1)
  upTo[0] = 0
  const chain = (m: number, j: number): number =>
    upTo[m]! + fresh[m]![j]! - (m === 0 ? 0 : sums[staged[m]!]! * (prices[j]! - prices[m + 1]!))
  for (let j = 1; j < n; j++) {
    const own = whole(j, sums[staged[j]!]!)
    for (let m = 0; m < j; m++) {
      const value = chain(m, j) + own
      if (value < upTo[j]!) {
        upTo[j] = value
        parted[j] = m
      }
    }
  }
  const endOf = (length: number): number => {
    let best = 0
    for (let m = 1; m < length; m++) if (chain(m, length) < chain(best, length)) best = m
    return best
  }
  const gains = Array.from({ length: n + 1 }, (_, j) => (j === 0 ? 0 : chain(endOf(j), j)))

  const within = (i: number, end: number): ReadonlyArray<Commit> => {
    const by = solve(i)
    const walk = (j: number, oldest: number): Array<Commit> => {
      for (let q = oldest; q < edits; q++) {
        const value = by[q]![j]!
        if (value === by[q + 1]![j]!) continue
        for (let m = Math.max(from[q]!, i + 1); m < j; m++) {
          const takes = sums[staged[m]!]! - sums[q]!
          const start = by[q + 1]![m]! + cost(q, m, takes, i)
          const other = start - takes * (prices[j]! - prices[m + 1]!) + fresh[m]![j]!
          if (other === value) return [...walk(m, q + 1), { request: m, edit: q }, ...within(m, j)]
        }
      }
      return []
    }
    return walk(end, staged[i]!)
  }
  const plan = (length: number): ReadonlyArray<Commit> => {
    const parts: Array<ReadonlyArray<Commit>> = []
    for (let j = length, m = endOf(length); ; j = m, m = parted[m]!) {
      parts.unshift(within(m, j))
      if (m === 0) break
      parts.unshift([{ request: m, edit: 0 }])
    }
    return parts.flat()
  }
  return { gains, plan }
}

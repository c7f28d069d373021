import type { Course, Schedule } from "./course.ts"

/** Schedules that are tried at most. */
const TRIALS = 6000
/** How far a commit is moved in one step: in requests, and in places where it may begin. */
const FAR = 6

/**
 * Makes a schedule better for as long as one step does: a commit less, one more, one at another request, or one that
 * begins elsewhere. `cost` says what a schedule costs.
 */
export const improve = (
  start: Schedule,
  { cuts, versions }: Course,
  cost: (schedule: Schedule) => number
): { readonly schedule: Schedule; readonly cost: number } => {
  const schedule = start.slice()
  let best = cost(schedule)
  let trials = 1
  /** Takes over some requests' commits if that is cheaper. */
  const take = (...changes: ReadonlyArray<readonly [request: number, cut: number]>): boolean => {
    if (trials >= TRIALS) return false
    const old = changes.map(([t]) => [t, schedule[t]!] as const)
    for (const [t, cut] of changes) schedule[t] = cut
    trials++
    const now = cost(schedule)
    if (now < best - 1e-12) {
      best = now
      return true
    }
    for (const [t, cut] of old.toReversed()) schedule[t] = cut
    return false
  }
  const length = schedule.length
  /** Where a commit with a request may begin. */
  const beginnings = Array.from({ length }, (_, t) =>
    cuts.filter((piece) => versions[piece]!.some(({ from }) => from <= t))
  )
  const sweep = (): boolean => {
    const was = best
    for (let t = 1; t < length; t++) {
      const own = beginnings[t]!
      if (schedule[t]! < 0) {
        // All of it, or the newest.
        for (const cut of new Set([...own.slice(0, 1), ...own.slice(-FAR)]))
          if (take([t, cut])) break
        continue
      }
      if (take([t, -1])) continue
      const at = own.findIndex((piece) => piece >= schedule[t]!)
      for (let i = Math.max(0, at - FAR); i <= at + FAR && i < own.length; i++) take([t, own[i]!])
      take([t, own[0]!])
      for (let by = 1; by <= FAR && schedule[t]! >= 0; by++)
        for (const to of [t - by, t + by]) {
          if (to < 1 || to >= length || schedule[to]! >= 0 || schedule[t]! < 0) continue
          take([to, schedule[t]!], [t, -1])
        }
    }
    return best < was
  }
  while (trials < TRIALS && sweep());
  return { schedule, cost: best }
}

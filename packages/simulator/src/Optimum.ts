import type { Message } from "@varve/core"
import { costOf } from "./Bill.ts"
import type { Billed } from "./CacheModel.ts"
import { biller, courseOf, type Course, type Schedule } from "./internal/course.ts"
import { improve } from "./internal/improve.ts"
import { replay } from "./internal/replay.ts"
import { settingsOf } from "./internal/settings.ts"
import { suffixOptimum } from "./internal/suffixOptimum.ts"
import { piecesOf, type Laid } from "./Pieces.ts"
import type { Keep } from "./Policy.ts"
import { slide } from "./Policy.ts"
import type { Simulated, SimulateOptions } from "./simulate.ts"
import type { Trace } from "./Trace.ts"

/** One commit of a schedule. */
export interface PlannedCommit {
  /** The request, counted from 0, with which edits come into force. */
  readonly request: number
  /** Everything staged at or behind this position in the host's history; 0: everything. */
  readonly from: number
}

/** The best that was found over a run with the same edits. */
export interface Optimum {
  /** USD: what its schedule costs, billed like any policy. */
  readonly cost: number
  readonly commits: ReadonlyArray<PlannedCommit>
  /** For each request, USD of about the best schedule for a run that ends with it; the last one is `cost`. */
  readonly costs: ReadonlyArray<number>
  /** The run with that schedule, request by request. */
  readonly replay: Simulated
}

/** What `optimum` takes. */
export interface OptimumOptions extends SimulateOptions {
  /** True where the host sets cache marks: here knowing where the next commit will change something. */
  readonly marks?: boolean
  /**
   * Share by which a schedule may be above doing nothing, at any request: so that it would be no more, wherever
   * the run ended. Default: any. With it only commits of all edits are looked at.
   */
  readonly risk?: number
}

/** A request's pieces as numbers, and the tokens up to and with each. */
interface Row {
  readonly keys: ReadonlyArray<number>
  readonly sums: ReadonlyArray<number>
}

/** A schedule of suffixes has to be better by this share, since its prices are about right. */
const WORTH = 0.002

/** A schedule's state: which commit was the last, and what all has cost up to and with the request of it. */
interface Plan {
  readonly row: Row
  readonly cost: number
  readonly before: number
}

/** A commit of everything, or of what lies behind the piece before. */
const commitsOf = (
  schedule: Schedule,
  { cuts }: Course,
  { ofMessage }: Laid
): ReadonlyArray<PlannedCommit> =>
  [...schedule.entries()].flatMap(([request, cut]) => {
    if (cut < 0) return []
    const above = cuts.findLast((piece) => piece < cut)
    return [{ request, from: above === undefined ? 0 : ofMessage.lastIndexOf(above) + 1 }]
  })

/**
 * The offline optimum: the best requests at which to bring the edits of `keep` into force, knowing the whole
 * run. Between commits the history is only appended to, and what is kept is at every request at least what the
 * sliding window keeps. Two searches say where to begin:
 *
 * - commits that each take all edits that are staged, by dynamic programming over the last commit: two requests
 *   and their common prefix say what a commit costs, whatever came before. The cache is taken at its best: what
 *   a commit leaves as it was is read (`lcp`: in steps; the others with marks), or no more than the system text is
 *   (`anthropic` without marks), or nothing (`openai-56` without marks);
 * - commits that take those behind a cut, where the edits are staged in the order of their positions, one a
 *   piece, by the prices of the first tier.
 *
 * What they find is made better step by step, billed to the token, and at last replayed as any policy is. `costs`
 * of shorter runs are the searches' own figures.
 *
 * Time grows with the fourth power of the requests, memory with their square: 300 requests take seconds.
 *
 * @example
 * ```ts
 * import { defaultProfile } from "@varve/core"
 * import { guiRun, optimum, syntheticCounter } from "@varve/simulator"
 *
 * const options = { cache: "lcp", profile: defaultProfile, counter: syntheticCounter(1560) } as const
 * const { cost, replay } = await optimum(guiRun({ steps: 30 }), 3, options)
 * console.log(cost === replay.cost, replay.requests.length) // => true 30
 * ```
 */
export const optimum = async (
  trace: Trace,
  keep: Keep,
  options: OptimumOptions
): Promise<Optimum> => {
  const { cache, profile, counter, marks = false, risk = Infinity } = options
  const { requests } = trace
  const known = new Map<string, number>()
  const rowOf = ({ pieces }: Laid): Row => {
    let sum = 0
    return {
      keys: pieces.map(({ key }) => {
        const id = known.get(key) ?? known.size
        known.set(key, id)
        return id
      }),
      sums: pieces.map(({ tokens }) => (sum += tokens))
    }
  }
  const lay = (messages: ReadonlyArray<Message>): Laid =>
    piecesOf(messages, trace.overhead, counter)
  const rawPieces = requests.map(({ history }) => lay(history))
  const raw = rawPieces.map(rowOf)
  const running = slide(keep).start({ profile, counter })
  const editedPieces: Array<Laid> = []
  for (const { history, at } of requests)
    editedPieces.push(lay((await running.prepare(history, at)).messages))
  await running.close()
  const edited = editedPieces.map(rowOf)

  const { lifetime, minimum, step } = settingsOf(profile.cache)
  // Nobody sets a mark at the system text of OpenAI's.
  const system = cache === "openai-56" ? 0 : trace.overhead
  const reach = cache === "lcp" || marks ? Infinity : system
  const price = (t: number, total: number, prefix: number): number => {
    const { at, output } = requests[t]!
    const isCold = cache === "none" || t === 0 || at - requests[t - 1]!.at > lifetime
    const hit = isCold ? 0 : cache === "lcp" ? Math.floor(prefix / step) * step : prefix
    const read = hit < minimum ? 0 : hit
    const billed: Billed =
      cache === "none" || total < minimum
        ? { read: 0, write: 0, uncached: total }
        : { read, write: total - read, uncached: 0 }
    return costOf(billed, output, profile.prices)
  }

  const total = (row: Row): number => row.sums.at(-1) ?? 0
  let idle = 0
  const nothing = raw.map(
    (row, t) => (idle += price(t, total(row), t === 0 ? 0 : total(raw[t - 1]!)))
  )
  const most = nothing.map((cost) => cost * (1 + risk) + 1e-12)

  const costs = requests.map(() => Infinity)
  const last = requests.map(() => -1)
  const best: Array<Plan | undefined> = requests.map(() => undefined)
  // The plan of the last commit at `s`; -1: none so far.
  for (let s = -1; s < requests.length; s++) {
    const plan = s < 0 ? { row: { keys: [], sums: [] }, cost: 0, before: -1 } : best[s]
    if (plan === undefined) continue
    let { cost } = plan
    const base = s < 0 ? 0 : total(plan.row) - total(raw[s]!)
    if (s >= 0 && cost < costs[s]!) {
      costs[s] = cost
      last[s] = s
    }
    for (let t = s + 1; t < requests.length; t++) {
      const sent = t === 0 ? 0 : base + total(raw[t - 1]!)
      if (t > 0) {
        const target = edited[t]!
        const prefix = Math.min(
          reach,
          sharedTokens(plan.row, s < 0 ? undefined : raw[s]!, raw[t - 1]!, target)
        )
        const committed = cost + price(t, total(target), prefix)
        if (committed <= most[t]! && committed < (best[t]?.cost ?? Infinity)) {
          best[t] = { row: target, cost: committed, before: s }
        }
      }
      cost += price(t, base + total(raw[t]!), sent)
      if (cost > most[t]!) break
      if (cost < costs[t]!) {
        costs[t] = cost
        last[t] = s
      }
    }
  }
  const whole: Array<number> = []
  for (let s = last.at(-1) ?? -1; s >= 0; s = best[s]!.before) whole.unshift(s)

  const course = risk === Infinity ? courseOf(rawPieces, editedPieces) : undefined
  const suffixes =
    course === undefined ? undefined : suffixOptimum(trace, rawPieces, editedPieces, options)
  for (const t of raw.keys()) {
    if (suffixes === undefined) break
    const about = nothing[t]! + suffixes.gains[t + 1]! / 1e6
    if (about < costs[t]! * (1 - WORTH)) costs[t] = about
  }

  const all = (chosen: ReadonlyArray<number>): ReadonlyArray<PlannedCommit> =>
    chosen.map((request) => ({ request, from: 0 }))
  const found: Array<ReadonlyArray<PlannedCommit>> = []
  if (course !== undefined) {
    const scheduled = (plan: ReadonlyArray<readonly [number, number]>): Schedule => {
      const schedule = new Int32Array(requests.length).fill(-1)
      for (const [request, piece] of plan)
        schedule[request] = schedule[request]! < 0 ? piece : Math.min(piece, schedule[request]!)
      return schedule
    }
    const first = course.cuts[0] ?? 0
    const starts = [
      scheduled(whole.map((request) => [request, first])),
      ...(suffixes?.plans ?? []).map((plan) =>
        scheduled(plan.map(({ piece, request }) => [request, piece]))
      )
    ]
    const bill = biller(course, trace, options)
    const start = starts.reduce((a, b) => (bill(b) < bill(a) ? b : a))
    const { schedule } = improve(start, course, bill)
    found.push(commitsOf(schedule, course, rawPieces.at(-1)!))
  } else if (risk === Infinity) found.push(all(whole), [], all([...raw.keys()].slice(1)))
  else found.push(all(whole))

  const replays: Array<Simulated> = []
  for (const commits of found) replays.push(await replay(trace, keep, commits, options))
  const at = replays.reduce((m, { cost }, i) => (cost < replays[m]!.cost ? i : m), 0)
  const { cost } = replays[at]!
  const whatEach = costs.map((about, t) => (t < costs.length - 1 ? about : cost))
  return { cost, commits: found[at]!, costs: whatEach, replay: replays[at]! }
}

/** Tokens of the prefix that `target` shares with `head` and, behind it, what came since `since` up to `until`. */
const sharedTokens = (head: Row, since: Row | undefined, until: Row, target: Row): number => {
  const shift = since === undefined ? 0 : since.keys.length - head.keys.length
  const length = until.keys.length - shift
  const end = Math.min(length, target.keys.length)
  let i = 0
  while (
    i < end &&
    target.keys[i] === (i < head.keys.length ? head.keys[i] : until.keys[i + shift])
  )
    i++
  return i === 0 ? 0 : target.sums[i - 1]!
}

import type { Counter } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import type { Profile } from "@varve/core/Profile"
import { costOf } from "./Bill.ts"
import type { Billed, CacheKind, Piece } from "./CacheModel.ts"
import { CacheModel } from "./CacheModel.ts"
import { piecesOf } from "./Pieces.ts"
import type { Answer, Policy } from "./Policy.ts"
import type { Trace } from "./Trace.ts"

/** One simulated request. Tokens, USD. */
export interface SimulatedRequest extends Billed {
  readonly tokens: number
  readonly cost: number
  /** True where what was sent before does not stand unchanged at the front. */
  readonly broke: boolean
}

/** What a policy would have cost over a run. */
export interface Simulated {
  readonly trace: string
  readonly policy: string
  /** USD. */
  readonly cost: number
  /** Share of the input that was read from the cache. */
  readonly hitRate: number
  readonly peakTokens: number
  /** Requests whose prefix was not the one before. */
  readonly breaks: number
  readonly reasoningLost: number
  readonly faults: number
  readonly requests: ReadonlyArray<SimulatedRequest>
}

export interface SimulateOptions {
  readonly cache: CacheKind
  readonly profile: Profile
  readonly counter: Counter
}

const common = (a: ReadonlyArray<Piece>, b: ReadonlyArray<Piece>): number => {
  let i = 0
  while (i < a.length && i < b.length && a[i]!.key === b[i]!.key) i++
  return i
}

/** USD of a policy's own call: its prefix is read from the cache where there is one. */
const costOfCall = (call: Answer["call"], cache: CacheKind, { prices }: Profile): number => {
  if (call === undefined) return 0
  const { read, input, output } = call
  const cached = cache === "none" ? 0 : read
  return costOf({ read: cached, write: 0, uncached: read - cached + input }, output, prices)
}

/**
 * Replays a run through a policy and says what it would have cost under a cache rule and a price sheet.
 *
 * @example
 * ```ts
 * import { defaultProfile } from "@varve/core"
 * import { guiRun, nothing, simulate, syntheticCounter } from "@varve/simulator"
 *
 * const options = { cache: "none", profile: defaultProfile, counter: syntheticCounter(1560) } as const
 * const { requests, hitRate } = await simulate(guiRun({ steps: 10 }), nothing, options)
 * console.log(requests.length, hitRate) // => 10 0
 * ```
 */
export const simulate = async (
  trace: Trace,
  policy: Policy,
  { cache, profile, counter }: SimulateOptions
): Promise<Simulated> => {
  const model = new CacheModel(cache, profile.cache)
  const running = policy.start({ profile, counter })
  const requests: Array<SimulatedRequest> = []
  let before: ReadonlyArray<Piece> = []
  let breaks = 0
  let reasoningLost = 0
  let faults = 0
  for (const { history, at, output } of trace.requests) {
    const answer = await running.prepare(history, at)
    faults += checkValidity(answer.messages).length
    reasoningLost += answer.reasoningLost
    const { marks: proposed, messages, system, tail } = answer
    const { pieces, ofMessage } = piecesOf(messages, trace.overhead, counter, system, tail)
    const latest = pieces.findLastIndex((p) => p.markable)
    // System text and tools have a mark of their own with every host, and so has the newest message; a host that
    // sets the marks that are proposed sets none behind what stands at the tail.
    const isBehind = tail !== undefined && proposed !== undefined && cache === "anthropic"
    const marks = [
      0,
      ...(proposed ?? []).map((m) => ofMessage[m] ?? 0),
      ...(isBehind ? [] : [latest])
    ]
    const billed = model.bill(pieces, at, marks)
    const broke = before.length > 0 && common(pieces, before) < before.length
    if (broke) breaks++
    const tokens = billed.read + billed.write + billed.uncached
    const cost = costOf(billed, output, profile.prices) + costOfCall(answer.call, cache, profile)
    requests.push({ ...billed, tokens, cost, broke })
    // What stands at the tail need not stand in the next request.
    before = tail === undefined ? pieces : pieces.slice(0, ofMessage[tail]! + 1)
  }
  await running.close()
  const sum = (f: (r: SimulatedRequest) => number): number => requests.reduce((s, r) => s + f(r), 0)
  const input = sum((r) => r.tokens)
  return {
    trace: trace.name,
    policy: policy.name,
    cost: sum((r) => r.cost),
    hitRate: input === 0 ? 0 : sum((r) => r.read) / input,
    peakTokens: requests.reduce((max, r) => Math.max(max, r.tokens), 0),
    breaks,
    reasoningLost,
    faults,
    requests
  }
}

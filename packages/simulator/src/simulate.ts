import type { Counter } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import type { Profile } from "@varve/core/Profile"
import { costOf } from "./Bill.ts"
import type { Billed, CacheKind, Piece } from "./CacheModel.ts"
import { CacheModel } from "./CacheModel.ts"
import { piecesOf, type Laid } from "./Pieces.ts"
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

/** USD of a policy's own call. `cached`: tokens that the request before left in the cache. */
const costOfCall = (call: Answer["call"], cached: number, { prices }: Profile): number => {
  if (call === undefined) return 0
  const { input, output } = call
  const read = Math.min(call.read, cached)
  return costOf({ read, write: 0, uncached: call.read - read + input }, output, prices)
}

/**
 * The pieces behind which marks stand. System text and tools have one of their own with every host of Anthropic's,
 * and so has the newest message, unless the host sets those that are proposed and a text stands at the tail. At
 * OpenAI the provider sets the newest; what is proposed stands where a mark can, and none at the system text.
 */
const marksOf = (
  { marks, tail }: Answer,
  { ofMessage, pieces }: Laid,
  cache: CacheKind
): ReadonlyArray<number> => {
  const canStand = (at: number): number =>
    cache === "anthropic" ? at : pieces.findLastIndex((p, i) => i <= at && p.markable)
  const set = (marks ?? []).flatMap((m) => {
    const at = ofMessage[m]
    return at === undefined ? [] : [canStand(at)]
  })
  if (cache !== "anthropic") return set
  const isBehind = tail !== undefined && marks !== undefined
  return [0, ...set, ...(isBehind ? [] : [pieces.findLastIndex((p) => p.markable)])]
}

/** A counter by which system text and tools have so many tokens: a trace has the figure alone, and no text. */
const withOverhead = (counter: Counter, tokens: number): Counter => ({
  ...counter,
  request: (request) => {
    const count = counter.request(request)
    return request.messages.length > 0
      ? count
      : { ...count, tokens: count.tokens + tokens, fixed: count.fixed + tokens }
  }
})

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
  const running = policy.start({
    // What the counter says is what is billed: the model counts no otherwise.
    profile: { ...profile, ratio: 1 },
    counter: withOverhead(counter, trace.overhead)
  })
  const requests: Array<SimulatedRequest> = []
  let before: ReadonlyArray<Piece> = []
  let breaks = 0
  let reasoningLost = 0
  let faults = 0
  // What a call of the policy's own finds in the cache: what the request before read and wrote, while that lives.
  let cached = 0
  let warmUntil = -Infinity
  for (const { history, at, output } of trace.requests) {
    const answer = await running.prepare(history, at)
    faults += checkValidity(answer.messages).length
    reasoningLost += answer.reasoningLost
    const { messages, system, tail } = answer
    const laid = piecesOf(messages, trace.overhead, counter, system, tail)
    const { ofMessage, pieces } = laid
    const billed = model.bill(pieces, at, marksOf(answer, laid, cache))
    const broke = before.length > 0 && common(pieces, before) < before.length
    if (broke) breaks++
    const tokens = billed.read + billed.write + billed.uncached
    const own = costOfCall(answer.call, at > warmUntil ? 0 : cached, profile)
    const cost = costOf(billed, output, profile.prices) + own
    requests.push({ ...billed, tokens, cost, broke })
    cached = model.kind === "none" || tokens < profile.cache.minimum ? 0 : tokens - billed.uncached
    warmUntil = at + profile.cache.lifetime
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

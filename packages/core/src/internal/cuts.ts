import type { Staged } from "../Commit.ts"
import type { Profile } from "../Profile.ts"
import { pricesAt } from "../Profile.ts"
import type { View } from "../View.ts"
import type { CommitWork } from "./pays.ts"
import {
  freshIn,
  isAnswer,
  newestReasoning,
  priceOfCall,
  priceOfCommit,
  requestsAhead,
  SHARE_AHEAD
} from "./pays.ts"

/** A position at which staged edits can be cut, and what that costs and saves in USD a million. */
export interface Cut {
  readonly at: number
  /** What waiting for it has cost so far. */
  readonly earned: number
  /** What a request costs more without the edits. */
  readonly each: number
  /** What is due in every commit. */
  readonly due: number
  /** What writing anew costs. */
  readonly cost: number
  /** What the requests to come save, less that. */
  readonly net: number
}

export interface CutOptions {
  /** Requests to come in which an edit saves. */
  readonly ahead: (staged: Staged) => number
  /** Requests that are left of the run, where that is known. */
  readonly left: number | undefined
  /** True where the host sets marks where `prepare` says. */
  readonly marks: boolean
}

/** All cuts behind which the edits save anything, from the last to the first. */
export const cutsOf = (
  staged: ReadonlyArray<Staged>,
  view: View,
  profile: Profile,
  { ahead: aheadOf, left, marks }: CutOptions
): ReadonlyArray<Cut> => {
  const { cache } = profile
  // All sums are in the counter's tokens; sizes and USD are the model's.
  const { scale } = view
  const size = view.usage.tokens / scale
  const prices = pricesAt(profile.prices, view.usage.tokens)
  const fresh = left === undefined ? 0 : freshIn(view)
  const lost = profile.reasoning === "drop" ? newestReasoning(view) : 0
  const sorted = staged.toSorted((a, b) => b.position - a.position)
  const cuts: Array<Cut> = []
  /** True where so much would be too small to be cached, as all of it isn't: it would be paid for in full. */
  const falls = (rest: number): boolean =>
    scale * rest < cache.minimum && scale * size >= cache.minimum
  // Tokens that the edits behind the cut take away: of one request, of those made so far, of those to come.
  let [saved, waited, ahead] = [0, 0, 0]
  let behind = 0
  let calls = 0
  // Items that folds take away.
  let gone = 0
  let tail: CommitWork | undefined
  let at = view.items.length - 1
  // Where a cache is read at marks alone and nobody sets one at the cut, all of the history is written anew. Where
  // the provider sets one at the end of each request by itself, what stands before one of those is read: as far
  // back as it looks, and as long as nothing has changed in front of them.
  const isMarked = cache.kind === "marks" && !marks
  // What the host said before any answer is where the first request ended, and each commit behind it reads that anew.
  // It is read again where that is no longer ago, and folds leave so little behind it, that the provider looks back to
  // it. A fold for which nothing stands is no text in front of the cut.
  const opening = view.items.findIndex(
    ({ kind, messages }) => (kind === "fold" && messages.length > 0) || messages.some(isAnswer)
  )
  const lookback = cache.implicit === true ? (cache.lookback ?? 0) : 0
  const reach = Math.min(lookback, view.stable)
  const isOpening = (last: number): boolean => last < opening && view.stable <= lookback
  // Who sets marks at all has one behind the system text, but nobody sets these.
  const all = !isMarked
    ? 0
    : cache.implicit === true
      ? size
      : view.items.reduce((sum, { tokens }) => sum + tokens, 0)
  for (let i = 0; i < sorted.length; i++) {
    const s = sorted[i]!
    // Tokens that stand at or behind this position today.
    for (; at >= 0 && view.items[at]!.first + view.items[at]!.members.length > s.position; at--) {
      behind += view.items[at]!.tokens
    }
    if (s.edit.kind === "fold") gone += s.edit.items.length - (s.edit.text === null ? 0 : 1)
    const after = view.items.length - 1 - at
    const whole = isMarked && after > reach && !(isOpening(at) && after - gone <= lookback)
    saved += s.saved
    waited += s.saved * (s.age + s.span)
    ahead += s.saved * aheadOf(s)
    calls += priceOfCall(s, profile.prices)
    if (sorted[i + 1]?.position === s.position) continue
    const then = pricesAt(profile.prices, view.usage.tokens - scale * saved)
    const tokens = Math.max(0, (whole ? all : behind) - saved - fresh)
    const again: CommitWork = { tokens, reasoning: lost, calls }
    const cost = priceOfCommit(again, then)
    tail ??= again
    if (saved <= 0) continue
    if (falls(size - saved) && (size - saved) * then.input >= size * prices.cacheRead) continue
    // What all of a request costs more where the edits bring it below the size from which a dearer price holds.
    const dearer = Math.max(0, size * (prices.cacheRead - then.cacheRead))
    const each = saved * then.cacheRead + dearer
    // For the dearer price this request counts as well: with the edits it would not be paid. So it does where all
    // is written anew in any case: waiting makes that longer.
    const paid = whole ? waited + saved : waited
    const earned = paid * then.cacheRead + (dearer * (waited + saved)) / saved
    const net = ahead * then.cacheRead + (dearer * ahead) / saved - cost
    const due = whole ? cost : Math.max(priceOfCommit(tail, then), calls)
    cuts.push({ at: whole ? sorted.at(-1)!.position : s.position, earned, each, due, cost, net })
  }
  return cuts
}

/**
 * The positions of the two cuts at which edits would come into force soonest, if the run were of unknown length: those
 * that are due first, and of those that are due with the next request the ones that save most.
 */
export const likelyCuts = (staged: ReadonlyArray<Staged>, view: View): ReadonlyArray<number> =>
  cutsOf(staged, view, view.profile, {
    ahead: (s) => requestsAhead(s, view),
    left: undefined,
    marks: true
  })
    .map(({ at, due, each, earned, net }) => {
      // Each request adds to what has been earned, and to what is taken to come.
      const wait = Math.max(1, (due - earned) / each, -net / (SHARE_AHEAD * each))
      return { at, net, wait }
    })
    .toSorted((a, b) => a.wait - b.wait || b.net - a.net)
    .slice(0, 2)
    .map(({ at }) => at)

import * as Schema from "effect/Schema"
import type { Edit } from "./Edit.ts"
import type { Cut } from "./internal/cuts.ts"
import { cutsOf } from "./internal/cuts.ts"
import { endsBatch, priceOfCall, requestsAhead, requestsLeft, usd } from "./internal/pays.ts"
import { decodeOptions, Positive } from "./Options.ts"
import type { Profile } from "./Profile.ts"
import { pricesAt } from "./Profile.ts"
import type { View } from "./View.ts"

/** A staged edit, as a commit rule sees it. */
export interface Staged {
  readonly edit: Edit
  readonly strategy: string
  /** Where it changes what is sent: a position in the host's history; a memo stands behind the task. */
  readonly position: number
  /** Tokens that it takes away; below 0 for a memo that grows. */
  readonly saved: number
  /** Requests that have been made since it was staged. */
  readonly age: number
  /** Requests in which what a fold takes together came in, one group a request; 0 where it is one group. */
  readonly span: number
  /** True for the first memo of its key: it is forced, so that the next request already has it. */
  readonly firstMemo: boolean
  /** Tokens of a model's call that it has yet to be made by; nothing for what is made. Then the rule is asked ahead. */
  readonly call?: { readonly input: number; readonly output: number }
}

/**
 * Everything staged at or behind `cut` comes into force; `null`: nothing does. Where a fold does, the staged memos
 * do too: they tell of what leaves with it.
 */
export interface CommitDecision {
  readonly cut: number | null
  readonly reason: string
}

/** Says which staged edits come into force now. `view` is what is sent without them. */
export type CommitRule = (
  staged: ReadonlyArray<Staged>,
  view: View,
  profile: Profile
) => CommitDecision

const wait = (reason: string): CommitDecision => ({ cut: null, reason })

/** Where the staged memos and all behind them begin. */
const first = (staged: ReadonlyArray<Staged>): number => Math.min(...staged.map((s) => s.position))

/** Every edit comes into force at once: the sliding window. Right where nothing is cached. */
export const immediate: CommitRule = (staged) =>
  staged.length === 0 ? wait("nothing is staged") : { cut: first(staged), reason: "immediate" }

/**
 * How many edits a batch counts: a block once, and not again on its way from a smaller form to a card.
 * So a ladder of several steps fills a batch no faster than one of a single step.
 */
const countOf = (staged: ReadonlyArray<Staged>, view: View): number => {
  const blocks = new Set<string>()
  let others = 0
  for (const { edit } of staged) {
    if (edit.kind === "replace") blocks.add(edit.block)
    else if (edit.kind === "fold") others++
  }
  if (blocks.size === 0) return others
  const unknown = new Set(blocks)
  const look = (list: ReadonlyArray<{ readonly block: string; readonly rank: number }>): void => {
    for (let i = 0; i < list.length && unknown.size > 0; i++) {
      const { block, rank } = list[i]!
      if (unknown.delete(block) && rank === 1) blocks.delete(block)
    }
  }
  look(view.images)
  // Of a long history these are many: they are asked for where images don't tell.
  if (unknown.size > 0) look(view.results)
  return others + blocks.size
}

/**
 * Edits come into force together once `size` of them are staged, so that the prefix changes once a batch.
 * Memos ride along and do not count; nor does the second step of a block that stands smaller already.
 *
 * Throws `ConfigError` where `size` is not a whole number of at least 1.
 *
 * @example
 * ```ts
 * import * as Commit from "@varve/core/Commit"
 *
 * console.log(typeof Commit.batched({ size: 5 })) // => function
 * ```
 */
export const batched = (options: { readonly size: number }): CommitRule => {
  const { size } = decodeOptions(BatchedOptions, options, "Commit.batched")
  return (staged, view) => {
    const memo = staged.find((s) => s.firstMemo)
    if (memo !== undefined)
      return { cut: Math.min(memo.position, first(staged)), reason: "the first memo" }
    const edits = countOf(staged, view)
    return edits >= size
      ? { cut: first(staged), reason: `${edits} edits are staged, the batch is ${size}` }
      : wait(`${edits} of ${size} edits are staged`)
  }
}

const BatchedOptions = Schema.Struct({ size: Positive })

const WhenItPaysSchema = Schema.Struct({
  expectedRequests: Schema.optional(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  marks: Schema.optional(Schema.Boolean)
})

/** Options of `whenItPays`. */
export interface WhenItPaysOptions {
  /** Requests that the whole run is expected to make. */
  readonly expectedRequests?: number
  /**
   * True where the host sets cache marks where `prepare` says; default false. Without them a provider that
   * reads its cache at marks alone finds nothing behind an edit, and a commit writes all of the history anew.
   */
  readonly marks?: boolean
}

/**
 * Edits come into force when they pay under the profile's cache prices.
 *
 * For every position at which the staged edits could be cut, three sums are compared:
 *
 * - earned: what has been paid so far for sending what the edits behind the cut would have taken away (tokens
 *   x price of a read x requests). A fold counts as if it had been staged when the oldest of what it takes
 *   together came in: the next one will take about as long to come, and sharing the re-write with it would cost
 *   more than that saves. Without marks, where every commit writes all of the history, this request counts as
 *   well: waiting for it makes what is to be written longer (where the provider sets a mark at the end of each
 *   request by itself, a commit behind one of those writes no more than what stands behind it, and so does one right
 *   behind the task where folds leave little else);
 * - rewrite: what it costs to write anew what stands behind the cut (tokens x (price of a write - price of a
 *   read)), and the part of it that is due in every commit: what stands behind the newest staged edit. What has
 *   come since the last request is written in any case: it counts only where the length isn't known, as a margin
 *   for the run that ends right behind a commit. Reasoning counts like any text, also where the
 *   provider drops it because its prefix was edited; there that of the newest answer counts at the price of output
 *   besides, since the model would have to think it once more;
 * - ahead: what the edits will save in the requests to come.
 *
 * Where a strategy asks about a fold that a model has yet to write (`Staged.call`), the price of the call is part
 * of the rewrite, and earned has to reach it too.
 *
 * They come into force once earned has reached the part that is due in every commit, and ahead the whole
 * rewrite; of several cuts the one at which ahead outweighs the rewrite most. The first is the balance of the
 * best batch size in a long run, where what is paid for waiting equals what a commit costs; the second keeps a
 * run that ends soon from paying for what it can't use. The requests to come are half of those made so far; for a
 * fold of several groups as many. A cold cache, or none, makes the rewrite free, but no call.
 *
 * Where prices rise above some size of the request, those of its size hold, and an edit that brings it below saves
 * the difference on all of it.
 *
 * Where `expectedRequests` says how many requests the whole run makes, those that are left are shared out instead:
 * into as many batches of one length as cost least, the last of which ends with the run. A run that goes on for
 * longer is one of unknown length from then on, so that a guess does little harm.
 *
 * Throws `ConfigError` where `expectedRequests` is not a number of at least 0.
 *
 * @example
 * ```ts
 * import * as Commit from "@varve/core/Commit"
 *
 * console.log(typeof Commit.whenItPays({ expectedRequests: 40 })) // => function
 * ```
 */
export const whenItPays = (options: WhenItPaysOptions = {}): CommitRule => {
  const { expectedRequests, marks = false } = decodeOptions(
    WhenItPaysSchema,
    options,
    "Commit.whenItPays"
  )
  return (staged, view, profile) => {
    if (staged.length === 0) return wait("nothing is staged")
    const memo = staged.find((s) => s.firstMemo)
    if (memo !== undefined)
      return { cut: Math.min(memo.position, first(staged)), reason: "the first memo" }
    const { cache } = profile
    // All sums are in the counter's tokens; sizes and USD are the model's.
    const { scale } = view
    const prices = pricesAt(profile.prices, view.usage.tokens)
    const left = requestsLeft(expectedRequests, view.requests)
    const aheadOf = (s: Staged): number => left ?? requestsAhead(s, view)
    if (cache.kind === "none" || view.cacheCold) {
      // Nothing is written anew, but a call is paid for.
      const again = cache.kind === "none" ? prices.input : prices.cacheRead
      const net = staged.reduce(
        (sum, s) => sum + s.saved * again * aheadOf(s) - priceOfCall(s, profile.prices),
        0
      )
      if (net < 0 && staged.some((s) => s.call !== undefined))
        return wait("the call would cost more than it saves")
      return {
        cut: first(staged),
        reason: cache.kind === "none" ? "no cache to lose" : "the cache is cold"
      }
    }
    const cuts = cutsOf(staged, view, profile, { ahead: aheadOf, left, marks })
    let best: Cut | undefined
    for (const cut of cuts) {
      const { cost, due, each, earned, net } = cut
      if (!(earned > 0 && net >= 0)) continue
      if (!(left === undefined ? earned >= due : endsBatch(earned, each, due, left))) continue
      // An earlier cut that re-writes hardly more takes its edits along: a memo before a fold, say.
      if (best === undefined || net >= best.net || cost <= 1.1 * best.cost) best = cut
    }
    if (best === undefined) return wait("the re-write would cost more than it saves so far")
    const reason = `${usd(scale * best.cost)} of re-writing, for ${usd(scale * (best.cost + best.net))} in the requests to come`
    return { cut: best.at, reason }
  }
}

import * as Schema from "effect/Schema"
import type { Edit } from "./Edit.ts"
import { decodeOptions, Positive } from "./Options.ts"
import type { Profile } from "./Profile.ts"
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

/**
 * How much longer a run of unknown length is taken to go on, as a share of its requests so far. The lengths of
 * agents' runs vary so widely that two runs of three that have come so far go on for at least half as long.
 */
const SHARE_AHEAD = 0.5

/**
 * The same for a fold of several groups, as a summary is. That is wanted for the room that it makes as well, so
 * even odds do: every second run goes on for as long again.
 */
const FOLD_AHEAD = 1

const BatchedOptions = Schema.Struct({ size: Positive })

const WhenItPaysSchema = Schema.Struct({
  expectedRequests: Schema.optional(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  marks: Schema.optional(Schema.Boolean)
})

/** Tokens that no request had yet: what the model wrote last, and what came behind it. */
const freshIn = ({ items }: View): number => {
  const from = items.findLastIndex(({ messages }) => messages.some((m) => m.role === "assistant"))
  return from < 0 ? 0 : items.slice(from).reduce((sum, { tokens }) => sum + tokens, 0)
}

/**
 * Whether a batch should end here, of a run with `left` requests to come. `earned`: USD that waiting has cost;
 * `each`: USD that a request costs more without the edits; `due`: USD of a commit. What waits is taken to have
 * grown, and to grow on, by the same in every request. `n` batches of `all / n` requests each cost `n - 1` commits
 * and an n-th of what one batch would cost for waiting, so that the best `n` is the least for which
 * `n * (n + 1)` commits cost as much as that.
 */
const endsBatch = (earned: number, each: number, due: number, left: number): boolean => {
  const waited = (2 * earned) / each
  const all = waited + left
  const batches = Math.ceil((Math.sqrt(1 + (4 * earned * (all / waited) ** 2) / due) - 1) / 2)
  return batches > 1 && waited * batches >= all
}

/** What the call for a fold costs that nobody has written yet. */
const priceOf = ({ call }: Staged, { input, output }: Profile["prices"]): number =>
  call === undefined ? 0 : call.input * input + call.output * output

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
 *   well: waiting for it makes what is to be written longer;
 * - rewrite: what it costs to write anew what stands behind the cut (tokens x (price of a write - price of a
 *   read)), and the part of it that is due in every commit: what stands behind the newest staged edit. What has
 *   come since the last request is written in any case: it counts only where the length isn't known, as a margin
 *   for the run that ends right behind a commit;
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
 * Where `expectedRequests` says how many requests the whole run makes, those that are left are shared out instead:
 * into as many batches of one length as cost least, the last of which ends with the run.
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
    const { prices, cache } = profile
    const read = prices.cacheRead
    const left =
      expectedRequests === undefined ? undefined : Math.max(0, expectedRequests - view.requests)
    const aheadOf = ({ span }: Staged): number =>
      left ?? view.requests * (span > 0 ? FOLD_AHEAD : SHARE_AHEAD)
    if (cache.kind === "none" || view.cacheCold) {
      // Nothing is written anew, but a call is paid for.
      const again = cache.kind === "none" ? prices.input : read
      const net = staged.reduce(
        (sum, s) => sum + s.saved * again * aheadOf(s) - priceOf(s, prices),
        0
      )
      if (net < 0 && staged.some((s) => s.call !== undefined))
        return wait("the call would cost more than it saves")
      return {
        cut: first(staged),
        reason: cache.kind === "none" ? "no cache to lose" : "the cache is cold"
      }
    }
    const rewrite = Math.max(0, prices.cacheWrite - read)
    const fresh = left === undefined ? 0 : freshIn(view)
    const sorted = staged.toSorted((a, b) => b.position - a.position)
    let best: { readonly cut: number; readonly net: number; readonly cost: number } | undefined
    let earned = 0
    let ahead = 0
    let saved = 0
    let behind = 0
    let calls = 0
    let tail: number | undefined
    let at = view.items.length - 1
    // Where a cache is read at marks alone and nobody sets one at the cut, all of the history is written anew.
    const whole = cache.kind === "marks" && !marks
    if (whole) for (; at >= 0; at--) behind += view.items[at]!.tokens
    for (let i = 0; i < sorted.length; i++) {
      const s = sorted[i]!
      // Tokens that stand at or behind this position today.
      for (; at >= 0 && view.items[at]!.first + view.items[at]!.members.length > s.position; at--) {
        behind += view.items[at]!.tokens
      }
      saved += s.saved
      calls += priceOf(s, prices)
      earned += s.saved * read * ((whole ? s.age + 1 : s.age) + s.span)
      ahead += s.saved * read * aheadOf(s)
      if (sorted[i + 1]?.position === s.position) continue
      const cost = Math.max(0, behind - saved - fresh) * rewrite + calls
      tail ??= cost
      const net = ahead - cost
      if (!(saved > 0 && earned > 0 && net >= 0)) continue
      const due = whole ? cost : Math.max(tail, calls)
      if (!(left === undefined ? earned >= due : endsBatch(earned, saved * read, due, left)))
        continue
      // An earlier cut that re-writes hardly more takes its edits along: a memo before a fold, say.
      if (best === undefined || net >= best.net || cost <= 1.1 * best.cost) {
        best = { cut: s.position, net, cost }
      }
    }
    if (best === undefined) return wait("the re-write would cost more than it saves so far")
    const reason = `${usd(best.cost)} of re-writing, for ${usd(best.cost + best.net)} in the requests to come`
    return { cut: whole ? first(staged) : best.cut, reason }
  }
}

const usd = (perMillion: number): string => `${(perMillion / 1e6).toPrecision(2)} USD`

import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { clipSummary } from "./ClipSummarizer.ts"
import { CommitAhead } from "./CommitAhead.ts"
import type { ItemId, Proposal } from "./Edit.ts"
import * as Edit from "./Edit.ts"
import type { MessageId } from "./Message.ts"
import { IsDryRun } from "./DryRun.ts"
import { decodeOptions, functionOption, Positive, Share } from "./Options.ts"
import type { Redact } from "./Redact.ts"
import { CurrentRedact } from "./Redact.ts"
import type { Propose, Strategy } from "./Strategy.ts"
import { make } from "./Strategy.ts"
import type { AnySummarizer } from "./Summarizer.ts"
import { costOf } from "./Summarizer.ts"
import type { SummaryReason } from "./VarveError.ts"
import type { View } from "./View.ts"
import type { Aim, Plan, PlanOptions } from "./internal/conversationPlan.ts"
import { aheadOf, aimOf, LEAST, planOf } from "./internal/conversationPlan.ts"
import { NAME } from "./internal/conversationText.ts"
import type { Making, StartSummary } from "./internal/summaries.ts"
import { errorOf, isEnded, summaries } from "./internal/summaries.ts"
import { summarize } from "./internal/summarize.ts"

const Options = Schema.Struct({
  /** Who summarises, a summarizer or a function of yours; without one, or where it fails, the text is clipped. */
  summarizer: Schema.optional(functionOption<AnySummarizer>()),
  /** Share of the token limit from which on old groups are folded; default 0.6. */
  soft: Schema.optional(Share),
  /**
   * Share of the token limit from which on a request waits for the summary that is being made, and does without
   * where there is none; default 0.9. Never below `soft`: the same as `soft` to wait for each.
   */
  hard: Schema.optional(Share),
  /** Share of the soft mark that stays word for word at the end; default 0.5. */
  keep: Schema.optional(Share),
  /** Groups that stay word for word at the end whatever they cost; default 2. */
  keepGroups: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /**
   * Tokens of the summary at most; default 1 500. Summary and registry together never have more than 40 % of
   * what they replace, nor a quarter of the soft mark.
   */
  targetTokens: Schema.optional(Positive),
  /**
   * Tokens of the registry beside it at most; default 1 500, and never more than half of the two. 0: the summary
   * stands alone, without a word on which tools' results have left.
   */
  registryTokens: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** How long a summary may take, in ms, the wait for another one of this memory included; default 60 000. */
  timeout: Schema.optional(Positive)
})

/** What `conversationSummary` takes. */
export type ConversationSummaryOptions = typeof Options.Type

/**
 * Folds the older part of a conversation into one text when the view has more than `soft` of the token limit:
 * the oldest groups that nothing protects, with its own earlier summary, in one atomic edit. The first message of
 * the user (the task), the newest one and what is pinned stay as they are. What the user said in between is folded
 * with the rest: rules and decisions in it stand in the registry word for word, as far as that has room.
 *
 * The summary is made beside the agent, one at a time: requests go on, what arrives meanwhile stays behind it,
 * and a later request takes it in where all that it stands for is still there. Only from `hard` on does a request
 * wait for it, and never beyond its time-out. A summarizer that needs no model is done at once. Up to the middle
 * between `soft` and `hard` (between `soft` and the limit, where both are the same) no summary is begun that would
 * not pay yet: the memory's commit rule is asked first (`CommitAhead`), with what a call of a model would cost.
 *
 * The summary is checked (`checkSummary`). Where it is refused, fails or takes longer than `timeout`, nothing is
 * lost: it is tried again once a tenth of the limit more has come, and from `hard` on the text is clipped instead.
 * Without a summarizer it is clipped from `soft` on.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { conversationSummary, createMemory, hardLimit } from "@varve/core"
 *
 * const memory = createMemory({
 *   budget: { tokens: 1000 },
 *   pipeline: [conversationSummary(), hardLimit()]
 * })
 * const history = Array.from({ length: 40 }, (_, i) => ({
 *   role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
 *   content: `message ${i}: ` + "what was said. ".repeat(10)
 * }))
 * const { messages } = await memory.prepare(history)
 * console.log(messages.length < history.length) // => true
 * await memory.close()
 * ```
 */
export const conversationSummary = (options?: ConversationSummaryOptions): Strategy => {
  const decoded = decodeOptions(Options, options, NAME)
  return make(NAME, start(decoded))
}

/** What became of what was asked for last. */
type Round = { readonly ids: ReadonlyArray<ItemId>; readonly fresh: number } & (
  | {
      readonly state: "asked"
      readonly plan: Plan
      readonly making: Making
      readonly slow: boolean
    }
  | {
      readonly state: "failed"
      readonly why: string
      /** True where a text was refused at once: of other items another one may be good, and costs no wait. */
      readonly again: boolean
    }
  | {
      readonly state: "made"
      readonly proposals: ReadonlyArray<Proposal>
      /** True where it had to be waited for: it is not made again for a little more. */
      readonly slow: boolean
      /** The newest message when it was proposed first. */
      readonly offered: MessageId | undefined
      readonly accepted: boolean
    }
)

const NONE: ReadonlyArray<Proposal> = []

/** Failures of a summarizer that gave no text. */
const NO_TEXT: ReadonlySet<SummaryReason> = new Set(["failed", "timeout", "aborted"])

/** True where there is little more than before. What begins with something else is another history. */
const isMuchLike = (round: Round, aim: Aim, view: View): boolean =>
  round.ids[0] === aim.ids[0] && aim.fresh < round.fresh + view.limits.tokens * LEAST

const sameIds = (a: ReadonlyArray<ItemId>, b: ReadonlyArray<ItemId>): boolean =>
  a.length === b.length && a.every((id, i) => id === b[i])

const start = Effect.fnUntraced(function* (
  options: ConversationSummaryOptions
): Effect.fn.Return<Propose, never, Scope.Scope> {
  const redact = yield* CurrentRedact
  const begin = yield* summaries
  return strategyOf(options, redact, begin)
})

const strategyOf = (
  given: ConversationSummaryOptions,
  redact: Redact,
  begin: StartSummary
): Propose => {
  const { summarizer, soft = 0.6, timeout = 60_000 } = given
  const cost = summarizer === undefined ? { free: true } : costOf(summarizer)
  const hard = Math.max(soft, given.hard ?? 0.9)
  /**
   * From here on no price is asked for: the summary is to be there before anybody has to wait for it, or, where
   * each is waited for, before the limit.
   */
  const late = (soft + (hard > soft ? hard : 1)) / 2
  const options: PlanOptions = {
    soft,
    keep: given.keep ?? 0.5,
    keepGroups: given.keepGroups ?? 2,
    targetTokens: given.targetTokens ?? 1500,
    registryTokens: given.registryTokens ?? 1500,
    redact
  }
  let round: Round | undefined

  const why = `over ${soft} of the token limit`

  const fail = (
    { fresh, ids }: Round,
    because: string,
    again: boolean
  ): ReadonlyArray<Proposal> => {
    round = { state: "failed", ids, fresh, why: because, again }
    return [Edit.proposal(because, [])]
  }

  /** Takes in what came of the summary that was asked for; says where that is nothing. */
  const settle = (): ReadonlyArray<Proposal> => {
    const exit = round?.state === "asked" ? round.making.exit() : undefined
    if (round?.state !== "asked" || exit === undefined) return NONE
    const { fresh, ids, plan, slow } = round
    if (isEnded(exit)) round = undefined
    else if (Exit.isSuccess(exit)) {
      const { model, text } = exit.value
      const proposals = plan.fold(text, `${why}; summary by ${model ?? "the summarizer"}`)
      if (proposals.length === 0) return fail(round, "no summary: it has no room", !slow)
      round = { state: "made", ids, fresh, proposals, slow, offered: undefined, accepted: false }
    } else {
      const { message, reason } = errorOf(exit)
      return fail(round, `no summary (${reason}): ${message}`, !slow && !NO_TEXT.has(reason))
    }
    return NONE
  }

  /** What was made, as long as it is to be proposed; nothing where it is time for another one. */
  const offer = (view: View, aim: Aim | undefined): ReadonlyArray<Proposal> | undefined => {
    if (round?.state !== "made") return undefined
    const { accepted, ids, offered = view.newest, proposals, slow } = round
    const [edit] = proposals.flatMap((p) => p.edits)
    const same = aim !== undefined && sameIds(ids, aim.ids)
    const more = aim !== undefined && !isMuchLike(round, aim, view)
    const grown = more || (aim !== undefined && !same && !slow)
    if (edit?.kind !== "fold") return grown ? undefined : NONE
    if (view.items.some(({ id }) => id === edit.id)) {
      round = { ...round, accepted: true }
      return undefined
    }
    if (accepted || !slow) return same ? proposals : undefined
    if (offered !== view.newest && grown) return undefined
    round = { ...round, offered }
    return proposals
  }

  /** True where something of what was made for is gone: then it can't be taken in any more. */
  const isLost = (view: View): boolean => {
    if (round?.state !== "made" || round.accepted || !round.slow) return false
    const there = new Set(view.items.map(({ id }) => id))
    return !round.ids.every((id) => there.has(id) && view.protection(id) === undefined)
  }

  /** What can be said without asking anybody. */
  const clip = (aim: Aim, plan: Plan, because: string): void => {
    const { fresh, ids } = aim
    const proposals = plan.fold(clipSummary(plan.request), `${why}; clipped${because}`)
    const slow = false
    round = { state: "made", ids, fresh, proposals, slow, offered: undefined, accepted: false }
  }

  const propose = Effect.fnUntraced(function* (
    view: View
  ): Effect.fn.Return<ReadonlyArray<Proposal>> {
    const isHard = view.usage.tokens > view.limits.tokens * hard
    const isDry = yield* IsDryRun
    if (round?.state === "asked" && isHard && !isDry) yield* round.making.wait
    const said = [...settle()]
    if (round?.state === "asked" && !(isHard && isDry)) return NONE
    if (round?.state === "made" && isLost(view)) {
      // Proposed once all the same: the report says which of them is gone.
      said.push(...round.proposals)
      round = undefined
    }
    const aim = aimOf(view, options)
    const made = offer(view, aim)
    if (made !== undefined) return [...made, ...said]
    if (aim === undefined) return said
    if (round?.state === "failed") {
      const { again, ids } = round
      if (ids[0] !== aim.ids[0] || (again && !sameIds(ids, aim.ids))) round = undefined
      else if (!isHard && isMuchLike(round, aim, view)) return said
    }
    if (cost.free !== true && view.usage.tokens <= view.limits.tokens * late) {
      const isDue = yield* CommitAhead
      if (!isDue(aheadOf(view, aim, options, cost.resultTokens)))
        return [...said, Edit.proposal(`${why}; its summary would not pay yet`, [])]
    }
    const plan = planOf(view, aim, options)
    if (plan === undefined) return said
    if (summarizer === undefined) clip(aim, plan, "")
    else if (round?.state === "failed" && isHard) clip(aim, plan, `, ${round.why}`)
    else if (isDry && isHard) clip(aim, plan, ": a dry run asks for no summary")
    else if (isDry)
      return [...said, Edit.proposal(`${why}; a summary of ${aim.ids.length} would be begun`, [])]
    else {
      const { missing, replaces, request } = plan
      const ask = (ms: number) => summarize(summarizer, request, ms, { replaces }, missing)
      const making = yield* begin(ask, timeout)
      const slow = making.exit() === undefined
      round = { state: "asked", ids: aim.ids, fresh: aim.fresh, plan, making, slow }
      if (isHard && slow) yield* making.wait
      const failed = settle()
      const now = round as Round | undefined
      if (now?.state === "asked")
        return [...said, Edit.proposal(`${why}; a summary of ${aim.ids.length} was begun`, [])]
      if (now?.state === "failed") {
        if (!isHard) return [...said, ...failed]
        clip(aim, plan, `, ${now.why}`)
      }
    }
    return [...(offer(view, aim) ?? NONE), ...said]
  })
  return (view) =>
    Effect.flatMap(IsDryRun, (isDry) => {
      if (!isDry) return propose(view)
      // It looks, and leaves all as it is.
      const before = round
      return Effect.ensuring(
        propose(view),
        Effect.sync(() => void (round = before))
      )
    })
}

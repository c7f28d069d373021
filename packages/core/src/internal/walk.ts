import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CommitRule } from "../Commit.ts"
import { CommitAhead } from "../CommitAhead.ts"
import { IsDryRun } from "../DryRun.ts"
import type { Report, StrategyReport } from "../Report.ts"
import type { OverflowRow } from "../VarveError.ts"
import { ContextOverflow } from "../VarveError.ts"
import type { Started } from "./box.ts"
import { runBoxed } from "./box.ts"
import type { Committed } from "./commit.ts"
import { memoPosition } from "./candidates.ts"
import { commitStaged, isDueAhead } from "./commit.ts"
import { Draft } from "./Draft.ts"
import type { Item } from "./items.ts"
import { overLimits } from "./limits.ts"
import { faultsOf, take } from "./propose.ts"
import { protectionOf } from "./protect.ts"
import { reasoningBehind } from "./reasoning.ts"
import type { Session } from "./Session.ts"
import { memoText, memoTokens } from "./Session.ts"
import { keptBefore, tailReport } from "./tail.ts"
import type { ViewState } from "./ViewState.ts"
import { ShownView } from "./ViewState.ts"

/** What a walk is given besides the session. */
export interface WalkOptions {
  readonly strategies: ReadonlyArray<Started>
  readonly commit: CommitRule
  readonly strategyTimeout: number
  readonly dryRun: boolean
  /** The time, ms. */
  readonly now: () => number
  readonly warn: (cause: string, message: string) => void
}

export interface Walked {
  /** What is sent. */
  readonly view: ViewState
  readonly report: Report
  readonly overflow: ContextOverflow | undefined
}

interface Guarded {
  readonly view: ViewState
  readonly edits: number
  readonly from: number
  readonly seqs: ReadonlySet<number>
  readonly reports: ReadonlyArray<StrategyReport>
  readonly overflow: ContextOverflow | undefined
}

/** From a session that follows its history to what is sent: strategies, commit, guard, reasoning, validity. */
export const walk = (
  session: Session,
  sentBefore: ViewState,
  workBefore: ViewState,
  options: WalkOptions
): Effect.Effect<Walked> =>
  Effect.updateContext(
    walked(session, sentBefore, workBefore, options),
    (context: Context.Context<never>) =>
      context.pipe(
        Context.add(IsDryRun, options.dryRun),
        Context.add(CommitAhead, (fold) => isDueAhead(session, sentBefore, options.commit, fold))
      )
  )

const walked = Effect.fnUntraced(function* (
  session: Session,
  sentBefore: ViewState,
  workBefore: ViewState,
  options: WalkOptions
): Effect.fn.Return<Walked> {
  const began = options.now()
  const reports: Array<StrategyReport> = []
  let work = workBefore
  for (const started of options.strategies) {
    if (started.strategy.guard === true) continue
    const { name } = started.strategy
    const at = options.now()
    const boxed = yield* runBoxed(started, new ShownView(work), options)
    const outcome = take(name, boxed, work, false, options.now() - at)
    for (const { reason, edits } of outcome.accepted) session.stage(name, reason, edits)
    work = session.work = outcome.view
    reports.push(outcome.report)
  }
  const committed = commitStaged(session, sentBefore, options)
  session.commit(committed.seqs)
  session.sent = committed.view
  const guards = options.strategies.filter((s) => s.strategy.guard === true)
  const isOver = guards.length > 0 && overLimits(committed.view).length > 0
  const guarded = isOver
    ? yield* guard(session, committed.view, guards, options)
    : unguarded(committed.view)
  const settled = settle(session, sentBefore, committed, guarded)
  // With nothing staged the two are one; what was made for `work` alone can go.
  if (session.ledger.staged.length === 0) session.work = session.sent
  const kept = keptBefore(session.last, keptOf(session, settled.view))
  const { transcript } = session
  const { context } = settled.view
  const { totals } = transcript
  if (session.last === undefined || kept.share < 1) session.changedAt = totals.requests
  const before = context.calibrate(
    totals.tokens + context.overheadTokens,
    totals.imageTokens + context.overheadFixed
  )
  const over = overLimits(settled.view)
  return {
    view: settled.view,
    overflow: guarded.overflow,
    report: {
      model: context.profile.model,
      before: {
        ...before,
        images: totals.images,
        imageBytes: totals.imageBytes,
        requestBytes: totals.bytes + context.overheadBytes,
        messages: transcript.length
      },
      after: settled.view.usage,
      limits: { tokens: finite(context.limits.tokens), images: finite(context.limits.images) },
      strategies: [...reports, ...guarded.reports],
      commit: {
        committed: committed.seqs.size - committed.outside,
        waiting: committed.waiting,
        forced: committed.forced,
        reason: committed.reason
      },
      guarded: guarded.edits,
      unguarded: guards.length === 0,
      over: over.map((o) => `${o.needed} ${o.axis}, the limit is ${o.limit}`),
      kept,
      ...tailReport(settled.view),
      reasoning: settled.reasoning,
      repairs: transcript.repairs,
      faults: settled.faults,
      dryRun: options.dryRun,
      ms: options.now() - began
    }
  }
})

const finite = (n: number): number | null => (Number.isFinite(n) ? n : null)

const NO_SEQS: ReadonlySet<number> = new Set()

const unguarded = (view: ViewState): Guarded => ({
  view,
  edits: 0,
  from: Infinity,
  seqs: NO_SEQS,
  reports: [],
  overflow: undefined
})

/** Lets the guards make a view fit that is over a limit. Their edits come into force at once. */
const guard = Effect.fnUntraced(function* (
  session: Session,
  sent: ViewState,
  guards: ReadonlyArray<Started>,
  options: WalkOptions
): Effect.fn.Return<Guarded> {
  const reports: Array<StrategyReport> = []
  const taken: Array<readonly [string, ReturnType<typeof take>["accepted"]]> = []
  let view = sent
  for (const started of guards) {
    const { name } = started.strategy
    const at = options.now()
    const boxed = yield* runBoxed(started, new ShownView(view), options).pipe(
      Effect.provideService(CommitAhead, () => true)
    )
    const outcome = take(name, boxed, view, true, options.now() - at)
    reports.push(
      isFutile(view, outcome.view) ? { ...outcome.report, futile: true } : outcome.report
    )
    view = outcome.view
    taken.push([name, outcome.accepted])
    if (overLimits(view).length === 0) break
  }
  const overflow = overflowOf(view)
  // What can't be made to fit is not worth losing anything for: the edits are for this view alone.
  if (overflow !== undefined) return { ...unguarded(view), reports, overflow }
  const seqs = new Set<number>()
  let from = Infinity
  for (const [name, accepted] of taken) {
    for (const { reason, edits } of accepted) {
      for (const seq of session.stage(name, reason, edits)) seqs.add(seq)
    }
  }
  from = sent.list.at(sent.list.sharedWith(view.list))?.first ?? Infinity
  if (memoText(sent) !== memoText(view)) from = Math.min(from, memoPosition(session))
  session.commit(seqs)
  session.sent = view
  session.work = undefined
  return { view, edits: seqs.size, from, seqs, reports, overflow: undefined }
})

/** True where nothing that is over a limit has become less. */
const isFutile = (before: ViewState, after: ViewState): boolean => {
  const left = new Map(overLimits(after).map(({ axis, needed }) => [axis, needed]))
  return overLimits(before).every(({ axis, needed }) => (left.get(axis) ?? 0) >= needed)
}

/** The error that says what takes how much in a view; nothing where all fits. */
export const overflowOf = (view: ViewState): ContextOverflow | undefined => {
  const [worst] = overLimits(view)
  return worst && new ContextOverflow(worst.axis, worst.limit, worst.needed, tableOf(view))
}

interface Settled {
  readonly view: ViewState
  readonly reasoning: { readonly lost: number; readonly removed: number }
  readonly faults: ReadonlyArray<string>
}

/** Takes along the reasoning that the new edits invalidate, and checks the result once more. */
const settle = (
  session: Session,
  before: ViewState,
  committed: Committed,
  guarded: Guarded
): Settled => {
  const { profile } = before
  let { view } = guarded
  const from = Math.min(committed.from, guarded.from)
  if (from === Infinity) return { view, reasoning: { lost: 0, removed: 0 }, faults: [] }
  const seqs = new Set([...committed.seqs, ...guarded.seqs])
  let lost = 0
  let removed = 0
  if (profile.reasoning !== "none") {
    const behind = reasoningBehind(view, from)
    if (profile.reasoning === "drop") lost = behind.length
    else if (behind.length > 0) {
      const draft = new Draft(view)
      const taken = behind.flatMap((edit) => {
        const applied = draft.apply(edit)
        return typeof applied === "string"
          ? []
          : [{ edit, before: -applied.delta.tokens, after: 0, soft: true, ...applied }]
      })
      removed = taken.length
      for (const seq of session.stage("reasoning", "bound to what was edited before it", taken))
        seqs.add(seq)
      session.commit(seqs)
      view = session.sent = draft.freeze()
      session.work = undefined
    }
  }
  const edits = session.ledger.records.filter(({ seq }) => seqs.has(seq)).map(({ edit }) => edit)
  const faults = faultsOf(view, before, edits)
  if (faults.length > 0) {
    session.drop(seqs)
    session.sent = before
    session.work = undefined
    return { view: before, reasoning: { lost: 0, removed: 0 }, faults }
  }
  return { view, reasoning: { lost, removed }, faults }
}

const sameItem = (a: Item, b: Item): boolean =>
  a === b || (a.id === b.id && a.kind === b.kind && a.tokens === b.tokens && a.bytes === b.bytes)

/** How much of the previous request stands unchanged at the front of this one. */
const keptOf = ({ last }: Session, view: ViewState): Report["kept"] => {
  if (last === undefined) return { messages: 0, tokens: 0, share: 0 }
  const memosSame = last.memo === memoText(view) && last.memoPlace === view.memoPlace
  const place = Math.min(last.memoPlace, view.memoPlace)
  const { items: before } = last
  const items = view.list
  const end = memosSame ? Math.min(before.length, items.length) : Math.min(place, before.length)
  let i = Math.min(end, items.sharedWith(before))
  while (i < end && sameItem(before.at(i)!, items.at(i)!)) i++
  if (i === before.length && memosSame) {
    return { messages: last.messages, tokens: last.tokens, share: 1 }
  }
  let tokens = view.context.overheadTokens + last.itemTokens
  let messages = last.messages - last.memos
  for (let k = i; k < before.length; k++) {
    tokens -= before.at(k)!.tokens
    messages -= before.at(k)!.messages.length
  }
  if (memosSame && i >= last.memoPlace) {
    tokens += memoTokens(view)
    messages += last.memos
  }
  return { messages, tokens, share: last.tokens === 0 ? 1 : tokens / last.tokens }
}

/** What takes how much in a view that can't fit, and what would help. */
const tableOf = (view: ViewState): ReadonlyArray<OverflowRow> => {
  const rows = new Map<string, { tokens: number; images: number; bytes: number }>()
  const put = (what: string, tokens: number, images: number, bytes: number): void => {
    const row = rows.get(what) ?? { tokens: 0, images: 0, bytes: 0 }
    rows.set(what, {
      tokens: row.tokens + tokens,
      images: row.images + images,
      bytes: row.bytes + bytes
    })
  }
  put("system text and tools", view.context.overheadTokens, 0, view.context.overheadBytes)
  for (const item of view.items) {
    if (item.messages.length === 0) continue
    const protection = protectionOf(view.context, item.id)
    put(
      protection?.level === "hard" ? protection.reason : "the rest",
      item.tokens,
      item.imageCount,
      item.bytes
    )
  }
  return [...rows].map(([what, row]) => ({ what, ...row, help: help[what] ?? "a larger limit" }))
}

const help: Readonly<Record<string, string>> = {
  "system text and tools": "a shorter system text, fewer tools, or a model with a larger window",
  "system message": "a shorter system text",
  "the task": "a shorter first message; put long material into a later one",
  pinned: "unpin what is not needed",
  "message of a role that is not known here":
    "take it out of the history in the host; where it is a provider's own shape, `@varve/codecs` reads it"
}

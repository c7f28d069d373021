import type { CommitDecision, CommitRule, Staged } from "../Commit.ts"
import type { FoldAhead } from "../CommitAhead.ts"
import type { Fold } from "../Edit.ts"
import { isOutside } from "../Ledger.ts"
import { errorText } from "./box.ts"
import type { Candidate } from "./candidates.ts"
import { candidates, spanOf } from "./candidates.ts"
import { Draft } from "./Draft.ts"
import { overLimits } from "./limits.ts"
import type { Session } from "./Session.ts"
import { show } from "../VarveError.ts"
import type { ImageRef } from "../View.ts"
import type { ViewState } from "./ViewState.ts"

/** Share of a limit that a forced commit goes down to where the staged edits allow it. */
const LOW_WATER = 0.7

const apply = (
  { work }: Session,
  view: ViewState,
  chosen: ReadonlyArray<Pick<Candidate, "seq" | "edit">>
): readonly [ViewState, ReadonlySet<number>] => {
  const draft = new Draft(view, work)
  const done = new Set<number>()
  for (const { seq, edit } of chosen.toSorted((a, b) => a.seq - b.seq)) {
    if (typeof draft.apply(edit) !== "string") done.add(seq)
  }
  return [draft.freeze(), done]
}

/** Within all limits, and well within tokens and what else was over before. */
const fits = (view: ViewState, share: number, over: ReadonlySet<string>): boolean => {
  const { usage, limits } = view
  const low = (axis: string, used: number, limit: number): boolean =>
    !over.has(axis) || used <= share * limit
  return (
    overLimits(view).length === 0 &&
    low("tokens", usage.tokens, limits.tokens) &&
    low("images", usage.images, limits.images) &&
    low("image bytes", usage.imageBytes, limits.imageBytes) &&
    low("request bytes", usage.requestBytes, limits.requestBytes) &&
    // Among many images edges have a limit of their own: few enough images, or none that is too large.
    (low("px of an edge", usage.images, limits.manyImages?.over ?? Infinity) ||
      view.images.every((i) => edgeOfImage(i) <= limits.manyImages!.maxEdge))
  )
}

const edgeOfImage = ({ size }: ImageRef): number => Math.max(size?.width ?? 0, size?.height ?? 0)

/** The cut that re-writes least and brings the view down to the low-water mark; else everything. */
const forcedCut = (session: Session, view: ViewState, staged: ReadonlyArray<Candidate>): number => {
  const cuts = [...new Set(staged.map((s) => s.position))].sort((a, b) => b - a)
  const over = new Set(overLimits(view).map(({ axis }) => axis))
  let low = 0
  let high = cuts.length - 1
  while (low < high) {
    const mid = (low + high) >>> 1
    const [after] = apply(
      session,
      view,
      staged.filter((s) => s.position >= cuts[mid]!)
    )
    if (fits(after, LOW_WATER, over)) high = mid
    else low = mid + 1
  }
  return cuts[low]!
}

/**
 * The same cut, or the one before the memos where a fold comes into force behind them: what leaves with it must
 * stand in a memo that knows of it, whatever that costs.
 */
const withMemos = (staged: ReadonlyArray<Candidate>, cut: number): number =>
  staged.some((s) => s.edit.kind === "fold" && s.position >= cut)
    ? Math.min(cut, ...staged.flatMap((s) => (s.edit.kind === "memo" ? [s.position] : [])))
    : cut

/** Whether the rule would bring a fold into force that is yet to be made. */
export const isDueAhead = (
  session: Session,
  view: ViewState,
  rule: CommitRule,
  { call, items, saved }: FoldAhead
): boolean => {
  const { transcript } = session
  const folds = [...view.folds.values(), ...(session.work?.folds.values() ?? [])]
  const at = items.map(
    (id) => transcript.groupById.get(id)?.first ?? folds.find((f) => f.id === id)?.first ?? 0
  )
  const position = Math.min(...at)
  const edit: Fold = { kind: "fold", id: "ahead", items, text: "", basis: "" }
  const one: Staged = {
    edit,
    strategy: "",
    position,
    saved,
    age: 0,
    span: spanOf(items, transcript),
    firstMemo: false,
    call
  }
  try {
    const { cut } = checked(rule([...candidates(session, view), one], view, view.profile))
    return cut !== null && cut <= position
  } catch {
    return true
  }
}

export interface Committed {
  readonly view: ViewState
  readonly seqs: ReadonlySet<number>
  /** How many of them stand outside of the prefix: they re-write nothing. */
  readonly outside: number
  /** Where what is sent begins to differ. */
  readonly from: number
  readonly waiting: number
  readonly forced: boolean
  readonly reason: string
}

/** True where the model's turn is over: the newest message is a user's. */
const atBorder = ({ transcript }: Session): boolean => transcript.newest?.message.role === "user"

const checked = (decision: CommitDecision): CommitDecision => {
  const cut: unknown = decision?.cut
  if (cut === null || (typeof cut === "number" && !Number.isNaN(cut)))
    return { cut, reason: String(decision.reason) }
  throw new TypeError(`it gave ${show(decision)}, not a cut with its reason`)
}

/** Who decides, and who is told where that fails. */
interface Deciding {
  readonly commit: CommitRule
  readonly warn: (cause: string, message: string) => void
}

/** Brings staged edits into force as the rule says, or as a limit demands. */
export const commitStaged = (session: Session, view: ViewState, by: Deciding): Committed => {
  const outside = session.ledger.staged.filter(isOutside)
  if (outside.length === 0) return commitShown(session, view, by)
  const [before, seqs] = apply(session, view, outside)
  const committed = commitShown(session, before, by)
  return { ...committed, seqs: new Set([...seqs, ...committed.seqs]), outside: seqs.size }
}

const commitShown = (session: Session, view: ViewState, { commit, warn }: Deciding): Committed => {
  const nothing: Committed = {
    view,
    seqs: new Set(),
    outside: 0,
    from: Infinity,
    waiting: session.ledger.staged.filter((r) => !isOutside(r)).length,
    forced: false,
    reason: "nothing is staged"
  }
  if (nothing.waiting === 0) return nothing
  const staged = candidates(session, view)
  if (staged.length === 0) return { ...nothing, reason: "what is staged lies dormant" }
  const over = overLimits(view)[0]
  let decision: CommitDecision
  if (over !== undefined) {
    decision = {
      cut: forcedCut(session, view, staged),
      reason: `${over.needed} ${over.axis} are over the limit of ${over.limit}`
    }
  } else if (view.profile.reasoning === "error" && !atBorder(session)) {
    decision = {
      cut: null,
      reason: "inside a turn, whose reasoning is bound to what stands before it"
    }
  } else {
    try {
      decision = checked(commit(staged, view, view.profile))
    } catch (error) {
      const reason = `the commit rule failed: ${errorText(error)}`
      warn("commit", `${reason}; nothing comes into force before a limit`)
      decision = { cut: null, reason }
    }
  }
  const { cut, reason } = decision
  if (cut === null) return { ...nothing, reason }
  const first = withMemos(staged, cut)
  const chosen = staged.filter((s) => s.position >= first)
  const [after, seqs] = apply(session, view, chosen)
  const from = Math.min(...chosen.filter((s) => seqs.has(s.seq)).map((s) => s.position))
  return {
    view: after,
    seqs,
    outside: 0,
    from,
    waiting: nothing.waiting - seqs.size,
    forced: over !== undefined,
    reason
  }
}

import type { Edit, Proposal } from "../Edit.ts"
import type { Refused, StrategyReport } from "../Report.ts"
import { checkValidity } from "../Validity.ts"
import type { Boxed } from "./box.ts"
import { Draft } from "./Draft.ts"
import type { Accepted } from "./gate.ts"
import { accept } from "./gate.ts"
import type { Item } from "./items.ts"
import { splitBlockId } from "../Message.ts"
import type { ViewState } from "./ViewState.ts"

/** What became of a strategy's proposals. */
export interface Outcome {
  readonly view: ViewState
  readonly accepted: ReadonlyArray<{
    readonly reason: string
    readonly edits: ReadonlyArray<Accepted>
  }>
  readonly report: StrategyReport
}

/** The faults of a view, where it has more than the view before it had: the host's own are not ours. */
const newFaults = (view: ViewState, before: ViewState): ReadonlyArray<string> => {
  const { alternates, startsWithUser } = view.profile
  const options = { startsWithUser, alternates }
  const faults = checkValidity(view.messages, options)
  if (faults.length === 0 || faults.length <= checkValidity(before.messages, options).length)
    return []
  return faults.map((f) => `message ${f.at}: ${f.what}`)
}

/**
 * The faults that edits cause. Replacements stay inside their groups, and no fault of one group reaches into
 * another, so only these are looked at; a memo stands between groups. Where items or memos leave, the whole
 * view is judged. `draft`: one that shows the view's items.
 */
export const faultsOf = (
  view: ViewState,
  before: ViewState,
  edits: ReadonlyArray<Edit>,
  draft = new Draft(view)
): ReadonlyArray<string> => {
  const leaves = (edit: Edit): boolean =>
    edit.kind === "fold" || (edit.kind === "memo" && edit.text === null)
  if (edits.some(leaves)) return newFaults(view, before)
  const faults: Array<string> = []
  for (const item of changedItems(draft, edits)) {
    for (const f of checkValidity(item.messages))
      faults.push(`message ${f.at} of ${item.id}: ${f.what}`)
  }
  return faults
}

const changedItems = (draft: Draft, edits: ReadonlyArray<Edit>): ReadonlySet<Item> => {
  const items = new Set<Item>()
  for (const edit of edits) {
    const item = edit.kind === "replace" ? draft.itemOf(splitBlockId(edit.block)[0]) : undefined
    if (item !== undefined) items.add(item)
  }
  return items
}

const idOf = (edit: unknown): string => {
  try {
    const e = edit as { block?: unknown; id?: unknown; key?: unknown } | null
    const id = e?.block ?? e?.id ?? e?.key
    return typeof id === "string" ? id.slice(0, 80) : "not an edit"
  } catch {
    return "not an edit"
  }
}

/** Takes a strategy's proposals through the gate and the validity check. */
export const take = (
  name: string,
  { proposals, error }: Boxed,
  before: ViewState,
  guard: boolean,
  ms: number
): Outcome => {
  const refused: Array<Refused> = []
  const accepted: Array<{ reason: string; edits: ReadonlyArray<Accepted> }> = []
  let proposed = 0
  let view = before
  if (proposals.length > 0) {
    const draft = new Draft(before)
    for (const proposal of proposals) {
      proposed += proposal.edits.length
      const edits = takeOne(draft, proposal, guard, refused)
      if (edits.length > 0) accepted.push({ reason: proposal.reason, edits })
    }
    if (accepted.length > 0) {
      view = draft.freeze()
      const faults = faultsOf(
        view,
        before,
        accepted.flatMap((a) => a.edits.map(({ edit }) => edit)),
        draft
      )
      if (faults.length > 0) {
        for (const { edits } of accepted) {
          for (const { edit } of edits)
            refused.push({ edit: idOf(edit), why: `not valid: ${faults[0]}` })
        }
        accepted.length = 0
        view = before
      }
    }
  }
  const reasons: Record<string, number> = {}
  // Without edits a proposal only says something.
  for (const { reason, edits } of proposals) if (edits.length === 0) reasons[reason] = 0
  for (const { reason, edits } of accepted) reasons[reason] = (reasons[reason] ?? 0) + edits.length
  const count = accepted.reduce((sum, a) => sum + a.edits.length, 0)
  return {
    view,
    accepted,
    report: {
      name,
      saw: before.usage.tokens,
      proposed,
      accepted: count,
      refused,
      reasons,
      saved: before.estimate - view.estimate,
      ms,
      ...(error === undefined ? {} : { error })
    }
  }
}

const judge = (draft: Draft, edit: Edit, guard: boolean): Accepted | string => {
  try {
    return accept(draft, edit, { guard })
  } catch {
    // An object of the strategy's own that throws when it is looked at. Nothing was applied yet.
    return "it can't be read"
  }
}

const takeOne = (
  draft: Draft,
  proposal: Proposal,
  guard: boolean,
  refused: Array<Refused>
): ReadonlyArray<Accepted> => {
  const edits: Array<Accepted> = []
  for (const edit of proposal.edits) {
    const result = judge(draft, edit, guard)
    if (typeof result !== "string") {
      edits.push(result)
      continue
    }
    refused.push({ edit: idOf(edit), why: result })
    if (proposal.atomic === true) {
      for (const done of edits.reverse()) done.undo()
      return []
    }
  }
  return edits
}

import type { Ledger } from "../Ledger.ts"
import { Draft } from "./Draft.ts"
import { GroupItem } from "./items.ts"
import type { ViewContext } from "./ViewState.ts"
import { ViewState } from "./ViewState.ts"

/** The history under those edits that still stand; the others lie dormant. */
const replay = (
  context: ViewContext,
  edits: ReadonlyArray<{ readonly edit: Parameters<Draft["apply"]>[0] }>
): ViewState => {
  const draft = new Draft(ViewState.plain(context))
  for (const { edit } of edits) draft.apply(edit)
  return draft.freeze()
}

/** True where what changed behind the first `keep` groups touches no edit, so that the view can be extended. */
const canExtend = (
  view: ViewState,
  context: ViewContext,
  ledger: Ledger,
  keep: number
): boolean => {
  const { transcript } = context
  const kept = keep === 0 ? undefined : transcript.groups[keep - 1]!
  const border = kept === undefined ? 0 : kept.first + kept.entries.length
  for (let i = view.items.length - 1; i >= 0 && view.items[i]!.first >= border; i--) {
    const item = view.items[i]!
    if (!(item instanceof GroupItem) || item.replaced !== undefined) return false
  }
  for (const fold of view.folds.values()) if (fold.last >= border) return false
  // A memo stands behind the task and takes its time: a task that has just come moves it.
  const { task } = transcript.totals
  if (view.memoItems.size > 0 && !(task >= 0 && task < keep)) return false
  for (const memo of view.memoItems.values()) {
    if (memo.basis !== null && !transcript.byId.has(memo.basis)) return false
  }
  if (ledger.touched.size === 0) return true
  for (let g = keep; g < transcript.groups.length; g++) {
    const group = transcript.groups[g]!
    if (ledger.touched.has(group.id) || group.entries.some((e) => ledger.touched.has(e.id)))
      return false
  }
  return true
}

/** Brings a view up to what the transcript now is: extended where that is enough, replayed where it isn't. */
export const follow = (
  view: ViewState | undefined,
  context: ViewContext,
  ledger: Ledger,
  keep: number,
  records: () => ReadonlyArray<{ readonly edit: Parameters<Draft["apply"]>[0] }>
): ViewState => {
  if (view === undefined || !canExtend(view, context, ledger, keep))
    return replay(context, records())
  return keep === context.transcript.groups.length &&
    view.context.transcript === context.transcript &&
    sameEnd(view, context)
    ? view.with(context)
    : view.extend(context, keep)
}

const sameEnd = (view: ViewState, { transcript }: ViewContext): boolean => {
  const last = transcript.groups.at(-1)
  const item = view.items.at(-1)
  return last === undefined
    ? item === undefined
    : item !== undefined && item.last === last.first + last.entries.length - 1
}

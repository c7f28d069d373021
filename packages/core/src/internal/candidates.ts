import type { Staged } from "../Commit.ts"
import type { Edit, ItemId } from "../Edit.ts"
import type { EditRecord } from "../Ledger.ts"
import { isOutside } from "../Ledger.ts"
import { splitBlockId } from "../Message.ts"
import { touchesNewest } from "./replay.ts"
import type { Session } from "./Session.ts"
import type { ViewState } from "./ViewState.ts"

/** A staged edit whose targets still stand. */
export interface Candidate extends Staged {
  readonly seq: number
}

/** Where memos stand, as a position in the host's history: behind the task. */
export const memoPosition = ({ transcript }: Session): number => {
  const { task } = transcript.totals
  return task < 0 ? 0 : transcript.groups[task]!.first + 0.5
}

/** Where an edit changes the history; nothing where what it is for is gone. `folds`: those staged before it. */
const positionOf = (
  edit: Edit,
  session: Session,
  view: ViewState,
  folds: ReadonlyMap<ItemId, number>
): number | undefined => {
  const { transcript } = session
  if (edit.kind === "replace") {
    const entry = transcript.byId.get(splitBlockId(edit.block)[0])
    return entry && transcript.groups[entry.group]!.first
  }
  if (edit.basis !== null && !transcript.byId.has(edit.basis)) return undefined
  if (edit.kind === "memo") return memoPosition(session)
  const at = edit.items.map(
    (id) =>
      folds.get(id) ?? (view.folds.get(id) ?? transcript.groupById.get(id))?.first ?? Number.NaN
  )
  const first = Math.min(...at)
  return Number.isNaN(first) ? undefined : first
}

/** The staged edits as a commit rule sees them. */
export const candidates = (session: Session, view: ViewState): ReadonlyArray<Candidate> => {
  const { transcript, ledger } = session
  const folds = new Map<ItemId, number>()
  const isFirst = (key: string): boolean => {
    const last = ledger.inForce.findLast(({ edit }) => edit.kind === "memo" && edit.key === key)
    return last === undefined || isOutside(last)
  }
  const found: Array<Candidate> = []
  for (const r of ledger.staged) {
    const { edit, seq, strategy } = r
    const position = positionOf(edit, session, view, folds)
    if (position === undefined || isOutside(r)) continue
    if (edit.kind === "fold") folds.set(edit.id, position)
    // Where the newest says the same as what has left, an edit of that one is not for it.
    if (r.soft !== true && touchesNewest(view.context, edit)) continue
    found.push({
      seq,
      edit,
      strategy,
      position,
      saved: r.before - r.after,
      age: ageOf(r, transcript),
      span: edit.kind === "fold" ? spanOf(edit.items, transcript) : 0,
      firstMemo: edit.kind === "memo" && edit.text !== null && isFirst(edit.key)
    })
  }
  return found
}

const ageOf = ({ at }: EditRecord, transcript: Session["transcript"]): number => {
  const entry = at === null ? undefined : transcript.byId.get(at)
  if (entry === undefined) return 0
  return transcript.totals.requests - transcript.groups[entry.group]!.upTo.requests
}

/** Requests from the oldest to the newest group that a fold takes; earlier folds in it had their own. */
export const spanOf = (
  items: ReadonlyArray<ItemId>,
  { groupById }: Session["transcript"]
): number => {
  if (items.length < 2) return 0
  let [oldest, newest] = [Infinity, 0]
  for (const id of items) {
    const requests = groupById.get(id)?.upTo.requests
    if (requests === undefined) continue
    oldest = Math.min(oldest, requests)
    newest = Math.max(newest, requests)
  }
  return Math.max(0, newest - oldest)
}

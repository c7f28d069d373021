import type { Edit } from "../Edit.ts"
import type { EditRecord, Ledger } from "../Ledger.ts"
import type { BlockId, MessageId } from "../Message.ts"
import { splitBlockId } from "../Message.ts"
import type { Chunked } from "./Chunked.ts"
import { Draft, isConversation } from "./Draft.ts"
import type { Item } from "./items.ts"
import { GroupItem } from "./items.ts"
import { isNewest, protectionOf } from "./protect.ts"
import type { ViewContext } from "./ViewState.ts"
import { ViewState } from "./ViewState.ts"

/** The history under those edits that still stand; the others lie dormant. */
const replay = (context: ViewContext, records: ReadonlyArray<EditRecord>): ViewState => {
  const back = new Set<string>()
  for (;;) {
    const draft = new Draft(ViewState.plain(context))
    const before = draft.opening
    let held = back.size > 0
    for (const { edit, soft } of records) {
      if (edit.kind === "fold" && back.has(edit.id)) continue
      // A host that goes back makes the newest of what was old. Only a guard may have touched that.
      if (soft !== true && touchesNewest(context, edit)) held = true
      else draft.apply(edit)
    }
    const silent = opens(draft, before) ? undefined : silencing(draft)
    if (silent !== undefined) {
      back.add(silent)
      continue
    }
    const view = draft.freeze()
    view.held = held
    return view
  }
}

/** False where edits that were right for a longer history leave nothing of this one, or nothing to begin with. */
const opens = (draft: Draft, before: string | undefined): boolean => {
  const { opening } = draft
  if (draft.base.profile.startsWithUser && before === "user") return opening === "user"
  return opening !== undefined || before === undefined
}

/** The fold that has to wait: the newest without a text before what is shown, one with a user's message first. */
const silencing = (draft: Draft): string | undefined => {
  const { byId } = draft.base.context.transcript
  const folds = draft.silentFolds()
  const spoke = folds.findLast((f) => f.members.some((m) => byId.get(m)?.message.role === "user"))
  return (spoke ?? folds.at(-1))?.id
}

/** True where an edit is of what is the newest of its kind now. */
export const touchesNewest = (context: ViewContext, edit: Edit): boolean => {
  if (edit.kind === "memo") return false
  if (edit.kind === "replace" && isPast(context, edit.block)) return false
  const ids = edit.kind === "replace" ? [edit.block] : edit.items
  return ids.some((id) => isNewest(protectionOf(context, id)))
}

/** True for a block of a message that can have nothing of the newest: most edits are of one, in every request. */
const isPast = ({ transcript }: ViewContext, block: BlockId): boolean => {
  const groupOf = (id: MessageId): number | undefined => transcript.byId.get(id)?.group
  const group = groupOf(splitBlockId(block)[0])
  const { newestImage, newestUser } = transcript.totals
  return (
    group !== undefined &&
    group < transcript.groups.length - 1 &&
    (newestUser === undefined || group !== groupOf(newestUser)) &&
    (newestImage === undefined || group !== groupOf(splitBlockId(newestImage)[0]))
  )
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
  // Edits that wait for newer messages are looked at again each time.
  if (view.held) return false
  let dropped = 0
  const { list } = view
  for (let i = list.length - 1; i >= 0 && list.at(i)!.first >= border; i--) {
    const item = list.at(i)!
    if (!(item instanceof GroupItem) || item.replaced !== undefined) return false
    // More than an open group that goes on: the host went back.
    if (++dropped > 1 || item.group.open.length === 0) return false
  }
  for (const fold of view.folds.values()) if (fold.last >= border) return false
  // What was folded away whole comes back where nothing else is left.
  if (dropped > 0 && !speaks(list, list.length - dropped)) return false
  // A memo stands behind the task and takes its time: a task that has just come moves it.
  const { task } = transcript.totals
  if (view.memoItems.size > 0 && !(task >= 0 && task < keep)) return false
  for (const memo of view.memos) {
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

/** True where one of the first `count` items has a message of the conversation. */
const speaks = (list: Chunked<Item>, count: number): boolean => {
  for (let i = 0; i < count; i++) if (list.at(i)!.messages.some(isConversation)) return true
  return false
}

/** Brings a view up to what the transcript now is: extended where that is enough, replayed where it isn't. */
export const follow = (
  view: ViewState | undefined,
  context: ViewContext,
  ledger: Ledger,
  keep: number,
  records: () => ReadonlyArray<EditRecord>
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
  const item = view.list.at(view.list.length - 1)
  return last === undefined
    ? item === undefined
    : item !== undefined && item.last === last.first + last.entries.length - 1
}

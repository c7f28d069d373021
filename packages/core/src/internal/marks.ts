import { blocksOf, splitBlockId } from "../Message.ts"
import { candidates } from "./candidates.ts"
import { likelyCuts } from "./cuts.ts"
import type { Session } from "./Session.ts"
import type { ViewState } from "./ViewState.ts"

/** How many a provider takes, where a profile doesn't say. */
const MARKS = 4

/** Positions that a read looks back, where a profile doesn't say. */
const LOOKBACK = 20

/** The first group that a staged edit, or else the oldest image that may go, would change. */
const nextChange = ({ ledger, transcript }: Session, view: ViewState): number => {
  let first = Infinity
  for (const { edit } of ledger.staged) {
    const ids =
      edit.kind === "replace"
        ? [splitBlockId(edit.block)[0]]
        : edit.kind === "fold"
          ? edit.items
          : []
    for (const id of ids) {
      const group =
        transcript.groupById.get(id) ?? transcript.groups[transcript.byId.get(id)?.group ?? -1]
      if (group !== undefined) first = Math.min(first, group.first)
    }
  }
  if (first !== Infinity) return first
  const image = view.images[0]
  const entry = image === undefined ? undefined : transcript.byId.get(image.message)
  return entry === undefined ? Infinity : transcript.groups[entry.group]!.first
}

/** The message in front of a position of the host's history, where memos have half ones; -1 where there is none. */
const messageBefore = ({ list, memoItems, memoPlace, totals }: ViewState, position: number) => {
  let items = list.length
  let messages = totals.messages
  for (; items > 0 && list.at(items - 1)!.first >= position; items--)
    messages -= list.at(items - 1)!.messages.length
  const memos = memoPlace > items || !Number.isInteger(position) ? memoItems.size : 0
  return messages - memos - 1
}

/** True where a read that looks back from the newest message gets as far as this one. */
const isInReach = ({ list, profile, totals }: ViewState, message: number): boolean => {
  let left = profile.cache.lookback ?? LOOKBACK
  let at = totals.messages - 1
  for (let i = list.length - 1; i >= 0 && at > message && left > 0; i--)
    for (const one of list.at(i)!.messages.toReversed()) {
      if (at-- > message) left -= Math.max(1, blocksOf(one).length)
    }
  return left > 0
}

/** Where cache marks do most good; see `Prepared.marks`. */
export const cacheMarks = (
  session: Session,
  view: ViewState,
  kept: number
): ReadonlyArray<number> => {
  if (view.profile.cache.kind !== "marks") return []
  const last = view.tailAt - 1
  const same = Math.min(kept - 1, last)
  const change = nextChange(session, view)
  const wanted = [
    last,
    // Where nothing broke, the last one looks back to it.
    ...(isInReach(view, same) ? [] : [same]),
    ...(change === Infinity ? [] : [messageBefore(view, change)]),
    ...likelyCuts(candidates(session, view), view).map((at) => messageBefore(view, at)),
    same
  ]
  // With the host's own behind the system text, as many as the provider takes.
  const most = Math.max(1, (view.profile.cache.marks ?? MARKS) - 1)
  return [...new Set(wanted.filter((m) => m >= 0 && m <= last))]
    .slice(0, most)
    .sort((a, b) => a - b)
}

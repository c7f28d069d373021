import { splitBlockId } from "../Message.ts"
import type { Session } from "./Session.ts"
import type { ViewState } from "./ViewState.ts"

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

/** Where cache marks do most good; see `Prepared.marks`. */
export const cacheMarks = (
  session: Session,
  view: ViewState,
  kept: number
): ReadonlyArray<number> => {
  if (view.profile.cache.kind !== "marks") return []
  const last = view.tailAt - 1
  const change = nextChange(session, view)
  let next = -1
  if (change !== Infinity) {
    const place = view.memoPlace
    next += place === 0 ? view.memoItems.size : 0
    for (let i = 0; i < view.items.length && view.items[i]!.first < change; i++) {
      next += view.items[i]!.messages.length + (i + 1 === place ? view.memoItems.size : 0)
    }
  }
  return [...new Set([kept - 1, next, last])]
    .filter((m) => m >= 0 && m <= last)
    .sort((a, b) => a - b)
}

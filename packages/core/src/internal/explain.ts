import type { Explanation } from "../Report.ts"
import type { Session } from "./Session.ts"

/** The edits of a session, or those of one id, each with its story. */
export const explainEdits = (
  { ledger, sent }: Session,
  id: string | undefined
): ReadonlyArray<Explanation> => {
  // Of one memo the newest text alone stands; those before it are kept for a host that goes back.
  const memos = new Map(
    ledger.inForce.flatMap(({ edit, seq }) => (edit.kind === "memo" ? [[edit.key, seq]] : []))
  )
  return ledger.records.flatMap((record): ReadonlyArray<Explanation> => {
    const { edit, strategy, reason, before, after } = record
    const own = edit.kind === "replace" ? edit.block : edit.kind === "fold" ? edit.id : edit.key
    const isMeant =
      id === undefined || own === id || (edit.kind === "fold" && edit.items.includes(id))
    if (!isMeant) return []
    const stands =
      edit.kind === "memo"
        ? memos.get(edit.key) === record.seq
        : edit.kind !== "fold" || sent?.folds.has(edit.id) === true
    const state = record.state === "staged" ? "staged" : stands ? "in force" : "dormant"
    return [{ id: own, kind: edit.kind, strategy, reason, state, before, after }]
  })
}

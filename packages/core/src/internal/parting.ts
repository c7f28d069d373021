import type { Saved } from "../Ledger.ts"
import { journalOf } from "../Ledger.ts"
import type { Meter } from "./Meter.ts"
import type { Session } from "./Session.ts"

/**
 * Notes in the journal what the next process of a session is to know of the last request, in case that this one
 * makes no other: what was reported for it, and when it was made.
 */
export const parting = (session: Session, meter: Meter): void => {
  const { journal, last } = session
  const learned = meter.unsaved(session)
  if (learned !== undefined) journal.push(learned)
  if (last === undefined || last.at === session.notedAt) return
  session.notedAt = last.at
  journal.push({ t: "request", at: last.at })
}

/** The shortest journal that says all of a session, what was reported for its last request included. */
export const wholeOf = (session: Session, meter: Meter): ReadonlyArray<Saved> => {
  const { last, ledger, resumed, steps } = session
  const learned = meter.unlearned(session)
  const lines = journalOf(ledger, steps, {
    calibration: meter.calibration,
    limits: meter.learned,
    requestAt: last?.at ?? resumed?.at
  })
  return learned === undefined ? lines : [...lines, learned]
}

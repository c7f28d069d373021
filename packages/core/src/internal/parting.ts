import type { Meter } from "./Meter.ts"
import type { Session } from "./Session.ts"

/**
 * Notes in the journal what the next process of a session is to know of the last request, in case that this one
 * makes no other: what was reported for it, and when it was made.
 */
export const parting = (session: Session, meter: Meter): void => {
  const { journal, last } = session
  const learned = meter.unlearned(session)
  if (learned !== undefined) journal.push(learned)
  if (last === undefined || last.at === session.notedAt) return
  session.notedAt = last.at
  journal.push({ t: "request", at: last.at })
}

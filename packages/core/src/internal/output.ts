import { withoutImages } from "./project.ts"
import type { Session } from "./Session.ts"
import type { ViewState } from "./ViewState.ts"

const isSame = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** A view in messages: the host's own list where they are the same. */
export const outputOf = (
  messages: ReadonlyArray<unknown>,
  view: ViewState,
  { ledger, sent, transcript }: Session
): ReadonlyArray<unknown> => {
  const blind = !view.profile.vision && view.usage.images > 0
  // Without edits and repairs it is the history, and need not be laid out.
  const isPlain =
    view === sent && ledger.inForce.length === 0 && transcript.repairs.length === 0 && !blind
  if (isPlain && view.totals.messages === messages.length) return messages
  const out = blind ? withoutImages(view.messages) : view.copyMessages()
  return isSame(out, messages) ? messages : out
}

import * as Effect from "effect/Effect"
import type { Block, Message } from "../Message.ts"
import { blockAt, splitBlockId } from "../Message.ts"
import { NotAvailable, show } from "../VarveError.ts"
import type { Session } from "./Session.ts"

/** The original of what was edited. */
export interface Recalled {
  readonly id: string
  /** The messages that hold it, as the host has them. */
  readonly messages: ReadonlyArray<Message>
  /** The block itself, where one was asked for. */
  readonly block?: Block
}

/** Reads the original from the host's history; fails with `NotAvailable` where the host has dropped it. */
export const recallFrom = (session: Session, id: string): Effect.Effect<Recalled, NotAvailable> => {
  if (typeof id !== "string") {
    const message = `recall takes the id of an edit or a message as a text; got ${show(id)}.`
    return Effect.fail(new NotAvailable(String(id), message))
  }
  const { transcript, ledger } = session
  const group = transcript.groupById.get(id)
  if (group !== undefined)
    return Effect.succeed({ id, messages: group.entries.map((e) => e.message) })
  const entry = transcript.byId.get(id)
  if (entry !== undefined) return Effect.succeed({ id, messages: [entry.message] })
  const record = ledger.records.find((r) => r.edit.kind === "fold" && r.edit.id === id)
  if (record?.edit.kind === "fold") {
    return Effect.map(
      Effect.all(record.edit.items.map((item) => recallFrom(session, item))),
      (parts) => ({ id, messages: parts.flatMap((p) => p.messages) })
    )
  }
  const [message, path] = splitBlockId(id)
  const owner = transcript.byId.get(message)
  const block = owner === undefined ? undefined : blockAt(owner.message, path)
  if (owner !== undefined && block !== undefined) {
    return Effect.succeed({ id, messages: [owner.message], block })
  }
  return Effect.fail(
    new NotAvailable(
      id,
      `Nothing of the id ${id.slice(0, 80)} is in the host's history: the host has dropped it, or it never was there.`
    )
  )
}

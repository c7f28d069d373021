import type { Edit } from "../Edit.ts"
import type { EditRecord, Ledger, Saved } from "../Ledger.ts"
import { editLine } from "../Ledger.ts"
import type { StepLog } from "../StepLog.ts"
import type { Transcript } from "../Transcript.ts"
import type { Accepted } from "./gate.ts"
import type { Chunked } from "./Chunked.ts"
import type { Item } from "./items.ts"
import type { Besides } from "./Overheads.ts"
import { follow } from "./replay.ts"
import type { SentTail } from "./tail.ts"
import { sentTail, withoutTails } from "./tail.ts"
import type { ViewContext, ViewState } from "./ViewState.ts"

/** What was sent last, to tell how much of it stands at the front of the next request; sums without the tail. */
export interface Sent {
  readonly items: Chunked<Item>
  /** Tokens of the items alone. */
  readonly itemTokens: number
  readonly memo: string
  readonly memoPlace: number
  readonly tokens: number
  readonly messages: number
  /** Tokens of all of it, as counted. */
  readonly estimate: number
  readonly fixed: number
  readonly at: number
  /** What stood at its end that need not stand in the next. */
  readonly tail: SentTail | undefined
  /** Messages that the memos take. */
  readonly memos: number
  /** Edits in force. */
  readonly edits: number
  readonly besides: Besides | undefined
}

/** A text that says which memos are set, to compare with what was sent. */
export const memoText = (view: ViewState): string =>
  view.memoItems.size === 0
    ? ""
    : [...view.memoItems]
        .map(([key, memo]) => key + "\n" + memo.text)
        .sort()
        .join("\n\n")

export const memoTokens = ({ memoItems }: ViewState): number => {
  let tokens = 0
  for (const memo of memoItems.values()) tokens += memo.tokens
  return tokens
}

const NONE: ReadonlyArray<never> = []

/** The state of one memory. Every change of the ledger is noted in the journal as it happens. */
export class Session {
  readonly transcript: Transcript
  readonly steps: StepLog
  ledger: Ledger
  sent: ViewState | undefined
  work: ViewState | undefined
  last: Sent | undefined
  /** Where it goes on from what was stored: when its last request was made, if a line says so, ms. */
  resumed: { readonly at: number | undefined } | undefined
  /** Requests that had been made when something changed that had been sent before; `Infinity` before the first. */
  changedAt = Infinity
  /** Which request's time is in the journal, ms. */
  notedAt: number | undefined
  /** Journal lines that are not stored yet. */
  journal: Array<Saved> = []

  constructor(transcript: Transcript, steps: StepLog, ledger: Ledger) {
    this.transcript = transcript
    this.steps = steps
    this.ledger = ledger
  }

  /** When the last request was made, ms: by this process, else as far as what is stored and the history tell. */
  requestedAt(now: number): number | undefined {
    if (this.last !== undefined) return this.last.at
    if (this.resumed === undefined) return undefined
    const { at } = this.resumed
    const { answeredAt } = this.transcript
    // A time to come is of another clock.
    if (answeredAt === undefined || answeredAt > now) return at
    return at === undefined ? answeredAt : Math.max(at, answeredAt)
  }

  /** Takes the host's list as it now is; gives how many groups at the front stayed. */
  update(messages: ReadonlyArray<unknown>): number {
    const { transcript } = this
    const known = transcript.sharedWith(messages)
    return transcript.update(withoutTails(messages, known), known)
  }

  /** Brings both views up to what the history now is; `keep` groups at its front are as they were. */
  follow(context: ViewContext, keep: number, fresh: boolean): ViewState {
    const { ledger } = this
    const from = (view: ViewState | undefined) => (fresh ? undefined : view)
    this.sent = follow(from(this.sent), context, ledger, keep, () => ledger.inForce)
    // With nothing staged the two are one.
    this.work =
      ledger.staged.length === 0
        ? this.sent
        : follow(from(this.work), context, ledger, keep, () => ledger.records)
    return this.sent
  }

  /** A session that shares the history and nothing else: what happens to it leaves this one as it is. */
  rehearsal(): Session {
    const copy = new Session(this.transcript, this.steps, this.ledger.copy())
    copy.sent = this.sent
    copy.work = this.work
    copy.last = this.last
    copy.changedAt = this.changedAt
    return copy
  }

  /** Notes what is sent, to tell how much of it stands at the front of the next request. */
  remember(view: ViewState, now: number, besides: Besides | undefined): void {
    this.last = {
      items: view.list,
      itemTokens: view.totals.tokens - memoTokens(view),
      memo: memoText(view),
      memoPlace: view.memoPlace,
      tokens: view.totals.tokens + view.context.overheadTokens,
      messages: view.totals.messages,
      estimate: view.estimate,
      fixed: view.fixed,
      at: now,
      tail: sentTail(view),
      memos: view.memoItems.size,
      edits: this.ledger.sent,
      besides
    }
  }

  /** Pins or unpins a message; false where that is no id. */
  pin(t: "pin" | "unpin", id: string): boolean {
    if (typeof id !== "string" || id === "") return false
    if (t === "pin") this.ledger.pins.add(id)
    else this.ledger.pins.delete(id)
    this.journal.push({ t, id })
    return true
  }

  /** Stages accepted edits; gives their numbers. */
  stage(
    strategy: string,
    reason: string,
    accepted: ReadonlyArray<Accepted>
  ): ReadonlyArray<number> {
    const at = this.transcript.newest?.id ?? null
    return accepted.map(({ edit, before, after, soft }) => {
      const older = this.#replacedBy(edit)
      const record = this.ledger.stage({
        edit,
        ...(soft === true ? { soft } : {}),
        strategy,
        reason,
        at,
        before: older[0]?.before ?? before,
        after
      })
      this.journal.push(editLine(record))
      if (older.length > 0) this.drop(new Set(older.map(({ seq }) => seq)))
      return record.seq
    })
  }

  /** The staged memos that can't be sent any more once a newer one of their key is staged. */
  #replacedBy(edit: Edit): ReadonlyArray<EditRecord> {
    if (edit.kind !== "memo") return NONE
    return this.ledger.staged.filter(
      ({ edit: other }) =>
        other.kind === "memo" &&
        other.key === edit.key &&
        (edit.basis === null || edit.basis === other.basis)
    )
  }

  commit(seqs: ReadonlySet<number>): void {
    if (seqs.size === 0) return
    this.ledger.commit(seqs)
    this.journal.push({ t: "commit", seqs: [...seqs] })
  }

  drop(seqs: ReadonlySet<number>): void {
    if (seqs.size === 0) return
    this.ledger.drop(seqs)
    this.journal.push({ t: "drop", seqs: [...seqs] })
  }
}

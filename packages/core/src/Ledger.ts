import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { Edit, Memo } from "./Edit.ts"
import { Calibration } from "./Calibration.ts"
import { EditSchema } from "./Edit.ts"
import type { Tighter } from "./internal/recovery.ts"
import type { MessageId } from "./Message.ts"
import { splitBlockId } from "./Message.ts"
import type { StepLog } from "./StepLog.ts"
import { StoreError } from "./VarveError.ts"

/** Written at the head of every journal. A reader refuses what is newer than it knows. */
export const SAVED_VERSION = 1

/** Staged: accepted but held back. In force: sent from now on. */
export type EditState = "staged" | "in force"

/** An accepted edit with its story. */
export interface EditRecord {
  readonly seq: number
  readonly edit: Edit
  readonly strategy: string
  readonly reason: string
  readonly state: EditState
  /** The newest message when it was accepted: tells for how many requests it has waited. */
  readonly at: MessageId | null
  /** Tokens of what it stands for and of what stands there now. */
  readonly before: number
  readonly after: number
  /** True for a guard's: it may touch what is softly protected. */
  readonly soft?: boolean
}

const Text = Schema.optionalKey(Schema.String)

/** One line of a saved session. */
export const Saved = Schema.Union([
  Schema.Struct({ t: Schema.Literals(["varve"]), version: Schema.Finite }),
  Schema.Struct({
    t: Schema.Literals(["edit"]),
    seq: Schema.Int,
    strategy: Schema.String,
    reason: Schema.String,
    at: Schema.NullOr(Schema.String),
    before: Schema.Finite,
    after: Schema.Finite,
    soft: Schema.optionalKey(Schema.Boolean),
    edit: EditSchema
  }),
  Schema.Struct({ t: Schema.Literals(["commit"]), seqs: Schema.Array(Schema.Int) }),
  Schema.Struct({ t: Schema.Literals(["drop"]), seqs: Schema.Array(Schema.Int) }),
  Schema.Struct({
    t: Schema.Literals(["begin"]),
    id: Schema.String,
    step: Schema.optionalKey(Schema.Finite),
    goal: Schema.String,
    callId: Text,
    tool: Text,
    args: Schema.optionalKey(Schema.Unknown)
  }),
  Schema.Struct({
    t: Schema.Literals(["finish"]),
    id: Schema.String,
    callId: Text,
    outcome: Schema.Literals(["success", "failed"]),
    note: Text
  }),
  Schema.Struct({ t: Schema.Literals(["pin", "unpin"]), id: Schema.String }),
  Schema.Struct({ t: Schema.Literals(["calibration"]), state: Calibration, through: Text }),
  /** When the last request was made, ms: whether its prefix is still in the provider's cache. */
  Schema.Struct({ t: Schema.Literals(["request"]), at: Schema.Finite }),
  /** Limits that a provider's errors have stated. */
  Schema.Struct({
    t: Schema.Literals(["limits"]),
    limits: Schema.Record(Schema.String, Schema.Finite)
  })
])
export type Saved = typeof Saved.Type

const decode = Schema.decodeUnknownExit(Saved)

/** True for what stands in no request. */
export const isAside = ({ edit }: Pick<EditRecord, "edit">): boolean =>
  edit.kind === "memo" && edit.aside === true

/** True for what stands outside of the prefix, in no request or at its end: it comes into force at once. */
export const isOutside = ({ edit }: Pick<EditRecord, "edit">): boolean =>
  edit.kind === "memo" && (edit.aside === true || edit.tail === true)

/** Where a number stands, or would, in records that are ascending by theirs. */
const placeOf = (records: ReadonlyArray<EditRecord>, seq: number): number => {
  let low = 0
  let high = records.length
  while (low < high) {
    const mid = (low + high) >>> 1
    if (records[mid]!.seq < seq) low = mid + 1
    else high = mid
  }
  return low
}

/** The log of edits in force and staged: what is replayed over a history gives what is sent. */
export class Ledger {
  /** Ascending by number. */
  #records: Array<EditRecord>
  #next: number
  // Both follow from the records and are kept beside them: a request looks at few, and there may be many.
  #staged: Array<EditRecord> | undefined
  #inForce: Array<EditRecord> | undefined
  #sent: number | undefined
  /** Ids of messages and items that any record speaks of. */
  readonly touched = new Set<string>()
  readonly pins: Set<string>
  /** The newest message that the provider's last figure stands for, as long as what is in force stays the same. */
  anchored: MessageId | undefined

  constructor(records: ReadonlyArray<EditRecord> = [], pins: Iterable<string> = []) {
    this.#records = records.toSorted((a, b) => a.seq - b.seq)
    this.#next = 1 + records.reduce((max, r) => Math.max(max, r.seq), 0)
    this.pins = new Set(pins)
    for (const { edit } of records) this.#touch(edit)
    this.#thin()
  }

  /** An independent copy, for a dry run or another session. */
  copy(): Ledger {
    const copy = new Ledger(this.#records, this.pins)
    copy.anchored = this.anchored
    return copy
  }

  /** All records in the order of their acceptance. */
  get records(): ReadonlyArray<EditRecord> {
    return this.#records
  }

  get staged(): ReadonlyArray<EditRecord> {
    return (this.#staged ??= this.#records.filter((r) => r.state === "staged"))
  }

  get inForce(): ReadonlyArray<EditRecord> {
    return (this.#inForce ??= this.#records.filter((r) => r.state === "in force"))
  }

  /** How many edits in force stand in requests, before the tail. */
  get sent(): number {
    return (this.#sent ??= this.inForce.reduce((sum, r) => sum + (isOutside(r) ? 0 : 1), 0))
  }

  #changed(records: Array<EditRecord>): void {
    this.#records = records
    this.#staged = undefined
    this.#inForce = undefined
    this.#sent = undefined
  }

  #touch(edit: Edit): void {
    if (edit.kind === "replace") this.touched.add(splitBlockId(edit.block)[0])
    else {
      if (edit.kind === "fold") for (const item of edit.items) this.touched.add(item)
      if (edit.basis !== null) this.touched.add(edit.basis)
    }
  }

  /** Adds an accepted edit as staged. */
  stage(record: Omit<EditRecord, "seq" | "state">): EditRecord {
    const staged: EditRecord = { ...record, seq: this.#next++, state: "staged" }
    this.#staged?.push(staged)
    this.#records.push(staged)
    this.#touch(record.edit)
    return staged
  }

  /** Puts staged edits in force. */
  commit(seqs: ReadonlySet<number>): void {
    const inForce = this.#inForce
    for (const staged of this.staged.filter((r) => seqs.has(r.seq))) {
      const record: EditRecord = { ...staged, state: "in force" }
      this.#records[placeOf(this.#records, record.seq)] = record
      inForce?.splice(placeOf(inForce, record.seq), 0, record)
      if (!isAside(record)) this.anchored = undefined
      if (!isOutside(record) && this.#sent !== undefined) this.#sent++
    }
    this.#staged = this.staged.filter((r) => !seqs.has(r.seq))
    this.#thin()
  }

  /** Memos outside of the prefix change with every step: of each key the newest few are enough. */
  #thin(): void {
    if (this.inForce.length - this.sent <= 16) return
    const outside = this.inForce.filter(isOutside)
    const newer = new Map<string, number>()
    const gone = new Set<EditRecord>()
    for (const record of outside.toReversed()) {
      const key = (record.edit as Memo).key
      const count = newer.get(key) ?? 0
      if (count < 4) newer.set(key, count + 1)
      else gone.add(record)
    }
    this.#changed(this.#records.filter((r) => !gone.has(r)))
  }

  /** Takes edits out that turned out to be at fault. */
  drop(seqs: ReadonlySet<number>): void {
    for (const seq of seqs) {
      const at = placeOf(this.#records, seq)
      const record = this.#records[at]
      if (record?.seq !== seq) continue
      this.#records.splice(at, 1)
      if (record.state === "in force") {
        this.#inForce = undefined
        this.#sent = undefined
        this.anchored = undefined
      }
    }
    this.#staged = this.#staged?.filter((r) => !seqs.has(r.seq))
  }

  /** Forgets what a later edit has made void for good, so that journals don't grow for ever. */
  compact(): void {
    const rank = new Map<string, number>()
    const memos = new Map<string, number>()
    const kept: Array<EditRecord> = []
    for (const record of this.#records.toReversed()) {
      const { edit } = record
      if (edit.kind === "replace") {
        if (record.state === "in force") {
          if ((rank.get(edit.block) ?? 0) >= edit.rank) continue
          rank.set(edit.block, edit.rank)
        }
      } else if (edit.kind === "memo" && record.state === "in force") {
        // A few older ones stay: they come back where a newer one loses its ground.
        const newer = memos.get(edit.key) ?? 0
        if (newer >= 4) continue
        memos.set(edit.key, newer + 1)
      }
      kept.push(record)
    }
    this.#changed(kept.reverse())
  }
}

/** The journal line of an accepted edit. */
export const editLine = ({
  seq,
  strategy,
  reason,
  at,
  before,
  after,
  soft,
  edit
}: EditRecord): Saved => ({
  t: "edit",
  ...(soft === true ? { soft } : {}),
  seq,
  strategy,
  reason,
  at,
  before,
  after,
  edit: edit as (Saved & { t: "edit" })["edit"]
})

/** The journal line of what was learned of a model's counts. */
export const calibrationLine = (state: Calibration, through: MessageId | undefined): Saved => ({
  t: "calibration",
  state,
  ...(through === undefined ? {} : { through })
})

/** What a journal says. */
export interface Restored {
  readonly ledger: Ledger
  readonly calibration: Calibration | undefined
  readonly limits: Tighter
  /** When the last request was made, ms; nothing where no line says so. */
  readonly requestAt: number | undefined
}

/**
 * The shortest journal that says the same as a session's state.
 */
export const journalOf = (
  ledger: Ledger,
  steps: StepLog,
  { calibration, limits, requestAt }: Omit<Restored, "ledger">
): ReadonlyArray<Saved> => {
  ledger.compact()
  const lines: Array<Saved> = [{ t: "varve", version: SAVED_VERSION }]
  for (const { status, note, id, step, goal, callId, tool, args } of steps.steps) {
    const call = callId === undefined ? {} : { callId }
    lines.push({
      t: "begin",
      id,
      step,
      goal,
      ...call,
      ...(tool === undefined ? {} : { tool }),
      ...(args === undefined ? {} : { args })
    })
    if (status !== "pending") {
      lines.push({
        t: "finish",
        id,
        ...call,
        outcome: status,
        ...(note === undefined ? {} : { note })
      })
    }
  }
  for (const record of ledger.records) lines.push(editLine(record))
  const seqs = ledger.inForce.map((r) => r.seq)
  if (seqs.length > 0) lines.push({ t: "commit", seqs })
  for (const id of ledger.pins) lines.push({ t: "pin", id })
  if (calibration !== undefined) lines.push(calibrationLine(calibration, ledger.anchored))
  if (requestAt !== undefined) lines.push({ t: "request", at: requestAt })
  if (Object.keys(limits).length > 0) lines.push({ t: "limits", limits })
  return lines
}

/**
 * Reads a journal back. Throws `StoreError`: `version` where a newer Varve wrote it, `corrupt` where a line
 * is not one of ours.
 */
export const restore = (key: string, entries: ReadonlyArray<unknown>, steps: StepLog): Restored => {
  const records = new Map<number, EditRecord>()
  const pins = new Set<string>()
  let calibration: Calibration | undefined
  let anchored: MessageId | undefined
  let limits: Tighter = {}
  let requestAt: number | undefined
  entries.forEach((entry, i) => {
    const version = (entry as { t?: unknown; version?: unknown } | null)?.version
    if ((entry as { t?: unknown } | null)?.t === "varve" && version !== SAVED_VERSION) {
      throw new StoreError(
        "version",
        key,
        `The session ${key} was saved in version ${String(version)}; this package reads version ${SAVED_VERSION}. Upgrade @varve/core or begin a new session.`
      )
    }
    const exit = decode(entry)
    if (Exit.isFailure(exit)) {
      throw new StoreError(
        "corrupt",
        key,
        `Line ${i + 1} of the saved session ${key} is not one that this package wrote. Restore the file from a copy or begin a new session.`
      )
    }
    const line = exit.value
    switch (line.t) {
      case "edit": {
        const { t: _, ...record } = line
        records.set(line.seq, { ...record, edit: line.edit as unknown as Edit, state: "staged" })
        break
      }
      case "commit":
        for (const seq of line.seqs) {
          const record = records.get(seq)
          if (record !== undefined && !isAside(record)) anchored = undefined
          if (record !== undefined) records.set(seq, { ...record, state: "in force" })
        }
        break
      case "drop":
        for (const seq of line.seqs) {
          if (records.get(seq)?.state === "in force") anchored = undefined
          records.delete(seq)
        }
        break
      case "begin": {
        const { t: _, ...step } = line
        steps.begin(step)
        break
      }
      case "finish":
        steps.finish(line)
        break
      case "pin":
        pins.add(line.id)
        break
      case "unpin":
        pins.delete(line.id)
        break
      case "calibration":
        calibration = line.state
        anchored = line.through
        break
      case "request":
        requestAt = line.at
        break
      case "limits":
        limits = line.limits
    }
  })
  const ledger = new Ledger([...records.values()], pins)
  ledger.anchored = anchored
  return { ledger, calibration, limits, requestAt }
}

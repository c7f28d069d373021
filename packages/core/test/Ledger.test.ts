import * as Edit from "@varve/core/Edit"
import { startCalibration } from "@varve/core/Calibration"
import type { Saved } from "@varve/core/Ledger"
import { journalOf, Ledger, restore, SAVED_VERSION } from "@varve/core/Ledger"
import { defaultProfile } from "@varve/core/Profile"
import { StepLog } from "@varve/core/StepLog"
import { StoreError } from "@varve/core/VarveError"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const record = (edit: Edit.Edit) => ({
  edit,
  strategy: "s",
  reason: "r",
  at: "m1",
  before: 10,
  after: 2
})
const seqs = (ledger: Ledger) => ledger.records.map((r) => r.seq)
const roundTrip = (lines: ReadonlyArray<Saved>): ReadonlyArray<unknown> =>
  lines.map((line): unknown => JSON.parse(JSON.stringify(line)))
const noLimits = { calibration: undefined, limits: {}, requestAt: undefined }

describe("the ledger", () => {
  it("stages, commits and drops by number, and never gives a number twice", () => {
    const ledger = new Ledger()
    const all = ["a/0", "b/0", "c/0"].map((b) => ledger.stage(record(Edit.replace(b, "card"))).seq)
    expect(all).toEqual([1, 2, 3])
    expect(ledger.staged.length).toBe(3)
    ledger.commit(new Set([2]))
    ledger.drop(new Set([3]))
    expect(ledger.inForce.map((r) => r.seq)).toEqual([2])
    expect(ledger.staged.map((r) => r.seq)).toEqual([1])
    expect(ledger.stage(record(Edit.replace("d/0", "card"))).seq).toBe(4)
  })

  it("keeps what is in force in the order of acceptance, whichever came into force first", () => {
    const ledger = new Ledger()
    for (const block of ["a/0", "b/0", "c/0"]) ledger.stage(record(Edit.replace(block, "card")))
    for (const seq of [2, 3, 1]) {
      ledger.commit(new Set([seq]))
      const inForce = ledger.records.filter((r) => r.state === "in force")
      expect(ledger.inForce).toEqual(inForce)
      expect(ledger.sent).toBe(inForce.length)
    }
  })

  it("knows every message and item that an edit speaks of", () => {
    const ledger = new Ledger()
    ledger.stage(record(Edit.replace("m@1/0.1", "card")))
    ledger.stage(record(Edit.fold(["g1", "g2"], null, "b1")))
    ledger.stage(record(Edit.memo("k", "x", { cap: 9, basis: "b2" })))
    ledger.stage(record(Edit.memo("l", "x", { cap: 9 })))
    expect([...ledger.touched].sort()).toEqual(["b1", "b2", "g1", "g2", "m@1"])
    expect([...ledger.copy().touched].sort()).toEqual([...ledger.touched].sort())
  })

  it("copied, is another one", () => {
    const ledger = new Ledger([], ["p"])
    ledger.stage(record(Edit.replace("a/0", "card")))
    const copy = ledger.copy()
    copy.stage(record(Edit.replace("b/0", "card")))
    copy.commit(new Set([1]))
    copy.pins.add("q")
    expect(ledger.staged.length).toBe(1)
    expect([...ledger.pins]).toEqual(["p"])
  })

  it("compacted, forgets what a later edit in force made void, and nothing else", () => {
    const ledger = new Ledger()
    const stage = (edit: Edit.Edit) => ledger.stage(record(edit)).seq
    const thumb = stage(Edit.replace("a/0", "thumb", 1))
    const card = stage(Edit.replace("a/0", "card"))
    const waits = stage(Edit.replace("b/0", "thumb", 1))
    const other = stage(Edit.replace("b/0", "card"))
    const fold = stage(Edit.fold(["g"], "text", "m"))
    const memos = Array.from({ length: 7 }, (_, i) => stage(Edit.memo("k", `v${i}`, { cap: 9 })))
    ledger.commit(new Set([thumb, card, waits, fold, ...memos]))
    ledger.compact()
    // The newest four memos: an older one comes back where a newer one loses its ground.
    expect(seqs(ledger)).toEqual([card, waits, other, fold, ...memos.slice(3)])
  })
})

describe("the journal", () => {
  const edits = fc.oneof(
    fc
      .tuple(fc.nat(5), fc.constantFrom(1 as const, 2 as const))
      .map(([b, rank]) => Edit.replace(`m${b}/0`, "x", rank)),
    fc.nat(5).map((g) => Edit.fold([`g${g}`], g % 2 === 0 ? null : "text", "m1", { n: g })),
    fc.nat(2).map((k) => Edit.memo(`k${k}`, "text", { cap: 50 }))
  )
  const acts = fc.array(
    fc.oneof(
      edits.map((edit) => ({ act: "stage" as const, edit })),
      fc.array(fc.nat(20)).map((n) => ({ act: "commit" as const, seqs: n })),
      fc.array(fc.nat(20), { maxLength: 2 }).map((n) => ({ act: "drop" as const, seqs: n })),
      fc.nat(3).map((n) => ({ act: "begin" as const, n })),
      fc.nat(3).map((n) => ({ act: "finish" as const, n })),
      fc.nat(3).map((n) => ({ act: "pin" as const, n }))
    ),
    { maxLength: 40 }
  )

  it("gives back the state that it was written from", () => {
    fc.assert(
      fc.property(acts, (list) => {
        const ledger = new Ledger()
        const steps = new StepLog()
        for (const a of list) {
          if (a.act === "stage") ledger.stage(record(a.edit))
          else if (a.act === "commit") ledger.commit(new Set(a.seqs))
          else if (a.act === "drop") ledger.drop(new Set(a.seqs))
          else if (a.act === "pin") ledger.pins.add(`p${a.n}`)
          else if (a.act === "begin")
            steps.begin({ id: `s${a.n}`, step: a.n * 2, goal: "go", tool: "click", args: { a: 1 } })
          else
            steps.finish({
              id: `s${a.n}`,
              outcome: a.n % 2 === 0 ? "success" : "failed",
              note: "n"
            })
        }
        const calibration = startCalibration(defaultProfile)
        const limits = { tokens: 1000, images: 3 }
        const lines = journalOf(ledger, steps, {
          calibration,
          limits,
          requestAt: 1_770_000_000_000
        })
        const log = new StepLog()
        const restored = restore("a/s", roundTrip(lines), log)
        expect(restored.ledger.records).toEqual(ledger.records)
        expect([...restored.ledger.pins]).toEqual([...ledger.pins])
        expect(restored.calibration).toEqual(calibration)
        expect(restored.limits).toEqual(limits)
        expect(log.steps).toEqual(steps.steps)
        expect(log.pending).toBe(steps.pending)
        // A journal of what was restored says the same once more.
        expect(journalOf(restored.ledger, log, restored)).toEqual(lines)
        // The next number is a new one.
        const next = restored.ledger.stage(record(Edit.replace("z/0", "x"))).seq
        expect(seqs(ledger)).not.toContain(next)
      })
    )
  })

  it("begins with its version", () => {
    expect(journalOf(new Ledger(), new StepLog(), noLimits)).toEqual([
      { t: "varve", version: SAVED_VERSION }
    ])
  })

  const failure = (entries: ReadonlyArray<unknown>): StoreError => {
    try {
      restore("agent/s", entries, new StepLog())
    } catch (error) {
      if (error instanceof StoreError) return error
      throw error
    }
    throw new Error("it was taken")
  }

  it("of an unknown version is a typed error that says both versions", () => {
    for (const version of [SAVED_VERSION + 1, 0, "1", undefined]) {
      const entry = { t: "varve", version, anything: 1 }
      const error = failure([entry, { t: "from the future" }])
      expect(error.reason).toBe(version === undefined ? "version" : "version")
      expect(error.key).toBe("agent/s")
      expect(error.message).toContain(`version ${String(version)}`)
      expect(error.message).toContain(`version ${SAVED_VERSION}`)
    }
  })

  it.each([
    [null],
    ["text"],
    [{}],
    [{ t: "unknown" }],
    [{ t: "edit", seq: 1 }],
    [{ t: "commit", seqs: "1" }],
    [{ t: "finish", id: "s", outcome: "maybe" }],
    [{ t: "limits", limits: { tokens: "many" } }]
  ])("with a foreign line is corrupt, and says which line: %j", (entry) => {
    const error = failure([{ t: "varve", version: SAVED_VERSION }, entry])
    expect(error.reason).toBe("corrupt")
    expect(error.message).toContain("Line 2 ")
  })

  it("takes a commit or a drop of what isn't there", () => {
    const { ledger } = restore(
      "k",
      [
        { t: "commit", seqs: [4] },
        { t: "drop", seqs: [5] }
      ],
      new StepLog()
    )
    expect(ledger.records).toEqual([])
  })

  it("takes the last word on pins", () => {
    const lines = ["pin", "pin", "unpin", "pin", "unpin"].map((t, i) => ({
      t,
      id: i < 3 ? "a" : "b"
    }))
    expect([...restore("k", [...lines, { t: "pin", id: "c" }], new StepLog()).ledger.pins]).toEqual(
      ["c"]
    )
  })
})

describe("what is staged and what is in force", () => {
  const anAct = fc.tuple(
    fc.constantFrom("stage", "stage", "aside", "commit", "drop", "look"),
    fc.nat(14)
  )

  it("follows from the records after whatever happened, in the order of their acceptance", () => {
    fc.assert(
      fc.property(fc.array(anAct, { maxLength: 60 }), (acts) => {
        const ledger = new Ledger()
        for (const [act, n] of acts) {
          const some = new Set([n, n + 1, n + 5])
          if (act === "stage") ledger.stage(record(Edit.replace(`m${n}/0`, "card")))
          else if (act === "aside")
            ledger.stage(record(Edit.memo(`k${n % 3}`, "x", { cap: 9, aside: true })))
          else if (act === "commit") ledger.commit(some)
          else if (act === "drop") ledger.drop(some)
          else expect(ledger.sent).toBeLessThanOrEqual(ledger.inForce.length)
          const { records } = ledger
          expect(seqs(ledger)).toEqual(seqs(ledger).toSorted((a, b) => a - b))
          // A copy has nothing but the records.
          const copy = ledger.copy()
          if (n % 3 === 0) {
            expect(ledger.staged).toEqual(records.filter((r) => r.state === "staged"))
            expect(ledger.inForce).toEqual(records.filter((r) => r.state === "in force"))
            expect(ledger.sent).toBe(copy.sent)
          }
        }
      })
    )
  })
})

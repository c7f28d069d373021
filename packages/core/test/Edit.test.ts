import * as Edit from "@varve/core/Edit"
import * as Schema from "effect/Schema"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { text } from "./fixtures/history.ts"

describe("an edit", () => {
  it("that replaces a block takes a text, a block, blocks or nothing", () => {
    const base = { kind: "replace", block: "m/0", rank: 2 }
    expect(Edit.replace("m/0", "card")).toEqual({ ...base, to: [text("card")] })
    expect(Edit.replace("m/0", text("card"))).toEqual({ ...base, to: [text("card")] })
    expect(Edit.replace("m/0", [text("a"), text("b")])).toEqual({
      ...base,
      to: [text("a"), text("b")]
    })
    expect(Edit.replace("m/0", [], 1)).toEqual({ ...base, rank: 1, to: [] })
  })

  it("that folds has an id that follows from its items and its text", () => {
    const fold = Edit.fold(["a", "b"], "text", "m")
    expect(Edit.fold(["a", "b"], "text", "other", { kept: 1 }).id).toBe(fold.id)
    for (const other of [
      Edit.fold(["b", "a"], "text", "m"),
      Edit.fold(["a", "b"], "text2", "m"),
      Edit.fold(["a"], "text", "m"),
      Edit.fold(["a", "b"], null, "m")
    ]) {
      expect(other.id).not.toBe(fold.id)
    }
    expect("data" in fold).toBe(false)
    expect(Edit.fold(["a"], null, "m", 0).data).toBe(0)
  })

  it("that sets a memo has a cap, and no basis unless one is given", () => {
    expect(Edit.memo("k", "text", { cap: 10 })).toEqual({
      kind: "memo",
      key: "k",
      text: "text",
      basis: null,
      cap: 10
    })
    expect(Edit.memo("k", null, { cap: 1, basis: "m", data: [1] })).toMatchObject({
      text: null,
      basis: "m",
      data: [1]
    })
  })

  it("has a reason, and stands by itself unless its proposal is atomic", () => {
    const edit = Edit.replace("m/0", "card")
    expect(Edit.proposal("why", [edit])).toEqual({ edits: [edit], reason: "why" })
    expect(Edit.proposal("why", [edit], { atomic: false })).toEqual({
      edits: [edit],
      reason: "why"
    })
    expect(Edit.proposal("why", [edit], { atomic: true }).atomic).toBe(true)
  })

  it("is the same after a round trip through its saved form", () => {
    const string = fc.string({ unit: "binary" })
    const data = fc.option(fc.jsonValue().map((v): unknown => JSON.parse(JSON.stringify(v))))
    const edit = fc.oneof(
      fc
        .tuple(string, string, fc.constantFrom(1 as const, 2 as const))
        .map(([block, to, rank]) => Edit.replace(block, to, rank)),
      fc
        .tuple(fc.array(string), fc.option(string), string, data)
        .map(([items, to, basis, d]) => Edit.fold(items, to, basis, d)),
      fc
        .tuple(string, fc.option(string), fc.nat(), fc.option(string), data)
        .map(([key, to, cap, basis, d]) => Edit.memo(key, to, { cap, basis, data: d }))
    )
    fc.assert(
      fc.property(edit, (e) => {
        const saved: unknown = JSON.parse(JSON.stringify(e))
        expect(Schema.decodeUnknownSync(Edit.EditSchema)(saved)).toEqual(e)
      })
    )
  })

  it.each([
    [null],
    [{ kind: "other" }],
    [{ ...Edit.replace("m/0", "x"), rank: 3 }],
    [{ ...Edit.replace("m/0", "x"), to: "x" }],
    [{ ...Edit.fold(["a"], null, "m"), items: "a" }],
    [{ ...Edit.fold(["a"], null, "m"), basis: null }],
    [{ ...Edit.memo("k", "x", { cap: 1 }), cap: null }]
  ])("of another form is refused when it is loaded: %j", (saved) => {
    expect(() => Schema.decodeUnknownSync(Edit.EditSchema)(saved)).toThrow()
  })
})

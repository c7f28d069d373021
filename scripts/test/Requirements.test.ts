import { describe, expect, it } from "vitest"
import { hasTest, ids, problemsOf, rowsOf } from "../requirement-rows.ts"

const full = (changed: Readonly<Record<string, string>> = {}) =>
  rowsOf(
    "map.md",
    ids.map((id) => `| ${id} | what it asks for | ${changed[id] ?? "unproved"} |`).join("\n")
  )

const proof = "`packages/core/test/Guard.test.ts > keeps the newest image`"

describe("the requirements map", () => {
  it("takes a map that names every id once", () => {
    expect(problemsOf(full(), () => undefined)).toEqual([])
  })

  it("refuses an id that is missing, twice there or unknown", () => {
    expect(problemsOf(full().slice(1), () => undefined)).toHaveLength(1)
    expect(problemsOf([...full(), ...full().slice(0, 1)], () => undefined)).toHaveLength(1)
    expect(
      problemsOf([...full(), ...rowsOf("map.md", "| C999 | x | unproved |")], () => undefined)
    ).toHaveLength(1)
  })

  it("refuses a proof whose file or test is gone", () => {
    const rows = full({ R1: proof })
    expect(problemsOf(rows, () => undefined)[0]).toContain("is gone")
    expect(problemsOf(rows, () => 'it("another", () => {})')[0]).toContain("no live test")
    expect(problemsOf(rows, () => 'it("keeps the newest image", () => {})')).toEqual([])
  })

  it("refuses a proof that is neither a test nor unproved", () => {
    expect(problemsOf(full({ R1: "to do" }), () => undefined)).toHaveLength(1)
  })

  it("reads several proofs, and a bar in a title", () => {
    const [row] = rowsOf("map.md", "| R1 | x | `a.test.ts > b \\| c`<br>`a.test.ts > d` |")
    expect(row?.proofs).toEqual([
      { file: "a.test.ts", title: "b | c" },
      { file: "a.test.ts", title: "d" }
    ])
  })

  it("counts no test that is skipped, a to-do or commented out", () => {
    expect(hasTest('it.effect.prop("a", [], () => {})', "a")).toBe(true)
    expect(hasTest('it.each([1])(\n  "a %i",\n  () => {})', "a %i")).toBe(true)
    expect(hasTest('it.skip("a", () => {})', "a")).toBe(false)
    expect(hasTest('it.todo("a")', "a")).toBe(false)
    expect(hasTest('// it("a", () => {})', "a")).toBe(false)
  })

  it("finds a test behind the title of its group", () => {
    expect(hasTest('describe("g", () => { it("a", () => {}) })', "g > a")).toBe(true)
  })
})

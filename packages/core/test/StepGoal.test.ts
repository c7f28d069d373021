import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { brief, cut, goalOf } from "../src/StepGoal.ts"

describe("arguments of a call", () => {
  it("whatever they hold, the copy is JSON, and a second copy is the same", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (args) => {
        const kept = brief(args)
        if (kept === undefined) return
        expect(JSON.parse(JSON.stringify(kept))).toBeDefined()
        expect(JSON.stringify(brief(kept))).toBe(JSON.stringify(kept))
      })
    )
  })

  it("holds a word whole or not at all, and of a key nothing: what is cut can still be redacted", () => {
    const secret = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    for (let at = 100; at <= 260; at++) {
      const text = "word ".repeat(60).slice(0, at) + " " + secret + " and more".repeat(40)
      const kept = [brief(text), brief({ text }), goalOf("run", brief({ text }), undefined)]
      for (const one of kept) {
        const shown = JSON.stringify(one).replaceAll(secret, "")
        expect(shown, `${at}`).not.toContain(secret.slice(0, 8))
      }
    }
    const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQ/x\n".repeat(80)}-----END PRIVATE KEY-----`
    expect(brief({ file: "k.pem", content: key })).toEqual({
      file: "k.pem",
      content: `[${key.length} characters]`
    })
  })

  it("a circle in them ends", () => {
    const args: Record<string, unknown> = { x: 1 }
    args["self"] = args
    expect(JSON.stringify(brief(args)).length).toBeLessThan(200)
  })

  it("the goal is short, well-formed and the same each time", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 40 }),
        fc.dictionary(fc.string(), fc.string({ unit: "grapheme", maxLength: 300 })),
        (tool, args) => {
          const goal = goalOf(tool, brief(args), undefined)
          expect(goal.length).toBeLessThanOrEqual(161)
          expect(goal.isWellFormed()).toBe(true)
          expect(goalOf(tool, brief(args), undefined)).toBe(goal)
        }
      )
    )
  })

  it.each([
    ["none", undefined, "look()"],
    ["an empty object", {}, "look()"],
    ["a text", "left", 'look("left")'],
    ["a list", [1, 2], "look([1,2])"],
    ["nothing that is JSON", { f: () => 1 }, "look()"],
    ["null", null, "look(null)"]
  ])("%s", (_, args, goal) => {
    expect(goalOf("look", brief(args), "goal")).toBe(goal)
  })

  it("a cut never splits a character", () => {
    expect(cut("ab😀cd", 3)).toBe("ab…")
    expect(cut("ab😀cd", 4)).toBe("ab😀…")
    expect(cut("abc", 3)).toBe("abc")
  })
})

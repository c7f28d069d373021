import type { Material } from "@varve/core/Summarizer"
import { estimateTokens } from "@varve/core/Estimate"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cutText, splitMaterial } from "../src/internal/split.ts"

const cost = ({ from, text }: Material): number => estimateTokens(from) + estimateTokens(text) + 8
const split = (material: ReadonlyArray<Material>, room: number, most = 1000) =>
  splitMaterial(material, room, most, cost, estimateTokens)

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 400 }),
  fc.lorem({ maxCount: 60 }),
  fc.constantFrom("a".repeat(700), "𝒳".repeat(300), "词".repeat(300), "a\n".repeat(300))
)

describe("cutText", () => {
  it("loses nothing, keeps to the room, and cuts no character in two", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 60 }), (text, room) => {
        const pieces = cutText(text, room, estimateTokens)
        expect(pieces.join("")).toBe(text)
        for (const piece of pieces) {
          expect(estimateTokens(piece)).toBeLessThanOrEqual(room)
          if (text.isWellFormed()) expect(piece.isWellFormed()).toBe(true)
        }
      })
    )
  })

  it("cuts behind lines where one is near", () => {
    const lines = Array.from({ length: 200 }, (_, i) => `line number ${i}\n`)
    for (const piece of cutText(lines.join(""), 100, estimateTokens)) expect(piece).toMatch(/\n$/)
  })

  it("counts each text a few times, not once for each piece", () => {
    let units = 0
    const count = (text: string) => ((units += text.length), text.length / 4)
    const text = "some words ".repeat(100_000)
    expect(cutText(text, 10_000, count).length).toBeGreaterThan(20)
    expect(units).toBeLessThan(text.length * 4)
  })
})

describe("splitMaterial", () => {
  const material = fc.array(fc.record({ from: fc.constantFrom("user", "tool read"), text }), {
    maxLength: 12
  })

  it("keeps everything in order, in parts that fit", () => {
    fc.assert(
      fc.property(material, fc.integer({ min: 60, max: 300 }), (material, room) => {
        const parts = split(material, room)
        expect(
          parts
            .flat()
            .map((m) => m.text)
            .join("")
        ).toBe(material.map((m) => m.text).join(""))
        for (const part of parts) {
          expect(part.length).toBeGreaterThan(0)
          expect(part.reduce((sum, m) => sum + cost(m), 0)).toBeLessThanOrEqual(room)
        }
      })
    )
  })

  it("never makes more parts than it may, and says what it leaves out", () => {
    fc.assert(
      fc.property(material, fc.integer({ min: 60, max: 120 }), (material, room) => {
        const parts = split(material, room, 3)
        expect(parts.length).toBeLessThanOrEqual(3)
        for (const part of parts) {
          expect(part.reduce((sum, m) => sum + cost(m), 0)).toBeLessThanOrEqual(room)
        }
        if (material.length > 0) expect(parts.at(-1)!.length).toBeGreaterThan(0)
      })
    )
    const long = { from: "tool read", text: "a line of a log\n".repeat(20_000) }
    const clipped = split([{ from: "user", text: "the task" }, long], 500, 4)
    expect(JSON.stringify(clipped)).toMatch(/the task.*tokens left out/)
    const many = Array.from({ length: 5000 }, (_, i) => ({ from: "user", text: `message ${i}` }))
    const kept = split(many, 500, 4)
    expect(kept[0]).toEqual([
      { from: "note", text: expect.stringMatching(/^\[… \d+ earlier pieces left out …\]$/) }
    ])
    expect(kept.at(-1)!.at(-1)!.text).toBe("message 4999")
  })

  it("says which piece of a text each is", () => {
    const [first] = split([{ from: "user", text: "some words ".repeat(500) }], 200)
    expect(first![0]!.from).toMatch(/^user \(1 of \d+\)$/)
  })
})

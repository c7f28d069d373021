import * as fc from "fast-check"
import { expect, it } from "vitest"
import { TextCounts } from "../src/internal/TextCounts.ts"

const long = fc.string({ minLength: 64, maxLength: 300, unit: "binary" })

it("counts a text once, also a copy of it", () => {
  fc.assert(
    fc.property(long, (text) => {
      const counts = new TextCounts()
      let calls = 0
      const count = () => ++calls
      counts.of(text, count)
      counts.of([...text].join(""), count)
      return calls === 1
    })
  )
})
it("tells texts apart that differ in one place or in length", () => {
  const counts = new TextCounts()
  const base = "x".repeat(500)
  const all = [
    base,
    ...Array.from({ length: 500 }, (_, i) => base.slice(0, i) + "y" + base.slice(i + 1))
  ]
  for (let n = 64; n < 500; n++) all.push("x".repeat(n))
  all.forEach((text, i) => counts.of(text, () => i))
  all.forEach((text, i) => expect(counts.of(text, () => -1)).toBe(i))
})
it("keeps what is used, and forgets the rest in time", () => {
  const counts = new TextCounts()
  const text = (i: number) => `${i}`.padStart(64, "-")
  for (let i = 0; i < 200_000; i++) {
    counts.of(text(i), () => i)
    if (i % 1000 === 0) expect(counts.of(text(0), () => -1)).toBe(0)
  }
  expect(counts.of(text(199_999), () => -1)).toBe(199_999)
  expect(counts.of(text(1), () => -1)).toBe(-1)
})

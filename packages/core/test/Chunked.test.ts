import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Chunked } from "../src/internal/Chunked.ts"

const count = (from: number, length: number): ReadonlyArray<number> =>
  Array.from({ length }, (_, i) => from + i)

/** Changes of a list: of which of those made before, how much of it stays, and how many others come. */
const changes = fc.array(
  fc.tuple(
    fc.nat(12),
    fc.oneof(fc.constant(Infinity), fc.nat(1000)),
    fc.oneof(fc.nat(4), fc.nat(400))
  ),
  { maxLength: 12 }
)

describe("a list in chunks", () => {
  it("says what an array would, and what it was made from stays as it is", () => {
    fc.assert(
      fc.property(fc.nat(600), changes, (length, steps) => {
        const made = [[Chunked.of(count(0, length)), count(0, length)] as const]
        for (const [i, [from, wanted, others]] of steps.entries()) {
          const [before, was] = made[from % made.length]!
          const stay = Math.min(wanted, was.length)
          const list = before.instead(stay, count(10_000 * (i + 1), others))
          const array = [...was.slice(0, stay), ...count(10_000 * (i + 1), others)]
          made.push([list, array])
          for (const [of, expected] of made) {
            expect(of.toArray()).toEqual(expected)
            expect(of.length).toBe(expected.length)
            for (const at of [-1, 0, stay - 1, stay, expected.length - 1, expected.length])
              expect(of.at(at)).toBe(expected[at])
          }
          for (const [other, said] of made) {
            const differs = array.findIndex((n, at) => n !== said[at])
            const shared = differs < 0 ? Math.min(array.length, said.length) : differs
            expect(list.sharedWith(other)).toBe(shared)
          }
        }
      })
    )
  })

  it("goes on without a copy where nobody else has, and leaves the other alone where somebody has", () => {
    const list = Chunked.of(count(0, 200))
    const [one, other] = [list.instead(200, [1]), list.instead(200, [2])]
    expect([list.at(200), one.at(200), other.at(200)]).toEqual([undefined, 1, 2])
    expect(one.instead(201, [3]).toArray()).toEqual([...count(0, 200), 1, 3])
    expect(list.toArray()).toEqual(count(0, 200))
  })

  it("is flat in one array that stays, and gives arrays of their own", () => {
    const list = Chunked.of(count(0, 300))
    expect(list.flat).toBe(list.flat)
    list.toArray().push(7)
    expect(list.toArray()).toEqual(list.flat)
    expect(list.instead(300, [])).toBe(list)
  })
})

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Chunked } from "../src/internal/Chunked.ts"

const count = (from: number, length: number): ReadonlyArray<number> =>
  Array.from({ length }, (_, i) => from + i)

/** A list of some length, and changes of it: how much stays, and how many others come. */
const changes = fc.array(fc.tuple(fc.nat(1000), fc.nat(400)), { maxLength: 12 })

describe("a list in chunks", () => {
  it("says what an array would, and what it was made from stays as it is", () => {
    fc.assert(
      fc.property(fc.nat(600), changes, (length, steps) => {
        let [list, array] = [Chunked.of(count(0, length)), count(0, length)]
        for (const [i, [wanted, others]] of steps.entries()) {
          const stay = Math.min(wanted, array.length)
          const [before, was] = [list, array]
          list = list.instead(stay, count(10_000 * (i + 1), others))
          array = [...array.slice(0, stay), ...count(10_000 * (i + 1), others)]
          expect(list.toArray()).toEqual(array)
          expect(before.toArray()).toEqual(was)
          expect(list.length).toBe(array.length)
          for (const at of [0, stay - 1, stay, array.length - 1, array.length])
            expect(list.at(at)).toBe(array[at])
          const differs = array.findIndex((n, at) => n !== was[at])
          const shared = differs < 0 ? Math.min(array.length, was.length) : differs
          expect(list.sharedWith(before)).toBe(shared)
        }
      })
    )
  })

  it("is flat in one array that stays, and gives arrays of their own", () => {
    const list = Chunked.of(count(0, 300))
    expect(list.flat).toBe(list.flat)
    list.toArray().push(7)
    expect(list.toArray()).toEqual(list.flat)
    expect(list.instead(300, [])).toBe(list)
  })
})

import { describe, expect, it } from "vitest"
import { costOf, tierOf } from "../src/index.ts"

const prices = {
  input: 2,
  output: 10,
  cacheRead: 0.2,
  cacheWrite: 2.5,
  tiers: [{ above: 200_000, input: 4, output: 15, cacheRead: 0.4 }]
}

describe("a bill", () => {
  it("is the sum of what was read, written, sent and answered, each at its price", () => {
    const billed = { read: 100_000, write: 20_000, uncached: 10_000 }
    expect(costOf(billed, 1000, prices)).toBeCloseTo(0.02 + 0.05 + 0.02 + 0.01, 10)
  })

  it("of a request above a tier is at that tier's prices, whole", () => {
    expect(tierOf(prices, 200_000).input).toBe(2)
    expect(tierOf(prices, 200_001)).toMatchObject({ input: 4, output: 15, cacheRead: 0.4 })
    const billed = { read: 200_000, write: 0, uncached: 1 }
    expect(costOf(billed, 1000, prices)).toBeCloseTo(0.08 + 0.000_004 + 0.015, 10)
  })
})

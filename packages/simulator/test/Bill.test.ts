import { pricesAt } from "@varve/core/Profile"
import { profile } from "@varve/profiles"
import { describe, expect, it } from "vitest"
import { cacheKindOf, costOf, nothing, simulate, syntheticCounter, traceOf } from "../src/index.ts"

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
    expect(pricesAt(prices, 200_000).input).toBe(2)
    expect(pricesAt(prices, 200_001)).toMatchObject({ input: 4, output: 15, cacheRead: 0.4 })
    const billed = { read: 200_000, write: 0, uncached: 1 }
    expect(costOf(billed, 1000, prices)).toBeCloseTo(0.08 + 0.000_004 + 0.015, 10)
  })

  it("of writes above a tier that has no price of writing is at that tier's price of input", () => {
    const billed = { read: 100_000, write: 150_000, uncached: 1 }
    expect(costOf(billed, 0, prices)).toBeCloseTo(0.04 + 0.6 + 0.000_004, 10)
  })

  it("is at the highest tier that is passed, in whatever order they stand", () => {
    const dear = { above: 500_000, input: 8, output: 30, cacheRead: 0.8 }
    for (const tiers of [
      [...prices.tiers, dear],
      [dear, ...prices.tiers]
    ]) {
      expect(pricesAt({ ...prices, tiers }, 600_000).input).toBe(8)
      expect(pricesAt({ ...prices, tiers }, 500_000).input).toBe(4)
      expect(pricesAt({ ...prices, tiers }, 1).input).toBe(2)
    }
  })

  it.each([
    ["gemini-3.1-pro", 4],
    ["xai/grok-4.7", 4],
    ["minimax/minimax-m3", 0.6]
  ])(
    "of a long run that is cold at each request is all input of the tier: %s",
    async (name, input) => {
      const facts = { ...profile(name), contextWindow: 100_000_000, limits: {} }
      const messages = Array.from({ length: 10 }, (_, i) => [
        { role: "user", content: i === 0 ? "word ".repeat(600_000 * 0.8) : `again ${i}` },
        { role: "assistant", content: "ok" }
      ]).flat()
      const requests = Array.from({ length: 10 }, (_, i) => ({ at: 2 * i + 1, timestamp: i * 1e8 }))
      const { cost, requests: billed } = await simulate(
        traceOf({ name: "cold", messages, requests }),
        nothing,
        { cache: cacheKindOf(facts), profile: facts, counter: syntheticCounter(0) }
      )
      const tokens = billed.reduce((sum, r) => sum + r.tokens, 0)
      expect(tokens).toBeGreaterThan(6_000_000)
      expect(cost).toBeCloseTo((tokens * input) / 1e6, 9)
    }
  )
})

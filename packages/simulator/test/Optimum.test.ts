import { describe, expect, it } from "vitest"
import {
  guiRun,
  optimum,
  planned,
  simulate,
  syntheticCounter,
  type CacheKind,
  type Trace
} from "../src/index.ts"
import { sheets, type Sheet } from "./sheets.ts"

const sheetOf = (cache: CacheKind): Sheet => sheets.find((s) => s.cache === cache)!

/** All subsets of the requests behind the first. */
const plans = (length: number): ReadonlyArray<ReadonlyArray<number>> =>
  Array.from({ length: 2 ** (length - 1) }, (_, bits) =>
    Array.from({ length }, (__, i) => i).filter((i) => i > 0 && (bits >> (i - 1)) & 1)
  )

describe("optimum", { timeout: 60_000 }, () => {
  const short = guiRun({ steps: 8, overhead: 1500, text: 60, answer: 40 })
  // Large images and small overhead, so that several commits pay within a few steps.
  const counter = syntheticCounter(6000)
  it.each([
    ["lcp", false],
    ["anthropic", true],
    ["none", false]
  ] as const)("is the best of all plans under %s", async (cache, marks) => {
    const options = { ...sheetOf(cache), counter }
    const best = await optimum(short, 1, { ...options, marks })
    let least = Infinity
    for (const commits of plans(8)) {
      const { cost } = await simulate(short, planned(1, commits, { marks }), options)
      least = Math.min(least, cost)
    }
    // It takes the cache at its best, so it is no more; and hardly less.
    expect(best.cost / least).toBeLessThan(1 + 1e-9)
    expect(best.cost / least).toBeGreaterThan(0.99)
    const own = await simulate(short, planned(1, best.commits, { marks }), options)
    expect(own.cost / best.cost).toBeCloseTo(1, 2)
    expect(best.commits.length).toBeGreaterThan(0)
  })

  it("has the best cost of every shorter run as well", async () => {
    const trace = guiRun({ steps: 60 })
    const options = { ...sheetOf("lcp"), counter: syntheticCounter(1560) }
    const whole = await optimum(trace, 3, options)
    for (const steps of [10, 25, 40]) {
      const part = await optimum(guiRun({ steps }), 3, options)
      expect(whole.costs[steps - 1]).toBeCloseTo(part.cost, 10)
    }
  })

  it("commits when the cache is cold, since that costs nothing", async () => {
    const trace = guiRun({ steps: 12 })
    const late: Trace = {
      ...trace,
      requests: trace.requests.map((r, i) => (i < 7 ? r : { ...r, at: r.at + 400_000 }))
    }
    const options = { ...sheetOf("anthropic"), counter: syntheticCounter(1560) }
    expect((await optimum(trace, 3, options)).commits).toEqual([])
    expect((await optimum(late, 3, options)).commits).toEqual([7])
  })
})

import { createMemory } from "@varve/core/createMemory"
import type { Message } from "@varve/core/Message"
import type { Report } from "@varve/core/Report"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deepFreeze } from "../src/Freeze.ts"
import { heads } from "../src/Growth.ts"
import { histories } from "../src/Histories.ts"
import type { Temper } from "../src/Strategies.ts"
import { randomStrategy, strategyPlans, tempers } from "../src/Strategies.ts"

const sample = fc.sample(histories({ inFlight: false }), { numRuns: 60, seed: 4 }).map(deepFreeze)

/** What the strategies of one temper did over the sample, added up. */
const run = async (temper: Temper) => {
  const sum = { proposed: 0, accepted: 0, refused: 0, errors: 0 }
  const sent: Array<string> = []
  for (const [seed, history] of sample.entries()) {
    const memory = createMemory({ pipeline: [randomStrategy({ name: "one", temper, seed })] })
    for (const head of heads(history)) {
      const { messages, report }: { messages: ReadonlyArray<Message>; report: Report } =
        await memory.prepare(head)
      sent.push(JSON.stringify(messages))
      for (const one of report.strategies) {
        sum.proposed += one.proposed
        sum.accepted += one.accepted
        sum.refused += one.refused.length
        if (one.error !== undefined) sum.errors++
      }
    }
  }
  return { sum, sent }
}

describe("randomStrategy", () => {
  it.each<[Temper, (sum: Awaited<ReturnType<typeof run>>["sum"]) => void]>([
    ["sane", (s) => expect(s.accepted / s.proposed).toBeGreaterThan(0.5)],
    ["async", (s) => expect(s.accepted / s.proposed).toBeGreaterThan(0.5)],
    ["atomic", (s) => expect(Math.min(s.accepted, s.refused)).toBeGreaterThan(10)],
    ["greedy", (s) => expect(Math.min(s.accepted, s.refused)).toBeGreaterThan(100)],
    ["hostile", (s) => expect(s.refused / s.proposed).toBeGreaterThan(0.7)],
    ["spoiling", (s) => expect(s.accepted).toBeGreaterThan(50)],
    ["meddling", (s) => expect(s.proposed).toBeGreaterThan(50)],
    ["throwing", (s) => expect(Math.min(s.errors, s.accepted)).toBeGreaterThan(10)]
  ])("%s does what it says", async (temper, expected) => {
    const { sum } = await run(temper)
    expected(sum)
    expect(sum.errors > 0).toBe(temper === "throwing")
  })

  it("depends on its seed and the view alone", async () => {
    expect((await run("greedy")).sent).toEqual((await run("greedy")).sent)
  })
})

describe("strategyPlans", () => {
  it("have names of their own, and all tempers", () => {
    const plans = fc.sample(strategyPlans(), { numRuns: 300, seed: 1 })
    for (const chain of plans) expect(new Set(chain.map((p) => p.name)).size).toBe(chain.length)
    expect([...new Set(plans.flat().map((p) => p.temper))].toSorted()).toEqual(tempers.toSorted())
    expect(Math.max(...plans.map((chain) => chain.length))).toBe(4)
  })
})

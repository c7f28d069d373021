import { describe, expect, it } from "vitest"
import {
  compaction,
  guiRun,
  interval,
  memoryInSystemPrompt,
  nothing,
  simulate,
  slide,
  syntheticCounter,
  type Policy
} from "../src/index.ts"
import { sheets } from "./sheets.ts"

/** USD of a GUI run of 100 steps with images of 1 560 tokens, measured apart from this code; by sheet. */
const reference: ReadonlyArray<readonly [Policy, ReadonlyArray<number>]> = [
  [nothing, [6.44, 3.21, 1.29, 1.61, 3.16, 1.52, 19.95]],
  [memoryInSystemPrompt(3), [16.27, 13.01, 3.25, 6.51, 6.59, 5.24, 5.24]],
  [slide(3), [12.82, 10.13, 2.56, 5.07, 2.12, 1.47, 5.24]],
  [slide(3, { marks: true }), [4.98, 3.59, 1.0, 1.8, 2.12, 1.47, 5.24]],
  [slide(10), [18.74, 14.85, 3.75, 7.43, 4.93, 3.72, 7.27]],
  [interval(3, 25), [3.97, 2.36, 0.79, 1.18, 1.84, 1.03, 8.81]],
  [interval(3, 40), [4.33, 2.47, 0.87, 1.24, 2.05, 1.11, 10.54]],
  [compaction({ at: 60_000 }), [3.34, 2.03, 0.67, 1.02, 1.61, 0.93, 7.02]],
  [compaction({ at: 150_000 }), [5.0, 2.66, 1.0, 1.33, 2.44, 1.24, 14.02]]
]

/** What the reference doesn't say of compaction: what stays, and what its mark counts. See the README. */
const deviating = new Set(["compaction @60k no cache"])

/** What the reference assumes at OpenAI and nobody sets: a mark at the system text. See the README. */
const assuming = new Map([
  ["slide 3 gpt-6.2-sol", 0.2],
  ["slide 10 gpt-6.2-sol", 0.14]
])

describe("the reference table of a GUI run", { timeout: 120_000 }, () => {
  const trace = guiRun({ steps: 100 })
  const counter = syntheticCounter(1560)
  it.each(reference)("is met within 10 % by $name", async (policy, figures) => {
    for (const [i, sheet] of sheets.entries()) {
      const { cost, faults } = await simulate(trace, policy, { ...sheet, counter })
      const deviation = cost / figures[i]! - 1
      const name = `${policy.name} ${sheet.name}`
      const most = deviating.has(name) ? 0.12 : (assuming.get(name) ?? 0.1)
      expect(Math.abs(deviation), `${policy.name} on ${sheet.name}: ${cost}`).toBeLessThan(most)
      expect(faults).toBe(0)
    }
  })

  it("has the same hit rates on opus-5.5, within two points", async () => {
    const rates = [98, 0, 24, 77, 19, 94, 95, 94, 97]
    for (const [i, [policy]] of reference.entries()) {
      const { hitRate } = await simulate(trace, policy, { ...sheets[1]!, counter })
      expect(Math.abs(100 * hitRate - rates[i]!), policy.name).toBeLessThanOrEqual(2)
    }
  })
})

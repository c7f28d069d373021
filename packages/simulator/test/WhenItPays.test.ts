import { estimateCounter, Pipeline } from "@varve/core"
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { describe, expect, it } from "vitest"
import {
  clipResults,
  guiRun,
  interval,
  keepImages,
  nothing,
  optimum,
  simulate,
  slide,
  syntheticCounter,
  traceOf,
  whenItPays,
  type Policy
} from "../src/index.ts"
import { fable, sheets, type Sheet } from "./sheets.ts"

/** A sheet, and the tokens of an image. */
const optionsOf = (sheet: Sheet, image: number) => ({
  ...sheet,
  image,
  counter: syntheticCounter(image)
})
type Options = ReturnType<typeof optionsOf>

const cases = [1560, 2691].flatMap((image) =>
  sheets.flatMap((sheet) =>
    // Marks are for caches that have them.
    (sheet.profile.cache.kind === "marks" ? [false, true] : [false]).map((marks) => ({
      name: `${sheet.name}, images of ${image}${marks ? ", with marks" : ""}`,
      marks,
      options: optionsOf(sheet, image)
    }))
  )
)

/** What the run has cost, up to and with each request. */
const costs = async (steps: number, policy: Policy, options: Options) => {
  let sum = 0
  const { requests } = await simulate(guiRun({ steps }), policy, options)
  return requests.map(({ cost }) => (sum += cost))
}

/** What several tests ask of 300 steps with the same sheet and images is worked out once. */
const once = <A>(of: (options: Options, marks: boolean) => Promise<A>): typeof of => {
  const known = new Map<string, Promise<A>>()
  return (options, marks) => {
    const key = `${options.name}, ${options.image}, ${marks}`
    const made = known.get(key) ?? of(options, marks)
    known.set(key, made)
    return made
  }
}
const idles = once((options) => costs(300, nothing, options))
const paid = once((options, marks) => costs(300, whenItPays(3, { marks }), options))
const bests = once((options, marks) => optimum(guiRun({ steps: 300 }), 3, { ...options, marks }))

/** The mean of something over the lengths of runs, by how often a length occurs. */
const mean = (of: ReadonlyArray<number>, weight: (length: number) => number): number => {
  const weights = of.map((_, i) => weight(i + 1))
  return of.reduce((s, x, i) => s + x * weights[i]!, 0) / weights.reduce((a, b) => a + b, 0)
}

const geometric = (length: number): number => 0.99 ** length

describe("when it pays, on a GUI run", { timeout: 120_000 }, () => {
  it.each(cases)("$name: beats the peers, and is near the optimum", async ({ marks, options }) => {
    const pays = await paid(options, marks)
    const idle = await idles(options, false)
    const peers = [slide(3, { marks }), interval(3, 25, { marks }), interval(3, 40, { marks })]
    const others = [idle]
    for (const peer of peers) others.push(await costs(300, peer, options))
    for (const steps of [100, 300]) {
      const best = Math.min(...others.map((c) => c[steps - 1]!))
      expect(pays[steps - 1]! / best, `${steps} steps`).toBeLessThanOrEqual(1 + 1e-9)
    }
    expect(pays[29]! / idle[29]!).toBeLessThanOrEqual(1.02)

    const best = await bests(options, marks)
    const ratios = pays.map((cost, i) => cost / best.costs[i]!)
    expect(Math.max(...ratios)).toBeLessThan(1.15)
    expect(mean(ratios, geometric)).toBeLessThan(1.05)
    for (const steps of [30, 100, 300]) {
      const { cost } =
        steps === 300 ? best : await optimum(guiRun({ steps }), 3, { ...options, marks })
      const known = await costs(steps, whenItPays(3, { marks, expectedRequests: steps }), options)
      expect(known.at(-1)! / cost, `${steps} steps, known`).toBeLessThan(1.04)
      const other = Math.min(...others.map((c) => c[steps - 1]!))
      expect(known.at(-1)! / other, `${steps} steps, known`).toBeLessThanOrEqual(1 + 1e-9)
    }
  })
})

describe("when it pays, where a commit is dearest", { timeout: 120_000 }, () => {
  it.each([false, true])("loses little to what happened to be right, marks: %s", async (marks) => {
    const options = optionsOf(fable, 2691)
    const pays = await paid(options, marks)
    const idle = await idles(options, false)
    const peer = await costs(300, interval(3, 25, { marks }), options)
    // Right behind a commit. What the README says of this sheet.
    expect(pays[29]! / idle[29]!).toBeLessThan(1.07)
    expect(pays[99]! / peer[99]!).toBeLessThan(1.03)
    expect(pays[299]! / peer[299]!).toBeLessThan(1)
    const best = await bests(options, marks)
    expect(Math.max(...pays.map((cost, i) => cost / best.costs[i]!))).toBeLessThan(1.15)
  })
})

describe("a schedule that would be near doing nothing wherever the run ended", () => {
  it.each([
    ["opus-4.8", 1.3],
    ["opus-5.5", 1.3],
    ["gpt-6.2-sol", 1.3],
    ["gemini-4-argon", 1.4]
  ])("can't be near fixed batches at 100 steps: %s", async (name, times) => {
    const options = optionsOf(
      sheets.find((s) => s.name === name)!,
      1560
    )
    const careful = await optimum(guiRun({ steps: 100 }), 3, { ...options, risk: 0.02 })
    const { cost } = await simulate(guiRun({ steps: 100 }), interval(3, 25), options)
    expect(careful.cost / cost).toBeGreaterThan(times)
    const idle = await costs(100, nothing, options)
    careful.costs.forEach((c, i) => expect(c / idle[i]!).toBeLessThanOrEqual(1.02))
  })
})

const hasData = requireData("when it pays, on real sessions")

describe.skipIf(!hasData)("when it pays, on real sessions", { timeout: 300_000 }, () => {
  const keep = Pipeline.pipeline("3 images, 10 results", keepImages(3), clipResults(10))
  const traces = hasData
    ? sessions()
        .map((entry) => traceOf(entry.read(), { overhead: 8000 }))
        .filter(({ requests }) => requests.length > 2)
    : []
  const setups = [0, 1, 3, 4].flatMap((i) =>
    // The two of Anthropic with marks and without.
    (i < 2 ? [false, true] : [false]).map((marks) => ({ ...sheets[i]!, marks }))
  )

  it("costs at most 2 % more than the better of doing nothing and sliding, and in total less", async () => {
    const totals = setups.map(() => [0, 0, 0] as [number, number, number])
    for (const trace of traces) {
      const own = [0, 0, 0] as [number, number, number]
      for (const [k, { marks, ...sheet }] of setups.entries()) {
        const options = { ...sheet, counter: estimateCounter() }
        for (const [i, policy] of [
          nothing,
          slide(keep, { marks }),
          whenItPays(keep, { marks })
        ].entries()) {
          const { cost, faults } = await simulate(trace, policy, options)
          // A history may have faults of its own; what a memory sends has none.
          if (policy !== nothing) expect(faults).toBe(0)
          own[i]! += cost
          totals[k]![i]! += cost
        }
      }
      expect(own[2] / Math.min(own[0], own[1]), trace.name).toBeLessThanOrEqual(1.02)
    }
    for (const [idle, slides, pays] of totals) expect(pays).toBeLessThan(Math.min(idle, slides))
  })

  it("with the few marks that a provider takes, costs next to what marks behind every message would", async () => {
    for (const trace of traces) {
      for (const sheet of [sheets[0]!, sheets[1]!, sheets[3]!]) {
        const policy = whenItPays(keep, { marks: true })
        const everywhere: Policy = {
          ...policy,
          start: (given) => {
            const running = policy.start(given)
            return {
              ...running,
              prepare: async (history, at) => {
                const answer = await running.prepare(history, at)
                return { ...answer, marks: answer.messages.map((_, i) => i) }
              }
            }
          }
        }
        const cache = { ...sheet.profile.cache, marks: 1e9 }
        const best = await simulate(trace, everywhere, {
          ...sheet,
          profile: { ...sheet.profile, cache },
          counter: estimateCounter()
        })
        const { cost } = await simulate(trace, policy, { ...sheet, counter: estimateCounter() })
        expect(cost / best.cost, `${trace.name}, ${sheet.name}`).toBeLessThan(1.01)
      }
    }
  })

  it("of their lengths is in the mean within half of the optimum, and far better", async () => {
    const lengths = traces.map(({ requests }) => Math.min(300, requests.length))
    for (const sheet of sheets) {
      const options = optionsOf(sheet, 1560)
      const pays = await paid(options, false)
      const best = await bests(options, false)
      const ratios = lengths.map((n) => pays[n - 1]! / best.costs[n - 1]!)
      expect(
        mean(ratios, () => 1),
        sheet.name
      ).toBeLessThan(1.1)
    }
  })
})

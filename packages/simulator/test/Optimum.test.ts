import type { Message } from "@varve/core"
import type { CommitRule } from "@varve/core/Commit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  guiRun,
  interval,
  keepImages,
  memoryPolicy,
  nothing,
  optimum,
  piecesOf,
  planned,
  simulate,
  slide,
  syntheticCounter,
  whenItPays,
  type CacheKind,
  type PlannedCommit,
  type Policy,
  type SimulateOptions,
  type Trace
} from "../src/index.ts"
import { biller, courseOf } from "../src/internal/course.ts"
import { replay } from "../src/internal/replay.ts"
import { sheets, type Sheet } from "./sheets.ts"

const sheetOf = (cache: CacheKind): Sheet => sheets.find((s) => s.cache === cache)!

const kinds = [
  ["lcp", false],
  ["anthropic", true],
  ["anthropic", false],
  ["openai-56", true],
  ["openai-56", false],
  ["none", false]
] as const

/** The same, with a tier above which all is dearer; what is written has no price of its own there. */
const tiered = (sheet: Sheet): Sheet => {
  const { input, output, cacheRead } = sheet.profile.prices
  const tier = { above: 9000, input: 3 * input, output: 2 * output, cacheRead: 3 * cacheRead }
  const prices = { ...sheet.profile.prices, tiers: [tier] }
  return { ...sheet, profile: { ...sheet.profile, prices } }
}

const cases = kinds.flatMap(([cache, marks]) =>
  [false, true].map((tiers) => {
    const sheet = tiers ? tiered(sheetOf(cache)) : sheetOf(cache)
    const options = { ...sheet, counter: syntheticCounter(3000), marks }
    return { name: `${cache}, marks: ${marks}, tiers: ${tiers}`, options }
  })
)

/** All subsets of the requests behind the first. */
const plans = (length: number): ReadonlyArray<ReadonlyArray<number>> =>
  Array.from({ length: 2 ** (length - 1) }, (_, bits) =>
    Array.from({ length }, (__, i) => i).filter((i) => i > 0 && (bits >> (i - 1)) & 1)
  )

/** One step of a made-up run: words of the call and of the result, and whether it has a screenshot. */
type Step = readonly [call: number, result: number, image: boolean]

/** A run of steps of all sizes. */
const runOf = (steps: ReadonlyArray<Step>): Trace => {
  const messages: Array<Message> = [{ role: "user", content: "task ".repeat(40) }]
  const requests: Array<Trace["requests"][number]> = []
  for (const [i, [call, result, image]] of steps.entries()) {
    requests.push({ history: messages.slice(), at: i * 7000, output: 50 })
    const id = `c${i}`
    const data = `iVBORw0KGgo${String(i).padStart(12, "A")}`
    messages.push(
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name: "look", arguments: { at: "word ".repeat(call) } }]
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: "look",
        isError: false,
        content: [
          { type: "text", text: `${i} ${"text ".repeat(result)}` },
          ...(image ? [{ type: "image" as const, data, mimeType: "image/png" }] : [])
        ]
      }
    )
  }
  return { name: "made up", overhead: 1500, requests }
}

const steps = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: 30 }),
    fc.oneof({ weight: 3, arbitrary: fc.constant(20) }, fc.integer({ min: 100, max: 4000 })),
    fc.boolean()
  ),
  { minLength: 4, maxLength: 7 }
)

/** With each request so many of the newest staged edits come into force. `staged` takes where they are. */
const taking = (newest: ReadonlyArray<number>, staged: Array<ReadonlyArray<number>>): Policy => ({
  name: "as listed",
  start: (given) => {
    let request = -1
    const commit: CommitRule = (list) => {
      const positions = list.map((s) => s.position).toSorted((a, b) => b - a)
      staged[request] = positions
      return { cut: positions[(newest[request] ?? 0) - 1] ?? null, reason: "listed" }
    }
    const options = { pipeline: [keepImages(1)], commit }
    const running = memoryPolicy("as listed", options).start(given)
    return {
      ...running,
      prepare: (history, at) => {
        request++
        return running.prepare(history, at)
      }
    }
  }
})

/** Every schedule of suffixes: each request takes so many of the newest staged edits. */
const schedulesOf = async (
  trace: Trace,
  options: SimulateOptions
): Promise<ReadonlyArray<ReadonlyArray<PlannedCommit>>> => {
  const found: Array<ReadonlyArray<PlannedCommit>> = []
  const from = async (chosen: ReadonlyArray<number>): Promise<void> => {
    const staged: Array<ReadonlyArray<number>> = []
    await simulate(trace, taking(chosen, staged), options)
    found.push(
      chosen.flatMap((n, request) => (n === 0 ? [] : [{ request, from: staged[request]![n - 1]! }]))
    )
    for (let t = chosen.length; t < trace.requests.length; t++) {
      const idle = Array.from({ length: t - chosen.length }, () => 0)
      for (let n = 1; n <= (staged[t]?.length ?? 0); n++) await from([...chosen, ...idle, n])
    }
  }
  await from([])
  return found
}

describe("optimum", { timeout: 120_000 }, () => {
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
    // Its marks are set by somebody who knows the schedule, so it is no more; and hardly less.
    expect(best.cost / least).toBeLessThan(1 + 1e-9)
    expect(best.cost / least).toBeGreaterThan(marks ? 0.99 : 1 - 1e-9)
    expect(best.commits.length).toBeGreaterThan(0)
  })

  it.each(cases)(
    "of any small run is what trying every schedule of suffixes finds: $name",
    async ({ options }) => {
      await fc.assert(
        fc.asyncProperty(steps, async (made) => {
          const trace = runOf(made)
          const best = await optimum(trace, 1, options)
          let least = Infinity
          for (const commits of await schedulesOf(trace, options)) {
            const { cost } = await replay(trace, 1, commits, options)
            least = Math.min(least, cost)
          }
          expect(best.cost / least).toBeCloseTo(1, 10)
        }),
        { numRuns: 12, seed: 7 }
      )
    }
  )

  it.each(cases)(
    "is what its own schedule costs when it is replayed: $name",
    async ({ options }) => {
      await fc.assert(
        fc.asyncProperty(steps, async (made) => {
          const trace = runOf(made)
          const best = await optimum(trace, 1, options)
          expect(best.replay.cost).toBe(best.cost)
          expect(best.costs.at(-1)).toBe(best.cost)
          expect(best.replay.requests.length).toBe(trace.requests.length)
          const own = await replay(trace, 1, best.commits, options)
          expect(own.cost).toBeCloseTo(best.cost, 10)
          const { cost } = await simulate(trace, planned(1, best.commits), options)
          if (!options.marks) expect(cost).toBeCloseTo(best.cost, 10)
        }),
        { numRuns: 12, seed: 8 }
      )
    }
  )

  it.each(cases)("is searched for with what a schedule is billed: $name", async ({ options }) => {
    const run = fc.tuple(
      steps,
      steps,
      fc.infiniteStream(fc.nat(9)),
      fc.infiniteStream(fc.boolean())
    )
    await fc.assert(
      fc.asyncProperty(run, async ([one, two, picks, pauses]) => {
        let late = 0
        const trace = runOf([...one, ...two])
        const requests = trace.requests.map((r) => ({
          ...r,
          at: r.at + (pauses.next().value ? 0 : (late += 200_000))
        }))
        const paused = { ...trace, requests }
        const raw = requests.map(({ history }) =>
          piecesOf(history, trace.overhead, options.counter)
        )
        const running = slide(1).start({ profile: options.profile, counter: options.counter })
        const edited: Array<(typeof raw)[number]> = []
        for (const { at, history } of requests) {
          const { messages } = await running.prepare(history, at)
          edited.push(piecesOf(messages, trace.overhead, options.counter))
        }
        await running.close()
        const course = courseOf(raw, edited)!
        const { ofMessage } = raw.at(-1)!
        const schedule = new Int32Array(requests.length).fill(-1)
        const commits: Array<PlannedCommit> = []
        for (const request of requests.keys()) {
          const cut = course.cuts[picks.next().value!]
          if (cut === undefined || request === 0) continue
          schedule[request] = cut
          const above = course.cuts.findLast((piece) => piece < cut)
          commits.push({
            request,
            from: above === undefined ? 0 : ofMessage.lastIndexOf(above) + 1
          })
        }
        const { cost } = await replay(paused, 1, commits, options)
        expect(biller(course, paused, options)(schedule)).toBeCloseTo(cost, 10)
      }),
      { numRuns: 20, seed: 9 }
    )
  })

  it("leaves what lies far up where taking it along would re-write a long text", async () => {
    const options = { ...sheetOf("lcp"), counter: syntheticCounter(3000) }
    const trace = runOf([
      [5, 20, true],
      [5, 4000, false],
      ...Array.from({ length: 6 }, (): Step => [5, 20, true])
    ])
    const best = await optimum(trace, 1, options)
    expect(best.commits.some(({ from }) => from > 0)).toBe(true)
    const all = best.commits.map(({ request }) => request)
    const whole = await simulate(trace, planned(1, all), options)
    expect(best.cost).toBeLessThan(whole.cost)
    const own = await simulate(trace, planned(1, best.commits), options)
    expect(own.cost).toBeCloseTo(best.cost, 10)
  })

  it.each(cases)("is at most what any policy costs: $name", async ({ options }) => {
    const { marks } = options
    const policies = [
      nothing,
      slide(1, { marks }),
      interval(1, 2, { marks }),
      whenItPays(1, { marks }),
      whenItPays(1, { marks, expectedRequests: 12 })
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { minLength: 2, maxLength: 2 }).map((two) => two.flat()),
        async (made) => {
          const trace = runOf(made)
          const best = await optimum(trace, 1, options)
          for (const policy of policies) {
            const { cost } = await simulate(trace, policy, options)
            expect(best.cost / cost, policy.name).toBeLessThan(1 + 1e-9)
          }
        }
      ),
      { numRuns: 25, seed: 7 }
    )
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
    expect((await optimum(late, 3, options)).commits).toEqual([{ request: 7, from: 0 }])
  })
})

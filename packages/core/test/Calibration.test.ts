import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  applyCalibration,
  Calibration,
  observe,
  reportedUsage,
  startCalibration,
  usageTokens
} from "../src/Calibration.ts"

const fresh = startCalibration({})

describe("a calibration", () => {
  it("starts with the profile's ratio, else with 1, and estimates with it", () => {
    expect(applyCalibration(fresh, 1234)).toEqual({ tokens: 1234, source: "estimated" })
    const claude = startCalibration({ ratio: 1.3 })
    expect(applyCalibration(claude, 1000)).toEqual({ tokens: 1300, source: "estimated" })
    for (const ratio of [Number.NaN, Infinity, -1, 0, 100]) {
      const { ratio: started } = startCalibration({ ratio })
      expect(started >= 0.5 && started <= 3).toBe(true)
    }
  })
  it("anchored, gives back what the provider said for the same content", () => {
    const state = observe(fresh, { estimate: 1000, actual: 5200 })
    expect(applyCalibration(state, 1000)).toEqual({ tokens: 5200, source: "usage" })
  })
  it("adds what came since by the ratio, and takes off what our own edits removed", () => {
    const state = observe(startCalibration({ ratio: 1.5 }), { estimate: 10_000, actual: 20_000 })
    expect(applyCalibration(state, 10_400).tokens).toBe(20_600)
    expect(applyCalibration(state, 6000).tokens).toBe(14_000)
  })
  it("images by the model's rule are scaled by no ratio, and teach none", () => {
    const first = observe(startCalibration({ ratio: 2 }), {
      estimate: 3000,
      fixed: 1000,
      actual: 5000
    })
    expect(applyCalibration(first, 4560, 2560).tokens).toBe(6560)
    expect(applyCalibration(first, 4660, 2560).tokens).toBe(6760)
    expect(applyCalibration(first, 2000, 0).tokens).toBe(4000)
    // 1 560 of an image and 500 of text that the provider counts as 1 000.
    const second = observe(first, { estimate: 5060, fixed: 2560, actual: 7560 })
    expect(second.ratio).toBe(2)
  })
  it("starts without an image's tokens in the ratio, before any anchor", () => {
    expect(applyCalibration(startCalibration({ ratio: 2 }), 1500, 1000).tokens).toBe(2000)
  })
  it("learns the ratio from increments, not from what a host hides in the first request", () => {
    let state = observe(fresh, { estimate: 100, actual: 20_000 })
    expect(state.ratio).toBe(1)
    for (let i = 1; i <= 10; i++) {
      state = observe(state, { estimate: 100 + i * 1000, actual: 20_000 + i * 1300 })
    }
    expect(Math.abs(state.ratio - 1.3)).toBeLessThan(0.03)
  })
  it("learns from what our own edits took away too", () => {
    let state = observe(fresh, { estimate: 50_000, actual: 65_000 })
    state = observe(state, { estimate: 20_000, actual: 26_000 })
    expect(state.ratio).toBeGreaterThan(1.28)
  })
  it("an overflow error that states the number is an observation like any other", () => {
    const before = observe(fresh, { estimate: 90_000, actual: 100_000 })
    const after = observe(before, { estimate: 150_000, actual: 184_000 })
    expect(applyCalibration(after, 150_000).tokens).toBe(184_000)
    expect(after.ratio).toBeGreaterThan(1.35)
  })
  it("once settled, one odd increment moves it little; a lasting change moves it all the way", () => {
    let state = fresh
    for (let i = 0; i <= 10; i++)
      state = observe(state, { estimate: 1000 + i * 1000, actual: 1000 + i * 1000 })
    const odd = observe(state, { estimate: 21_000, actual: 41_000 })
    expect(odd.ratio).toBeLessThan(1.15)
    for (let i = 1; i <= 20; i++)
      state = observe(state, { estimate: 11_000 + i * 2000, actual: 11_000 + i * 3400 })
    expect(state.ratio).toBeCloseTo(1.7, 1)
  })
  it.each([
    ["a small increment", 1040, 1090],
    ["no increment", 1000, 1000],
    ["one that the provider counts at three times and more", 2000, 4300],
    ["one that the provider counts at less than half", 2000, 1300],
    ["growth that the provider sees as less", 2000, 800]
  ])("%s teaches nothing, but anchors", (_, estimate, actual) => {
    const state = observe(fresh, { estimate: 1000, actual: 1000 })
    const next = observe(state, { estimate, actual })
    expect(next.ratio).toBe(1)
    expect(applyCalibration(next, estimate).tokens).toBe(actual)
  })
  it("the answer is part of the next request: the output that was reported stands for it", () => {
    const state = observe(fresh, {
      estimate: 1000,
      actual: 1200,
      answer: { estimate: 100, output: 120 }
    })
    expect(applyCalibration(state, 1100).tokens).toBe(1320)
  })
  it("an output that is far more than the answer holds reasoning that is not sent again", () => {
    const state = observe(fresh, {
      estimate: 1000,
      actual: 1200,
      answer: { estimate: 100, output: 4000 }
    })
    expect(applyCalibration(state, 1100).tokens).toBe(1300)
    const none = observe(fresh, { estimate: 1000, actual: 1200, answer: { estimate: 100 } })
    expect(applyCalibration(none, 1100).tokens).toBe(1300)
  })
  it("figures that can't be those of all of a request change nothing", () => {
    const state = observe(fresh, { estimate: 1000, actual: 1200 })
    const of = (actual: number, fixed = 0) => observe(state, { estimate: 20_000, actual, fixed })
    expect(of(1899)).toBe(state)
    expect(of(1900)).not.toBe(state)
    // The price of images may be another in the request's own settings.
    expect(of(379, 19_000)).toBe(state)
    expect(of(380, 19_000)).not.toBe(state)
    expect(of(260_000)).not.toBe(state)
    expect(of(260_001)).toBe(state)
  })
  it("figures that are no positive numbers change nothing", () => {
    const state = observe(fresh, { estimate: 1000, actual: 1200 })
    for (const bad of [0, -5, Number.NaN, Infinity]) {
      expect(observe(state, { estimate: 1000, actual: bad })).toBe(state)
      expect(observe(state, { estimate: bad, actual: 1000 })).toBe(state)
    }
    expect(observe(state, { estimate: 1000, actual: 1000, fixed: Number.NaN })).toBe(state)
  })
  it("whatever comes in: the ratio stays within 0.5 and 3, tokens are whole and at least 0, and all survives JSON", () => {
    const n = fc.oneof(fc.integer({ min: -10, max: 1_000_000 }), fc.double())
    const seen = fc.record({
      estimate: n,
      actual: n,
      fixed: fc.option(n, { nil: undefined }),
      answer: fc.option(fc.record({ estimate: n, output: fc.option(n, { nil: undefined }) }), {
        nil: undefined
      })
    })
    fc.assert(
      fc.property(
        fc.array(seen, { maxLength: 20 }),
        fc.nat(1_000_000),
        fc.nat(10_000),
        (all, estimate, fixed) => {
          let state: Calibration = fresh
          for (const one of all) state = observe(state, one)
          expect(state.ratio >= 0.5 && state.ratio <= 3).toBe(true)
          expect(state.weight >= 0 && state.weight <= 4000).toBe(true)
          const { tokens } = applyCalibration(state, estimate, fixed)
          expect(Number.isInteger(tokens) && tokens >= 0).toBe(true)
          const saved = Schema.decodeUnknownSync(Calibration)(JSON.parse(JSON.stringify(state)))
          expect(saved).toEqual(JSON.parse(JSON.stringify(state)))
        }
      ),
      { numRuns: 2000 }
    )
  })
  it("whatever the ratio was, it ends near the true one", () => {
    const increments = fc.array(fc.integer({ min: 200, max: 5000 }), {
      minLength: 40,
      maxLength: 60
    })
    fc.assert(
      fc.property(fc.double({ min: 0.6, max: 2.5, noNaN: true }), increments, (truth, steps) => {
        let state = observe(fresh, { estimate: 1000, actual: 9000 })
        let estimate = 1000
        for (const step of steps) {
          estimate += step
          state = observe(state, { estimate, actual: 9000 + truth * (estimate - 1000) })
        }
        expect(Math.abs(state.ratio / truth - 1)).toBeLessThan(0.02)
      })
    )
  })
})

describe("reported usage", () => {
  const usage = { input: 6, cacheRead: 37_072, cacheWrite: 580, output: 79 }
  it("is input, cache reads and cache writes together", () =>
    expect(usageTokens(usage)).toBe(37_658))
  it("may leave the cache out", () => expect(usageTokens({ input: 10 })).toBe(10))
  it.each([
    undefined,
    null,
    5,
    "usage",
    {},
    { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
    { input: Number.NaN, cacheRead: 1 },
    { input: -1, cacheRead: 5 },
    { input: "7" },
    { cacheRead: 7 },
    { input: 7, cacheRead: null }
  ])("%j is none", (odd) => expect(usageTokens(odd)).toBeUndefined())

  const answer = {
    role: "assistant",
    content: [],
    usage,
    model: "claude-sonnet-4-5",
    stopReason: "toolUse"
  }
  it("of an answer comes with its output and its model", () => {
    expect(reportedUsage(answer)).toEqual({
      actual: 37_658,
      output: 79,
      model: "claude-sonnet-4-5"
    })
    expect(reportedUsage({ role: "assistant", usage: { input: 5 } })).toEqual({
      actual: 5,
      output: undefined,
      model: undefined
    })
  })
  it.each([
    ["aborted", { ...answer, stopReason: "aborted" }],
    ["failed", { ...answer, stopReason: "error" }],
    ["all zero", { ...answer, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
    ["without usage", { role: "assistant", content: [] }],
    ["no answer", { ...answer, role: "toolResult" }],
    ["no message", null]
  ])("of one that is %s doesn't count", (_, message) =>
    expect(reportedUsage(message)).toBeUndefined()
  )
})

import { requireData } from "@varve-examples/session-readers/Data"
import { session } from "@varve-examples/session-readers/Sessions"
import { describe, expect, it } from "vitest"
import { traceOf, validate } from "../src/index.ts"

const usage = (cacheRead: number, cacheWrite: number) => ({ input: 3, cacheRead, cacheWrite })
const roles = (...all: ReadonlyArray<string>) => all.map((role) => ({ role }))

describe("validate", () => {
  const messages = roles("user", "assistant", "toolResult", "assistant", "user")
  const first = { at: 1, timestamp: 0, model: "a", usage: usage(0, 5000) }
  const second = { at: 3, timestamp: 300_000, model: "a", usage: usage(5000, 400) }

  it("predicts all that was cached before, for as long as a cache lives", () => {
    expect(validate({ messages, requests: [first, second] })).toMatchObject({
      requests: 1,
      equal: 1,
      inLoop: 1,
      equalInLoop: 1
    })
    const late = { ...second, timestamp: 300_001 }
    expect(validate({ messages, requests: [first, late] }).misses).toEqual([
      { at: 3, gap: 300_001, inLoop: true, predicted: 0, reported: 5000 }
    ])
  })

  it("predicts nothing for another model, and passes over requests without usage", () => {
    const other = { ...second, model: "b", usage: usage(0, 5400) }
    const aborted = { at: 2, timestamp: 1, model: "a", usage: { ...usage(0, 0), input: 0 } }
    expect(validate({ messages, requests: [first, aborted, other] })).toMatchObject({
      requests: 1,
      equal: 1
    })
  })
})

const hasData = requireData("the simulator's validation")

describe.skipIf(!hasData)("on a real pi session", () => {
  it("the cache reads of requests are predicted to the token", () => {
    const { equal, equalInLoop, inLoop, misses, requests } = validate(session("pi/large-session"))
    expect(requests).toBe(438)
    expect(equal / requests).toBeGreaterThanOrEqual(0.88)
    expect(equalInLoop / inLoop).toBeGreaterThanOrEqual(0.99)
    // What isn't is missed whole at the border of a turn, but for a few reads of a request in between.
    expect(misses.every((m) => !m.inLoop)).toBe(true)
    expect(misses.filter((m) => m.reported === 0).length).toBeGreaterThan(0.9 * misses.length - 1)
  })

  it("a trace has every request with its history, in order of time", () => {
    const own = session("pi/large-session")
    const trace = traceOf(own, { overhead: 1000 })
    expect(trace.requests.length).toBe(own.requests.filter(({ at }) => at > 0).length)
    let before = 0
    for (const { at, history } of trace.requests) {
      expect(at).toBeGreaterThanOrEqual(before)
      expect(history.at(-1)).toBe(own.messages[history.length - 1])
      before = at
    }
  })
})

import type { ToldCall } from "@varve/core/HistorySteps"
import { historySteps } from "@varve/core/HistorySteps"
import type { BeginStep, FinishStep } from "@varve/core/StepLog"
import { StepLog } from "@varve/core/StepLog"
import { deepFreeze } from "@varve/testkit/Freeze"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const call = (n: number, more: Partial<ToldCall> = {}): ToldCall => ({
  callId: "call_0",
  tool: "click",
  args: { n },
  outcome: "success",
  ...more
})

const same = call(0)

/** What was told, and the log that came of it; `log` is one of before a restart. */
const spied = (log = new StepLog()) => {
  const begun: Array<BeginStep> = []
  const finished: Array<FinishStep> = []
  let unknown = 0
  const tell = historySteps({
    begin: (step) => {
      if (!log.knows(step) && log.begin(step)) begun.push(step)
      else if (!log.knows(step)) unknown++
    },
    finish: (step) => {
      if (!log.knows(step) && log.finish(step)) finished.push(step)
      else if (!log.knows(step)) unknown++
    }
  })
  return {
    begun,
    finished,
    log,
    refused: () => unknown,
    tell: (calls: ReadonlyArray<ToldCall>) => tell(deepFreeze(structuredClone(calls)))
  }
}

/** A run with one call id: how many calls are new each time, and how many old ones leave before. */
const runs = fc.array(
  fc.record({ leave: fc.nat(6), calls: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }) }),
  { maxLength: 20 }
)

describe("the calls of a history", () => {
  it("are steps once each, also where they say the same, and old ones leave between two turns", () => {
    fc.assert(
      fc.property(runs, (plan) => {
        const { begun, finished, refused, tell } = spied()
        const all: Array<ToldCall> = []
        let from = 0
        for (const { calls, leave } of plan) {
          from = Math.max(0, Math.min(all.length - 1, from + leave))
          tell(all.slice(from))
          for (const n of calls) {
            // Many say the same as one before.
            all.push(call(n))
            tell(all.slice(from))
          }
        }
        expect(begun.map(({ args }) => args)).toEqual(all.map(({ args }) => args))
        expect(refused()).toBe(0)
        expect(finished).toHaveLength(begun.length)
      })
    )
  })

  it("are all kept where they differ, however many leave in whichever request", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 3 }))), (plan) => {
        const { begun, tell } = spied()
        const all: Array<ToldCall> = []
        let from = 0
        for (const [leave, count] of plan) {
          from = Math.min(all.length, from + leave)
          for (let i = 0; i < count; i++) all.push(call(all.length))
          tell(all.slice(from))
        }
        expect(begun.map(({ args }) => args)).toEqual(all.map(({ args }) => args))
      })
    )
  })

  it("are known again after a restart, with old ones gone too", () => {
    const before = spied()
    before.tell([call(1), call(2), call(3)])
    const { begun, refused, tell } = spied(before.log)
    tell([call(2), call(3)])
    tell([call(2), call(3), call(4)])
    expect(begun.map(({ goal }) => goal)).toEqual(["click(n: 4)"])
    expect(refused()).toBe(0)
  })

  it("are told anew where the history is another one: a memory that was reset takes them", () => {
    const { tell, finished } = spied()
    tell([same, same])
    const fresh: Array<string> = []
    const reset = historySteps({ begin: ({ id }) => void fresh.push(id), finish: () => {} })
    reset([same, same])
    reset([])
    reset([same])
    expect(fresh).toEqual([finished[0]!.id, finished[1]!.id, finished[0]!.id])
  })

  it("have their outcome once it is there", () => {
    const { begun, finished, tell } = spied()
    tell([call(1, { outcome: undefined })])
    expect([begun.length, finished.length]).toEqual([1, 0])
    tell([call(1, { outcome: "failed", note: "No such button." })])
    tell([call(1, { outcome: "failed", note: "No such button." })])
    expect(finished).toEqual([
      { id: begun[0]!.id, callId: "call_0", outcome: "failed", note: "No such button." }
    ])
  })
})

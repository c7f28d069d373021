import { StepLog } from "@varve/core/StepLog"
import { describe, expect, it } from "vitest"

const begun = (...ids: ReadonlyArray<string>) => {
  const log = new StepLog()
  for (const id of ids) log.begin({ id, goal: `goal of ${id}` })
  return log
}

describe("the step log", () => {
  it("keeps several steps pending at once, those of one turn too", () => {
    const log = new StepLog()
    for (const callId of ["a", "b", "c"]) log.begin({ id: "turn 1", callId, goal: `do ${callId}` })
    expect(log.pending).toBe(3)
    log.finish({ id: "turn 1", callId: "b", outcome: "success" })
    expect(log.pending).toBe(2)
    expect(log.steps.map((s) => `${s.callId} ${s.goal} ${s.status}`)).toEqual([
      "a do a pending",
      "b do b success",
      "c do c pending"
    ])
    expect(log.byCall("c")).toBe(log.steps[2])
    expect(log.byCall("x")).toBeUndefined()
  })

  it("numbers steps as the host does, else by their order", () => {
    const log = begun("a")
    log.begin({ id: "b", step: 7, goal: "" })
    log.begin({ id: "c", goal: "" })
    expect(log.steps.map((s) => s.step)).toEqual([1, 7, 3])
  })

  it("ends a step only where both ids are those that it began with, and only once", () => {
    const log = new StepLog()
    log.begin({ id: "s1", callId: "c1", goal: "go" })
    const before = log.steps
    for (const wrong of [{ id: "s2" }, { id: "s1", callId: "c2" }, { id: "c1", callId: "s1" }]) {
      expect(log.finish({ ...wrong, outcome: "success" })).toBe(false)
    }
    expect(log.steps).toBe(before)
    expect(log.finish({ id: "s1", callId: "c1", outcome: "failed", note: "no" })).toBe(true)
    expect(log.finish({ id: "s1", callId: "c1", outcome: "success" })).toBe(false)
    expect(log.steps[0]).toMatchObject({ status: "failed", note: "no" })
    expect(log.pending).toBe(0)
  })

  it("ends the only pending step of an id without its call, and none where several are", () => {
    const log = new StepLog()
    for (const callId of ["c1", "c2"]) log.begin({ id: "s", callId, goal: callId })
    expect(log.finish({ id: "s", outcome: "success" })).toBe(false)
    log.finish({ id: "s", callId: "c1", outcome: "failed" })
    expect(log.finish({ id: "s", outcome: "success" })).toBe(true)
    expect(log.steps.map(({ status }) => status)).toEqual(["failed", "success"])
    expect(log.pending).toBe(0)
    expect(log.knows({ id: "s", outcome: "success" })).toBe(true)
    expect(log.finish({ id: "s", outcome: "success" })).toBe(false)
  })

  it("takes no second step of the same ids", () => {
    const log = begun("a")
    const before = log.steps
    expect(log.begin({ id: "a", goal: "another" })).toBe(false)
    expect(log.steps).toBe(before)
    expect(log.begin({ id: "a", callId: "c", goal: "another" })).toBe(true)
  })

  it("knows what it was told, from what says otherwise", () => {
    const log = begun("a", "b")
    log.finish({ id: "a", outcome: "success" })
    expect(log.knows({ id: "a", goal: "goal of a" })).toBe(true)
    expect(log.knows({ id: "a", goal: "another" })).toBe(false)
    expect(log.knows({ id: "a", goal: "goal of a", tool: "click" })).toBe(false)
    expect(log.knows({ id: "a", outcome: "success" })).toBe(true)
    expect(log.knows({ id: "a", outcome: "failed" })).toBe(false)
    expect(log.knows({ id: "b", outcome: "success" })).toBe(false)
    expect(log.knows({ id: "c", outcome: "success" })).toBe(false)
  })

  it("gives a new list with each change, and never changes one that it gave", () => {
    const log = begun("a")
    const first = log.steps
    log.begin({ id: "b", goal: "" })
    const second = log.steps
    log.finish({ id: "a", outcome: "success" })
    expect(first.length).toBe(1)
    expect(second.map((s) => s.status)).toEqual(["pending", "pending"])
    expect(log.steps.map((s) => s.status)).toEqual(["success", "pending"])
  })
})

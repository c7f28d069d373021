import { silentOverflow } from "@varve/profiles"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const usage = { input: 0, output: 5, cacheRead: 0, cacheWrite: 0 }

describe("an overflow without an error", () => {
  it("is an answer that ended normally on more input than the window", () => {
    const answer = { stopReason: "stop", usage: { ...usage, input: 100_000, cacheRead: 100_001 } }
    expect(silentOverflow(answer, 200_000)).toMatchObject({
      kind: "tokens",
      actual: 200_001,
      limit: 200_000
    })
    expect(silentOverflow({ ...answer, stopReason: "toolUse" }, 200_000)?.kind).toBe("tokens")
    expect(silentOverflow(answer, 200_001)).toBeUndefined()
  })

  it("counts what was written to the cache as input", () => {
    const answer = { stopReason: "stop", usage: { ...usage, input: 1, cacheWrite: 200_000 } }
    expect(silentOverflow(answer, 200_000)?.actual).toBe(200_001)
  })

  it("is an answer cut at its first token because the input fills the window", () => {
    const answer = { stopReason: "length", usage: { ...usage, input: 198_000, output: 0 } }
    expect(silentOverflow(answer, 200_000)?.actual).toBe(198_000)
    expect(
      silentOverflow({ ...answer, usage: { ...answer.usage, input: 197_999 } }, 200_000)
    ).toBeUndefined()
    expect(
      silentOverflow({ ...answer, usage: { ...answer.usage, output: 1 } }, 200_000)
    ).toBeUndefined()
  })

  it("is none in an answer that was aborted or failed, without usage or without a window", () => {
    const full = { ...usage, input: 900_000, output: 0 }
    for (const stopReason of ["aborted", "error", undefined]) {
      expect(silentOverflow({ stopReason, usage: full }, 200_000)).toBeUndefined()
    }
    expect(silentOverflow({ stopReason: "stop" }, 200_000)).toBeUndefined()
    for (const window of [0, -1, Number.NaN]) {
      expect(silentOverflow({ stopReason: "stop", usage: full }, window)).toBeUndefined()
    }
  })

  it("is never found in odd data, and never throws", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (message, stopReason, odd) => {
        silentOverflow(message as never, 1000)
        silentOverflow({ stopReason, usage: odd } as never, odd as never)
      })
    )
  })
})

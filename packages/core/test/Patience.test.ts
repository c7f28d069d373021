import { patience } from "@varve/core/Patience"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"

/** A promise that is settled from outside. */
const open = () => {
  let give!: (value: string) => void
  let fail!: (error: Error) => void
  const promise = new Promise<string>((resolve, reject) => {
    give = resolve
    fail = reject
  })
  return { promise, give, fail }
}

describe("patience", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("gives what was answered in time, or what it failed with", async () => {
    const inTime = patience(10)
    expect(await inTime(async () => "a")).toBe("a")
    await expect(inTime(async () => Promise.reject(new Error("no")))).rejects.toThrow("no")
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each(["gives", "fails"])(
    "asks nothing while an answer is late, and asks again once it %s",
    async (how) => {
      const inTime = patience(10)
      const { promise, give, fail } = open()
      const late = expect(inTime(async () => promise)).rejects.toThrow("no answer within 10 ms")
      await vi.advanceTimersByTimeAsync(10)
      await late
      const ask = vi.fn(async () => "b")
      await expect(inTime(ask)).rejects.toThrow("still at work")
      expect(ask).not.toHaveBeenCalled()
      if (how === "gives") give("a")
      else fail(new Error("no"))
      await vi.advanceTimersByTimeAsync(0)
      expect(await inTime(ask)).toBe("b")
    }
  )

  it("waits for 120 s by default", async () => {
    const inTime = patience()
    const { promise, give } = open()
    const answer = inTime(async () => promise)
    await vi.advanceTimersByTimeAsync(119_999)
    give("a")
    expect(await answer).toBe("a")
  })
})

import type { Budget } from "@varve/core/Budget"
import { resolveLimits } from "@varve/core/Budget"
import { createMemory } from "@varve/core/createMemory"
import type { Profile } from "@varve/core/Profile"
import { defaultProfile } from "@varve/core/Profile"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const tokens = (budget: Budget, profile: Partial<Profile> = {}) =>
  resolveLimits(budget, { ...defaultProfile, ...profile }).tokens

describe("the limit of tokens", () => {
  it("is the window less the output reserve and a margin of a fiftieth", () => {
    expect(tokens({}, { contextWindow: 200_000, reserveOutput: 8192 })).toBe(200_000 - 8192 - 4000)
    expect(tokens({ reserveOutput: 32_000 }, { contextWindow: 200_000 })).toBe(164_000)
  })

  it("is the budget where that is smaller, and the window where that is", () => {
    expect(tokens({ tokens: 50_000 }, { contextWindow: 200_000 })).toBe(50_000)
    expect(tokens({ tokens: 500_000 }, { contextWindow: 200_000 })).toBe(200_000 - 8192 - 4000)
    // A large window is held by an absolute cap.
    expect(tokens({ tokens: 150_000 }, { contextWindow: 1_000_000 })).toBe(150_000)
  })

  it("is the documented default for a model that nobody knows", () => {
    expect(tokens({})).toBe(128_000 - 8192 - 2560)
  })

  it("is at least one token, however large the reserve is", () => {
    expect(tokens({}, { contextWindow: 1, reserveOutput: 8192 })).toBe(1)
    expect(tokens({ reserveOutput: 1_000_000 })).toBe(1)
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat(),
        fc.option(fc.nat(), { nil: undefined }),
        (window, reserve, own) => {
          const budget = own === undefined ? {} : { reserveOutput: own }
          const limit = tokens(budget, { contextWindow: window, reserveOutput: reserve })
          expect(limit).toBeGreaterThanOrEqual(1)
          if (window > 0) expect(limit).toBeLessThanOrEqual(Math.max(1, window))
        }
      )
    )
  })

  it("keeps a quarter for the answer where a profile would keep all, and says so once", async () => {
    expect(tokens({}, { contextWindow: 8192, reserveOutput: 8192 })).toBe(8192 - 2048 - 164)
    expect(tokens({}, { contextWindow: 8192, reserveOutput: 8028 })).toBe(8192 - 2048 - 164)
    expect(tokens({}, { contextWindow: 8192, reserveOutput: 8027 })).toBe(1)
    const told: Array<string> = []
    const memory = createMemory({
      profile: { ...defaultProfile, contextWindow: 8192 },
      onEvent: (e) => void (e.type === "warning" && told.push(e.message))
    })
    const { report } = await memory.prepare([{ role: "user", content: "Go." }])
    await memory.prepare([{ role: "user", content: "Go on." }])
    expect(report.limits.tokens).toBe(8192 - 2048 - 164)
    expect(told).toHaveLength(1)
    expect(told[0]).toContain("keeps 8192 tokens for the answer, of a window of 8192")
  })

  it("that a profile has guessed is a warning, once", async () => {
    const told: Array<string> = []
    const memory = createMemory({
      profile: { ...defaultProfile, warning: "nobody knows this model" },
      onEvent: (e) => void (e.type === "warning" && told.push(e.message))
    })
    await memory.prepare([{ role: "user", content: "Go." }])
    await memory.prepare([{ role: "user", content: "Go on." }])
    expect(told).toEqual(["nobody knows this model"])
  })

  it("of an unlimited window is none but the budget's", () => {
    expect(tokens({}, { contextWindow: 0 })).toBe(Infinity)
    expect(tokens({ tokens: 10 }, { contextWindow: 0 })).toBe(10)
  })
})

describe("the other limits", () => {
  it("are each the smaller of the budget's and the provider's, and none where neither says one", () => {
    const limits = {
      images: 100,
      bytesPerImage: 5_000_000,
      requestBytes: 32_000_000,
      maxEdge: 8000
    }
    const profile = { ...defaultProfile, limits: { ...limits, imagesPerMessage: 20, maxPixels: 9 } }
    expect(resolveLimits({ images: 50, maxEdge: 9000, imageBytes: 7 }, profile)).toMatchObject({
      images: 50,
      imagesPerMessage: 20,
      bytesPerImage: 5_000_000,
      requestBytes: 32_000_000,
      maxEdge: 8000,
      maxPixels: 9,
      imageBytes: 7,
      messages: Infinity,
      manyImages: undefined
    })
    const none = resolveLimits({}, defaultProfile)
    for (const axis of ["images", "imageBytes", "requestBytes", "maxEdge", "messages"] as const)
      expect(none[axis]).toBe(Infinity)
  })

  it("take the budget's rule on many images in the place of the profile's", () => {
    const profile = { ...defaultProfile, limits: { manyImages: { over: 20, maxEdge: 2000 } } }
    expect(resolveLimits({}, profile).manyImages).toEqual({ over: 20, maxEdge: 2000 })
    const own = { over: 5, maxEdge: 500 }
    expect(resolveLimits({ manyImages: own }, profile).manyImages).toEqual(own)
  })

  it("of no images at all is a limit", () => {
    expect(resolveLimits({ images: 0 }, defaultProfile).images).toBe(0)
  })
})

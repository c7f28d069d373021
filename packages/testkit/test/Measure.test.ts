import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { describe, expect, it } from "vitest"
import { measure, overLimits } from "../src/Measure.ts"
import { pngBase64 } from "../src/Png.ts"

const image = (width: number, height: number, bytes = 0) => ({
  type: "image" as const,
  data: pngBase64(width, height, 1, bytes),
  mimeType: "image/png"
})
const messages: ReadonlyArray<Message> = [
  {
    role: "user",
    content: [{ type: "text", text: "look" }, image(100, 50), image(300, 900, 4000)]
  },
  { role: "assistant", content: "I see" }
]
const m = measure(messages, estimateCounter(), { system: "rules" })

describe("measure", () => {
  it("counts images by their data and header, bytes by the JSON", () => {
    expect(m).toMatchObject({ images: 2, largestEdge: 900, mostImagesInMessage: 2, messages: 2 })
    expect(m.largestImage).toBeGreaterThanOrEqual(4000)
    expect(m.imageBytes).toBeGreaterThan(m.largestImage)
    expect(m.requestBytes).toBe(JSON.stringify(messages).length + 7)
    expect(m.tokens).toBeGreaterThan(measure(messages, estimateCounter()).tokens)
  })

  it("takes anything", () => {
    const odd = [
      null,
      7,
      { role: "user", content: [null, { type: "tool_result", content: [image(1, 1)] }] }
    ]
    expect(measure(odd as never, estimateCounter()).images).toBe(1)
  })
})

describe("overLimits", () => {
  it.each([
    ["tokens", { tokens: m.tokens - 1 }],
    ["images", { images: 1 }],
    ["image bytes", { imageBytes: m.imageBytes - 1 }],
    ["bytes of one image", { bytesPerImage: m.largestImage - 1 }],
    ["images in one message", { imagesPerMessage: 1 }],
    ["request bytes", { requestBytes: m.requestBytes - 1 }],
    ["longest edge", { maxEdge: 899 }],
    ["messages", { messages: 1 }],
    ["edge among many images", { manyImages: { over: 1, maxEdge: 899 } }]
  ])("names %s", (what, limits) => {
    expect(overLimits(m, limits)).toEqual([expect.stringMatching(new RegExp(`^${what}: `))])
  })

  it("is empty at the very limit", () => {
    const limits = {
      tokens: m.tokens,
      images: 2,
      maxEdge: 900,
      messages: 2,
      manyImages: { over: 2, maxEdge: 10 }
    }
    expect(overLimits(m, limits)).toEqual([])
  })
})

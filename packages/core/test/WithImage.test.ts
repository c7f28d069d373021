import { describe, expect, it } from "vitest"
import { imageOf, withImage } from "../src/Message.ts"

const shapes: ReadonlyArray<Record<string, unknown>> = [
  { type: "image", data: "AAAA", mimeType: "image/png", extra: 1 },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" }, extra: 1 },
  { type: "image", source: { type: "url", url: "https://example.com/a.png" }, extra: 1 },
  { type: "image", image: "AAAA", mediaType: "image/png", extra: 1 },
  { type: "image", image: "data:image/png;base64,AAAA", mediaType: "image/png", extra: 1 },
  { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" }, extra: 1 },
  { type: "image_url", image_url: "data:image/png;base64,AAAA", extra: 1 },
  { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "high", extra: 1 },
  { type: "file", data: "AAAA", mediaType: "image/png", extra: 1 },
  { type: "media", data: "data:image/png;base64,AAAA", mimeType: "image/png", extra: 1 }
]

describe("withImage", () => {
  for (const block of shapes) {
    it(`puts another image into the host's own shape: ${JSON.stringify(block)}`, () => {
      const { detail } = imageOf(block)!
      const copy = withImage(block, { data: "BBBB", mimeType: "image/webp" })
      expect(imageOf(copy)).toEqual({
        data: "BBBB",
        url: undefined,
        mimeType: "image/webp",
        detail
      })
      expect(copy).toMatchObject({ type: block.type, extra: 1 })
      expect(Object.keys(copy)).toEqual(Object.keys(block))
    })
  }

  it("gives pi's block where there was no image", () => {
    const plain = { type: "image", data: "BBBB", mimeType: "image/webp" }
    for (const odd of [undefined, null, 7, { type: "text", text: "x" }, { type: "image" }])
      expect(withImage(odd, { data: "BBBB", mimeType: "image/webp" })).toEqual(plain)
  })
})

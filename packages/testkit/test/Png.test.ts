import { crc32, inflateSync } from "node:zlib"
import { readImageSize } from "@varve/core/ImageSize"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { pngBase64 } from "../src/Png.ts"

const chunks = (base64: string) => {
  const file = Buffer.from(base64, "base64")
  expect(file.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n")
  const found = new Map<string, Buffer>()
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at)
    const end = at + 8 + length
    expect(file.readUInt32BE(end)).toBe(crc32(file.subarray(at + 4, end)))
    found.set(file.toString("latin1", at + 4, at + 8), file.subarray(at + 8, end))
    at = end + 4
  }
  return found
}

describe("pngBase64", () => {
  it("is a whole PNG of the size that was asked for", () => {
    const edge = fc.integer({ min: 1, max: 300 })
    fc.assert(
      fc.property(edge, edge, fc.nat(), fc.nat(5000), (width, height, seed, bytes) => {
        const png = pngBase64(width, height, seed, bytes)
        const found = chunks(png)
        expect([...found.keys()].at(-1)).toBe("IEND")
        expect(inflateSync(found.get("IDAT")!).length).toBe((Math.ceil(width / 8) + 1) * height)
        expect(readImageSize(png)).toMatchObject({ width, height })
        expect(png.length).toBeGreaterThanOrEqual(bytes)
        expect(pngBase64(width, height, seed, bytes)).toBe(png)
      })
    )
  })

  it("is small, and another for each seed", () => {
    const all = Array.from({ length: 500 }, (_, seed) => pngBase64(1280, 720, seed))
    expect(new Set(all).size).toBe(500)
    expect(Math.max(...all.map((png) => png.length))).toBeLessThan(1000)
    expect(pngBase64(1280, 720, 1, 100_000).length).toBeLessThan(100_100)
  })
})

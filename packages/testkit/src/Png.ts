import { crc32, deflateSync } from "node:zlib"

const chunk = (type: string, data: Uint8Array): Buffer => {
  const out = Buffer.alloc(data.length + 12)
  out.writeUInt32BE(data.length, 0)
  out.write(type, 4, "latin1")
  out.set(data, 8)
  out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8)
  return out
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const end = chunk("IEND", Buffer.alloc(0))
/** A chunk that readers pass over. */
const padding = "paDd"
const PATTERNS = 5

/** Pixels of one bit each: lines in one of a few patterns. They are the dear part, so each is made once. */
const pixels = new Map<string, Buffer>()
const pixelsOf = (width: number, height: number, pattern: number): Buffer => {
  const key = `${width}x${height}/${pattern}`
  let data = pixels.get(key)
  if (data === undefined) {
    const line = Math.ceil(width / 8) + 1
    const raw = Buffer.alloc(line * height)
    for (let y = 0; y < height; y++) {
      if ((y >> 4) % PATTERNS === pattern) raw.fill(0xff, y * line + 1, (y + 1) * line)
    }
    pixels.set(key, (data = chunk("IDAT", deflateSync(raw))))
  }
  return data
}

/**
 * A PNG of `width` x `height` px as base64, a few hundred bytes small. Each `seed` gives other colours
 * and other bytes; `bytes` pads the base64 to at least so many bytes. The same arguments give the same text.
 *
 * @example
 * ```ts
 * import { pngBase64 } from "@varve/testkit/Png"
 *
 * console.log(pngBase64(1280, 720, 1).length < 1000) // => true
 * console.log(pngBase64(64, 64, 1, 2000).length >= 2000) // => true
 * ```
 */
export const pngBase64 = (width: number, height: number, seed = 0, bytes = 0): string => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 3], 8)
  const colours = Buffer.alloc(6)
  colours.writeUInt32BE(Math.imul(seed + 1, 0x9e3779b1) >>> 0, 0)
  colours.writeUInt16BE((seed >>> 8) & 0xffff, 4)
  const parts = [
    signature,
    chunk("IHDR", header),
    chunk("PLTE", colours),
    pixelsOf(width, height, seed % PATTERNS)
  ]
  const short = Math.ceil(bytes * 0.75) - parts.reduce((sum, p) => sum + p.length, end.length)
  if (short > 0) parts.push(chunk(padding, Buffer.alloc(Math.max(0, short - 12))))
  return Buffer.concat([...parts, end]).toString("base64")
}

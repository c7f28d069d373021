/** Fast, deterministic, not for secrets: two 32-bit lanes, 53 bits of result. */

/** Whole numbers of 32 bits with a sign: what is larger is an object of its own for each change. */
interface Lanes {
  a: number
  b: number
}

const mix = (h: Lanes, value: number): void => {
  h.a = Math.imul(h.a ^ value, 0x9e3779b1)
  h.b = Math.imul(h.b ^ value, 0x85ebca6b) ^ (h.b >>> 15)
}

const finish = (h: Lanes): number => {
  let a = h.a ^ (h.a >>> 16)
  let b = h.b ^ (h.b >>> 13)
  a = Math.imul(a, 0xc2b2ae35) ^ (b >>> 16)
  b = Math.imul(b, 0x27d4eb2f) ^ (a >>> 15)
  return (b >>> 0) * 0x200000 + ((a >>> 0) & 0x1fffff)
}

const mixText = (h: Lanes, text: string, from: number, to: number): void => {
  // In locals: as fields the lanes would be written to memory for each character.
  let { a, b } = h
  for (let i = from; i < to; i++) {
    const value = text.charCodeAt(i)
    a = Math.imul(a ^ value, 0x9e3779b1)
    b = Math.imul(b ^ value, 0x85ebca6b) ^ (b >>> 15)
  }
  h.a = a
  h.b = b
}

/** Up to here a text is hashed whole; behind it head, tail and evenly spaced windows stand for it. */
const WHOLE = 1024

const mixSampled = (h: Lanes, text: string): void => {
  const n = text.length
  mix(h, n)
  if (n <= WHOLE) return mixText(h, text, 0, n)
  mixText(h, text, 0, 256)
  mixText(h, text, n - 256, n)
  const stride = (n - 512) / 32
  for (let w = 0; w < 32; w++) {
    const from = 256 + Math.floor(w * stride)
    mixText(h, text, from, Math.min(from + 16, n - 256))
  }
}

/** Hash of a whole text, base 36. */
export const hashText = (text: string): string => {
  const h: Lanes = { a: 0x811c9dc5 | 0, b: text.length }
  mixText(h, text, 0, text.length)
  return finish(h).toString(36)
}

const hashOf = (value: unknown, depth: number): number => {
  const h: Lanes = { a: 0x811c9dc5 | 0, b: 0x1b873593 }
  switch (typeof value) {
    case "string":
      mix(h, 1)
      mixSampled(h, value)
      break
    case "number":
    case "bigint":
    case "boolean":
      mix(h, 2)
      mixSampled(h, String(value))
      break
    case "object":
      if (value === null || depth > 12) mix(h, 3)
      else if (Array.isArray(value)) {
        mix(h, 4)
        for (const item of value) mix(h, hashOf(item, depth + 1) | 0)
      } else {
        mix(h, 5)
        // A sum does not depend on the order of the keys: stores may reorder them.
        let sum = 0
        for (const key of Object.keys(value)) {
          const item: unknown = (value as Record<string, unknown>)[key]
          if (item === undefined) continue
          const k: Lanes = { a: 7, b: hashOf(item, depth + 1) | 0 }
          mixSampled(k, key)
          sum = (sum + finish(k)) | 0
        }
        mix(h, sum)
      }
  }
  return finish(h)
}

/** The keys that say what a message is; what hosts add beside them (times, usage) does not count. */
const telling = ["role", "id", "content", "toolCallId", "isError"] as const

/** A sampled fingerprint of what a message says, base 36. Equal for clones and after a round trip through JSON. */
export const fingerprint = (message: object): string => {
  const m = message as Record<string, unknown>
  if (m.content === undefined) {
    const { timestamp: _, ...rest } = m
    return hashOf(rest, 0).toString(36)
  }
  const h: Lanes = { a: 1, b: 2 }
  for (const key of telling) mix(h, m[key] === undefined ? 0 : hashOf(m[key], 0) | 0)
  return finish(h).toString(36)
}

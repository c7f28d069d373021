/** Fast, deterministic, not for secrets: two 32-bit lanes, 53 bits of result. */

/**
 * The lanes of the hash that is being made: whole numbers of 32 bits with a sign, since what is larger is an object
 * of its own for each change. Here and not in an object, of which each message would make dozens.
 */
let laneA = 0
let laneB = 0

const begin = (a: number, b: number): void => {
  laneA = a
  laneB = b
}

const mix = (value: number): void => {
  laneA = Math.imul(laneA ^ value, 0x9e3779b1)
  laneB = Math.imul(laneB ^ value, 0x85ebca6b) ^ (laneB >>> 15)
}

const finish = (): number => {
  let a = laneA ^ (laneA >>> 16)
  let b = laneB ^ (laneB >>> 13)
  a = Math.imul(a, 0xc2b2ae35) ^ (b >>> 16)
  b = Math.imul(b, 0x27d4eb2f) ^ (a >>> 15)
  return (b >>> 0) * 0x200000 + ((a >>> 0) & 0x1fffff)
}

const mixText = (text: string, from: number, to: number): void => {
  // In locals: the lanes would be written to memory for each character.
  let a = laneA
  let b = laneB
  for (let i = from; i < to; i++) {
    const value = text.charCodeAt(i)
    a = Math.imul(a ^ value, 0x9e3779b1)
    b = Math.imul(b ^ value, 0x85ebca6b) ^ (b >>> 15)
  }
  begin(a, b)
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
const PAIRS = Array.from({ length: 1296 }, (_, n) => DIGITS[Math.floor(n / 36)]! + DIGITS[n % 36]!)

/** A whole number in base 36, as `toString(36)` gives it, which takes as long as all the rest of a fingerprint. */
const base36 = (n: number): string => {
  let text = ""
  let left = n
  do {
    const rest = Math.floor(left / 1296)
    const pair = left - 1296 * rest
    text = (rest === 0 && pair < 36 ? DIGITS[pair]! : PAIRS[pair]!) + text
    left = rest
  } while (left > 0)
  return text
}

/** Up to here a text is hashed whole; behind it head, tail and evenly spaced windows stand for it. */
const WHOLE = 1024

const mixSampled = (text: string): void => {
  const n = text.length
  mix(n)
  if (n <= WHOLE) return mixText(text, 0, n)
  mixText(text, 0, 256)
  mixText(text, n - 256, n)
  const stride = (n - 512) / 32
  for (let w = 0; w < 32; w++) {
    const from = 256 + Math.floor(w * stride)
    mixText(text, from, Math.min(from + 16, n - 256))
  }
}

/** Hash of a whole text, base 36. */
export const hashText = (text: string): string => {
  begin(0x811c9dc5 | 0, text.length)
  mixText(text, 0, text.length)
  return base36(finish())
}

/** The hash of a value inside of another, whose own goes on. */
const inner = (value: unknown, depth: number): number => {
  const [a, b] = [laneA, laneB]
  const hash = hashOf(value, depth)
  begin(a, b)
  return hash
}

const hashOf = (value: unknown, depth: number): number => {
  begin(0x811c9dc5 | 0, 0x1b873593)
  switch (typeof value) {
    case "string":
      mix(1)
      mixSampled(value)
      break
    case "number":
    case "bigint":
    case "boolean":
      mix(2)
      mixSampled(String(value))
      break
    case "object":
      if (value === null || depth > 12) mix(3)
      else if (Array.isArray(value)) {
        mix(4)
        for (const item of value) mix(inner(item, depth + 1) | 0)
      } else {
        mix(5)
        const [a, b] = [laneA, laneB]
        // A sum does not depend on the order of the keys: stores may reorder them.
        let sum = 0
        // Not a list of the keys: the engine reads fields far faster so.
        for (const key in value) {
          if (!Object.hasOwn(value, key)) continue
          const item: unknown = (value as Record<string, unknown>)[key]
          if (item === undefined) continue
          begin(7, hashOf(item, depth + 1) | 0)
          mixSampled(key)
          sum = (sum + finish()) | 0
        }
        begin(a, b)
        mix(sum)
      }
  }
  return finish()
}

/** The keys that say what a message is; what hosts add beside them (times, usage) does not count. */
const telling = ["role", "id", "content", "toolCallId", "isError"] as const

/** A sampled fingerprint of what a message says, base 36. Equal for clones and after a round trip through JSON. */
export const fingerprint = (message: object): string => {
  const m = message as Record<string, unknown>
  if (m.content === undefined) {
    const { timestamp: _, ...rest } = m
    return base36(hashOf(rest, 0))
  }
  begin(1, 2)
  for (const key of telling) mix(m[key] === undefined ? 0 : inner(m[key], 0) | 0)
  return base36(finish())
}

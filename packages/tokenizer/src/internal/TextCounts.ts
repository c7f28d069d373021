/** Texts that are remembered in each of two generations. */
const MOST = 65_536
/** Shorter texts are counted as fast as they are looked up. */
const LEAST = 64

/**
 * Remembers the counts of texts by content, for hosts that clone their messages: bounded, and without the texts.
 *
 * The key is a hash of 53 bits over every unit and the length. (A `Map` keyed by the text itself would hold
 * the text, and is slow for long ones: their own hash covers the length only.)
 */
export class TextCounts {
  #young = new Map<number, number>()
  #old = new Map<number, number>()

  /** The count of a text, from memory or by `count`; `NaN` from `count` is not remembered. */
  of(text: string, count: (text: string) => number): number {
    if (text.length < LEAST) return count(text)
    const key = hash(text)
    let known = this.#young.get(key)
    if (known !== undefined) return known
    known = this.#old.get(key) ?? count(text)
    if (this.#young.size >= MOST) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, known)
    return known
  }
}

const hash = (text: string): number => {
  let a = text.length | 0
  let b = 0x9e3779b9 | 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b + code, 0x5bd1e995) ^ (b >>> 13)
  }
  a ^= a >>> 15
  b ^= b >>> 16
  return (a >>> 0) * 0x20_0000 + (b & 0x1f_ffff)
}

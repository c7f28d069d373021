/** Counts one text of at most a few hundred characters: the tokenizer itself. */
export type CountPiece = (text: string) => number

/** How a text is counted, and how many texts were cut while it was. */
export interface PieceCounter {
  /** Tokens of a text. */
  readonly count: (text: string) => number
  /** How many texts had a run cut so far: their count is an estimate. */
  readonly cuts: () => number
}

/** Characters of a piece that is looked up; longer ones are rarely met again. */
const SHORT = 64
const SLOTS = 1 << 16
/** Characters that are read at once: bounds what the expression and the tokenizer hold in memory. */
const WINDOW = 100_000
/** Characters of a part of a run that is cut: as many spaces and lines as one token has, fewer where a character has more bytes. */
const partAt = (text: string, at: number): number => (text.charCodeAt(at) > 0x7f ? 64 : 128)
/**
 * The tokenizer takes about 0.5 ns for each pair of bytes of a piece. A text may spend this many pairs at once
 * (5 ms), and this many more for each of its characters (15 ms for 100 000); then long pieces are cut.
 */
const PAIRS = 10_000_000
const PAIRS_PER_CHARACTER = 300

/** First and last character of scripts whose letters, marks and digits have long been settled. */
const SETTLED = [
  [0, 0x52f], // Latin, Greek, Cyrillic
  [0x5d0, 0x5ea], // Hebrew
  [0x620, 0x6ff], // Arabic
  [0x900, 0x97f], // Devanagari
  [0xe00, 0xe7f], // Thai
  [0x1100, 0x11ff], // Hangul letters
  [0x1e00, 0x2bff], // more Latin and Greek, punctuation, symbols
  [0x3000, 0x30ff], // Kana
  [0x3400, 0x4db5], // Chinese
  [0x4e00, 0x9fef],
  [0xac00, 0xd7a3], // Hangul
  [0xfe00, 0xfe0f], // variation selectors
  [0xff00, 0xffee], // full and half width
  [0x1d400, 0x1d7ff], // mathematical letters
  [0x1f000, 0x1faff], // emoji
  [0x20000, 0x2a6d6] // more Chinese
] as const

const hex = (code: number): string => `\\u{${code.toString(16)}}`

/**
 * What Unicode has added over the years, and what JavaScript and Rust see differently: where such a character
 * stands, only the tokenizer knows its pieces. U+0085 and U+FEFF are white space to one of the two, U+017F is
 * an s to `(?i:'s)`.
 */
const UNSETTLED = new RegExp(
  `[\\u0085\\u017f\\ufeff]|(?![${SETTLED.map(([a, b]) => `${hex(a)}-${hex(b)}`).join("")}])[\\p{L}\\p{M}\\p{N}\\p{Cn}\\p{Z}]`,
  "u"
)

/** Contractions in any case, where the pattern says so inline: an expression of JavaScript can't on Node 20. */
const INLINE = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
const SPELLED = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))"

const isLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 0x3041 && code <= 0x3096) ||
  (code >= 0x30a1 && code <= 0x30fa) ||
  (code >= 0x4e00 && code <= 0x9fef) ||
  (code >= 0xac00 && code <= 0xd7a3)

const isEnd = (code: number): boolean =>
  (code < 128 && code !== 39 && !isLetter(code)) ||
  (code >= 0x3000 && code <= 0x3002) ||
  code === 0xff0c

/** Whether neither JavaScript nor Rust takes it for white space. */
const isInk = (code: number): boolean =>
  code > 0x20 && (code < 0x7f || (code > 0xa0 && !/[\s\u180e]/.test(String.fromCharCode(code))))

/**
 * True where a text can be cut without a change of its count: between a letter and a character that no
 * encoding lets follow it in one piece, and before a space that follows anything else than white space.
 * Nothing in the patterns looks back, and what ends there is cut alike at the end of a text.
 */
const isBorder = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  return isLetter(before) ? isEnd(after) : after === 0x20 && isInk(before)
}

/** The nearest place before `at` that doesn't split a surrogate pair. */
const whole = (text: string, at: number): number => {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000 ? at - 1 : at
}

/** Bytes of a piece in UTF-8, at most. */
const bytes = (text: string, from: number, to: number): number => {
  let n = to - from
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) n += code > 0x7ff ? 2 : 1
  }
  return n
}

/**
 * Counts texts through a tokenizer that is slow on fresh text and quadratic on long pieces.
 *
 * A BPE tokenizer cuts a text into pieces by an expression first and counts each by itself. The same is done
 * here: short pieces are looked up in a table by two hashes of 32 bits, so that the tokenizer sees each word
 * once; long ones go to it whole as long as the text can afford it, else in parts. Equal to the tokenizer's
 * own count wherever nothing was cut.
 */
export const pieceCounter = (pattern: string, tokenizer: CountPiece): PieceCounter => {
  const piece = new RegExp(pattern.replaceAll(INLINE, SPELLED), "uy")
  const first = new Int32Array(SLOTS)
  const second = new Int32Array(SLOTS)
  const tokens = new Uint8Array(SLOTS)
  let cuts = 0
  let pairs = 0
  let cut = false

  const ofShort = (text: string, from: number, to: number): number => {
    let a = 0x811c9dc5 | 0
    let b = to - from
    for (let i = from; i < to; i++) {
      const code = text.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b + code, 0x5bd1e995) ^ (b >>> 15)
    }
    const slot = (a ^ (a >>> 16)) & (SLOTS - 1)
    if (first[slot] === a && second[slot] === b && tokens[slot] !== 0) return tokens[slot]!
    const count = tokenizer(text.slice(from, to))
    if (count < 256) {
      first[slot] = a
      second[slot] = b
      tokens[slot] = count
    }
    return count
  }

  const ofLong = (text: string, from: number, to: number): number => {
    const cost = bytes(text, from, to) ** 2
    if (cost <= pairs) {
      pairs -= cost
      return tokenizer(text.slice(from, to))
    }
    cut = true
    let count = 0
    for (let at = from; at < to;) {
      const part = partAt(text, at)
      const end = to - at <= part ? to : whole(text, at + part)
      count += tokenizer(text.slice(at, end))
      at = end
    }
    return count
  }

  /** Settled text: the pieces are the tokenizer's own. */
  const settled = (text: string, from: number, to: number): number => {
    // Lookahead must not see past the end, which may stand in the middle of the text.
    const part = from === 0 && to === text.length ? text : text.slice(from, to)
    let count = 0
    for (let at = 0; at < part.length;) {
      piece.lastIndex = at
      const end = piece.test(part) ? piece.lastIndex : part.length
      count += end - at <= SHORT ? ofShort(part, at, end) : ofLong(part, at, end)
      at = end
    }
    return count
  }

  /** Text with an unsettled character: from border to border to the tokenizer. */
  const unsettled = (text: string, from: number, to: number): number => {
    let count = 0
    for (let at = from; at < to;) {
      const found = text.slice(at, to).search(UNSETTLED)
      if (found < 0) return count + settled(text, at, to)
      let start = at + found
      let end = start + 1
      while (start > at && !isBorder(text, start)) start--
      while (end < to && !isBorder(text, end)) end++
      count += settled(text, at, start) + ofLong(text, start, end)
      at = end
    }
    return count
  }

  const windowEnd = (text: string, from: number): number => {
    const most = from + WINDOW
    if (most >= text.length) return text.length
    for (let at = most; at > from; at--) if (isBorder(text, at)) return at
    cut = true
    return whole(text, most)
  }

  const count = (text: string): number => {
    pairs = PAIRS
    cut = false
    let sum = 0
    for (let at = 0; at < text.length;) {
      const end = windowEnd(text, at)
      pairs = Math.min(PAIRS, pairs) + PAIRS_PER_CHARACTER * (end - at)
      const part = at === 0 && end === text.length ? text : text.slice(at, end)
      sum += UNSETTLED.test(part) ? unsettled(part, 0, part.length) : settled(part, 0, part.length)
      at = end
    }
    if (cut) cuts++
    return sum
  }
  return { count, cuts: () => cuts }
}

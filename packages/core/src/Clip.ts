/** How `clipText` clips. */
export interface ClipOptions {
  /** Share of what is kept that stands at the head, 0 to 1; default 0.6. */
  readonly head?: number
  /** The text that stands for what is left out; default `[… 1234 tokens left out …]`. */
  readonly marker?: (tokensLeftOut: number) => string
}

/** Most looks at where to cut. Each counts a text of the size of the result. */
const LOOKS = 14

/** Units around a cut in which whole characters are looked for; longer ones don't occur in writing. */
const NEAR = 512

let segmenter: Intl.Segmenter | undefined

const isPlain = (unit: number): boolean => unit < 0x80 && unit !== 13

/** Start and end of the character (grapheme) at a position; both are the position where none is cut there. */
const characterAt = (text: string, at: number): readonly [number, number] => {
  const isBorder = (i: number): boolean =>
    i <= 0 || i >= text.length || (isPlain(text.charCodeAt(i - 1)) && isPlain(text.charCodeAt(i)))
  if (isBorder(at)) return [at, at]
  let from = at - 1
  while (from > at - NEAR && !isBorder(from)) from--
  segmenter ??= new Intl.Segmenter()
  const found = segmenter.segment(text.slice(from, at + NEAR)).containing(at - from)
  if (found === undefined || from + found.index === at) return [at, at]
  return [from + found.index, from + found.index + found.segment.length]
}

const SENTENCE = /[.!?。！？…]["')\]]*\s+|[。！？]/g

/** Where a head may end or a tail may begin in a piece of text: behind a line, else a sentence, else a word. */
const borders = (piece: string, last: boolean): number | undefined => {
  const line = last ? piece.lastIndexOf("\n") : piece.indexOf("\n")
  if (line >= 0) return line + 1
  const sentences = [...piece.matchAll(SENTENCE)]
  const sentence = sentences.at(last ? -1 : 0)
  if (sentence !== undefined) return sentence.index + sentence[0].length
  const word = last
    ? Math.max(piece.lastIndexOf(" "), piece.lastIndexOf("\t"))
    : piece.search(/[ \t]/)
  return word >= 0 ? word + 1 : undefined
}

/** How far a border is looked for in a part: near enough to cost little of it. */
const reach = (units: number): number => Math.min(units, 160, Math.max(12, units >> 3))

/** The end of a head of at most `units`. */
const headEnd = (text: string, units: number): number => {
  const [end] = characterAt(text, units)
  if (end >= text.length) return end
  const from = end - reach(end)
  const border = borders(text.slice(from, end), true)
  return border === undefined ? end : from + border
}

/** The start of a tail of at most `units`. */
const tailStart = (text: string, units: number): number => {
  const [, start] = characterAt(text, text.length - units)
  const to = start + reach(text.length - start)
  const border = borders(text.slice(start, to), false)
  return border === undefined ? start : start + border
}

const defaultMarker = (tokens: number): string => `[… ${tokens} tokens left out …]`

/**
 * The text itself where it has at most `maxTokens`, else its head and tail with a marker between them. Where
 * the budget is too small for a marker, the head alone; with 0, nothing. Never more than `maxTokens`, whatever
 * the counter says; cut at lines, sentences or words where one is near, and never inside a character.
 * The same input gives the same text. Counts the whole text once, and a text of the result's size a few times.
 *
 * @example
 * ```ts
 * import { clipText } from "@varve/core/Clip"
 *
 * const words = (text: string) => text.split(/\s+/).filter((word) => word !== "").length
 * const text = "one two three four five six seven eight nine ten eleven twelve thirteen"
 * console.log(clipText(text, 12, words)) // => one two three four [… 7 tokens left out …] twelve thirteen
 * ```
 */
export const clipText = (
  text: string,
  maxTokens: number,
  count: (text: string) => number,
  { head: headShare = 0.6, marker = defaultMarker }: ClipOptions = {}
): string => {
  if (!(maxTokens > 0)) return ""
  const total = count(text)
  if (total <= maxTokens) return text
  const share = Math.min(1, Math.max(0, headShare))
  const mark = count(marker(Math.ceil(total)))
  const marked = mark * 2 <= maxTokens

  const assemble = (units: number): string => {
    if (!marked) return text.slice(0, headEnd(text, units))
    const head = text.slice(0, headEnd(text, Math.round(units * share)))
    const start = Math.max(head.length, tailStart(text, units - Math.round(units * share)))
    const tail = text.slice(start)
    const left = Math.max(1, Math.ceil(total - count(head) - count(tail)))
    const before = head === "" || /\s$/.test(head) ? "" : " "
    const after = tail === "" ? "" : text[start - 1] === "\n" ? "\n" : " "
    return head + before + marker(left) + after + tail
  }

  // Between what fits and what doesn't, the next look is where it should just fit if tokens were evenly spread.
  let best = ""
  let [fits, fitting] = [0, marked ? mark : 0]
  let [over, overTokens] = [text.length, total + fitting]
  for (let look = 0; look < LOOKS && over - fits > 1; look++) {
    const even = fits + Math.floor(((over - fits) * (maxTokens - fitting)) / (overTokens - fitting))
    const middle = Math.min((fits + over) >> 1, 2 * fits + 16)
    const guess = look % 3 === 2 || !(even > fits && even < over) ? middle : even
    const units = Math.min(over - 1, Math.max(fits + 1, guess))
    const candidate = assemble(units)
    const tokens = count(candidate)
    if (tokens <= maxTokens) {
      best = candidate
      ;[fits, fitting] = [units, tokens]
      if (tokens >= maxTokens * 0.97 && (look >= 3 || maxTokens > 1000)) break
    } else {
      ;[over, overTokens] = [units, tokens]
    }
  }
  return best
}

/** A line of more tokens is a paragraph, which may be cut. */
const LINE = 120

const linesMarker = (lines: number): string =>
  `[… ${lines === 1 ? "1 line" : `${lines} lines`} left out …]`

/** How `clipLines` clips. */
export interface ClipLinesOptions {
  /** Share of what is kept that stands at the head, 0 to 1; default 0.6. */
  readonly head?: number
  /** The line that stands for those left out; default `[… 12 lines left out …]`. */
  readonly marker?: (linesLeftOut: number) => string
}

/**
 * Like `clipText`, and no line is cut: for a list, of which half a line says something else than the whole.
 * With paragraphs of more than 120 tokens, where whole ones would fill less than half of the budget, it is
 * `clipText`; so it is where not even the marker has room.
 *
 * @example
 * ```ts
 * import { clipLines } from "@varve/core/Clip"
 *
 * const words = (text: string) => text.split(/\s+/).filter((word) => word !== "").length
 * const text = "1: opened it\n2: changed it\n3: saved it\n4: closed it\n5: opened another one\n6: left it"
 * console.log(clipLines(text, 15, words).split("\n")) // => [ '1: opened it', '[… 4 lines left out …]', '6: left it' ]
 * ```
 */
export const clipLines = (
  text: string,
  maxTokens: number,
  count: (text: string) => number,
  { head: share = 0.6, marker = linesMarker }: ClipLinesOptions = {}
): string => {
  if (!(maxTokens > 0)) return ""
  if (count(text) <= maxTokens) return text
  const lines = text.split("\n")
  const room = maxTokens - count(marker(lines.length)) - 1
  const kept = { head: 0, tail: 0 }
  const tokens = { head: 0, tail: 0 }
  const add = (side: "head" | "tail"): boolean => {
    const line = side === "head" ? lines[kept.head]! : lines[lines.length - 1 - kept.tail]!
    // One token for the line break.
    const cost = count(line) + 1
    if (tokens.head + tokens.tail + cost > room) return false
    tokens[side] += cost
    kept[side]++
    return true
  }
  while (kept.head + kept.tail < lines.length - 1) {
    const isHead = tokens.head * (1 - share) <= tokens.tail * share
    if (!add(isHead ? "head" : "tail") && !add(isHead ? "tail" : "head")) break
  }
  const join = (): string =>
    [
      ...lines.slice(0, kept.head),
      marker(lines.length - kept.head - kept.tail),
      ...lines.slice(lines.length - kept.tail)
    ].join("\n")
  // A counter may find more in the whole than in its parts.
  while (kept.head + kept.tail > 0 && count(join()) > maxTokens)
    kept[kept.tail > 0 ? "tail" : "head"]--
  const out = join()
  const isList = lines.every((line) => line.length < LINE || count(line) <= LINE)
  if (count(out) <= maxTokens && (isList || count(out) > maxTokens / 2)) return out
  return clipText(text, maxTokens, count, { head: share })
}

/** Quotes, brackets, emphasis and strikes of a text, by places in UTF-16 units. */
export interface Marks {
  /** Where they begin, in order. */
  readonly begins: ReadonlyArray<number>
  /** For each of these, how far what began until there reaches. */
  readonly reach: ReadonlyArray<number>
  /** Where they end, and where what ends there began. */
  readonly ends: ReadonlyMap<number, number>
  /** From here on a quote or a strike is open to the end. */
  readonly open: number
  /** One closes here that nothing opened. */
  readonly stray: number
}

const PAIRS: Readonly<Record<string, string>> = {
  "(": ")",
  "[": "]",
  "{": "}",
  "（": "）",
  "［": "］",
  "｛": "｝",
  "「": "」",
  "『": "』",
  "《": "》",
  "〈": "〉",
  "【": "】",
  "〔": "〕",
  "«": "»",
  "»": "«",
  "‹": "›",
  "›": "‹",
  "„": '“”"',
  "‟": "”",
  "“": "”",
  "”": "”",
  "‚": "‘’",
  "‛": "’",
  "‘": "’",
  "’": "’"
}

const MARK =
  /`[^`]+`|~~|\*{1,3}|_{1,3}|<\/?(?:s|del|strike|q)>|["'‘’‚‛“”„‟«»‹›「」『』《》〈〉【】〔〕（）()[\]{}［］｛｝＂]/giu

const isBracket = (sign: string): boolean => /^[([{（［｛]$/.test(sign)
/** One of these that isn't closed is a sign like any other: "2 * 3", "'n". */
const isWeak = (sign: string): boolean => /^[*_]+$/.test(sign) || sign === "’"
/** "'90s", "'til": no quote. */
const ELISION = /^['‘’](?:\d\ds\b|em\b|til\b|tis\b|twas\b|cause\b|n\b|bout\b)/i

const OPENS_AFTER = /[\s([{（［｛「『《【"'“„‘‚«»‹›=:,—–/*_~-]/u
const LETTER = /[\p{L}\p{M}\p{N}]/u

/** Deeper than this nobody writes. */
const DEEPEST = 12
/** So far the end of a quote is looked for behind what may be an apostrophe, in UTF-16 units. */
const AHEAD = 600

/** A mark for the same on both sides opens where a word begins and closes where one ends. */
const closerOf = (sign: string): string =>
  sign.startsWith("<") ? sign.replace("<", "</").toLowerCase() : (PAIRS[sign] ?? sign)

const isElision = (text: string, at: number, before: string, after: string): boolean =>
  (LETTER.test(before) && LETTER.test(after)) ||
  (!LETTER.test(before) && ELISION.test(text.slice(at, at + 8))) ||
  // "the users' data", where the quote that is open ends later.
  (/[sxz]/i.test(before) &&
    /^.\s+[\p{L}\p{N}]/u.test(text.slice(at, at + 12)) &&
    /\S['’‘](?![\p{L}\p{N}])/u.test(text.slice(at + 1, at + AHEAD)))

/** `27" screens`, where the quote that is open ends later. */
const isInch = (text: string, at: number, before: string): boolean =>
  /\d/.test(before) && /^[^"“”„]*\S["“”]/u.test(text.slice(at + 1, at + AHEAD))

/** The marks of a text, each with its other end, as far as that can be told. */
export const marksOf = (text: string): Marks => {
  const spans: Array<readonly [from: number, to: number]> = []
  const stack: Array<{ readonly sign: string; readonly closer: string; readonly at: number }> = []
  let stray = -1
  for (const { 0: sign, index: at } of text.matchAll(MARK)) {
    if (sign.length > 1 && sign.startsWith("`")) {
      spans.push([at, at + sign.length])
      continue
    }
    const before = text[at - 1] ?? " "
    const after = text[at + sign.length] ?? " "
    const isQuote = sign === "'" || sign === "’" || sign === "‘"
    if (isQuote && isElision(text, at, before, after)) continue
    if (sign === '"' && isInch(text, at, before)) continue
    // A smiley.
    if ("()".includes(sign) && /[:;-]/.test(before) && !LETTER.test(after)) continue
    const isSame = /^["'’”„＂~*_]/.test(sign)
    const begins = !/\s/.test(after) && OPENS_AFTER.test(before)
    if (
      /^[*_]/.test(sign) &&
      (/\s/.test(before) ? /\s/.test(after) : !begins && LETTER.test(after))
    )
      continue
    const lower = sign.toLowerCase()
    const closed = stack.findLastIndex(({ closer }) => closer === lower || closer.includes(sign))
    const closes = closed >= 0 && !(isSame && begins && sign !== "”")
    if (closes) {
      spans.push([stack[closed]!.at, at + sign.length])
      stack.length = closed
    } else if (isSame ? begins || (/\s/.test(before) && sign !== "’") : isOpener(sign)) {
      if (stack.length < DEEPEST) stack.push({ sign, closer: closerOf(sign), at })
    } else if (isStray(sign, before)) stray = at
  }
  for (const { sign, at } of stack) if (isBracket(sign)) spans.push([at, Infinity])
  const open = stack.find(({ sign }) => !isBracket(sign) && !isWeak(sign))?.at ?? Infinity
  spans.sort(([a], [b]) => a - b)
  let furthest = 0
  return {
    begins: spans.map(([from]) => from),
    reach: spans.map(([, to]) => (furthest = Math.max(furthest, to))),
    ends: new Map(spans.map(([from, to]) => [to, from])),
    open,
    stray
  }
}

const isOpener = (sign: string): boolean =>
  sign.startsWith("<") ? !sign.startsWith("</") : PAIRS[sign] !== undefined && sign !== "”"

/** Closes what nothing opened here: no bracket, which "a)" and ":)" have, no apostrophe and no inch. */
const isStray = (sign: string, before: string): boolean =>
  /^['’]$/.test(sign)
    ? /[.!?…。]/.test(before)
    : /^["＂]$/.test(sign)
      ? !/\d/.test(before)
      : /^(?:[”“」』》〉】〕»«›‹]|~~|<\/)/.test(sign)

/** How far what begins before a place reaches. */
const reachAt = ({ begins, reach }: Marks, at: number): number => {
  let low = 0
  let high = begins.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (begins[middle]! < at) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : reach[low - 1]!
}

/** True where a sentence that begins at `from` can't end at `at`: something is open there, or it closed in its middle. */
export const isInside = (marks: Marks, text: string, from: number, at: number): boolean => {
  const said = text.slice(from, at)
  const end = from + said.trimEnd().length
  const start = at - said.trimStart().length
  return reachAt(marks, at) > end || (marks.ends.get(end) ?? -1) > start
}

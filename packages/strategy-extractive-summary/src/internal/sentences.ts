import type { Shape } from "./shapes.ts"
import { isFragment, shapesOf } from "./shapes.ts"

/** A sentence has at most so many UTF-16 units; a longer one is no sentence, and is not cut into one. */
const LONGEST = 600

/** From here on, sentences that begin with a small letter are told apart as well. */
const LONG = 240

/** A paragraph is read so far, in UTF-16 units; it is left out where it goes on. */
const PARAGRAPH = 8000

export const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/** A sentence, or a line that is none. */
export interface Sentence {
  readonly text: string
  readonly shape: Shape
}

const NEGATION =
  /(?:\b(?:not|no|never|none|nor|neither|nothing|nobody|without|fail(?:s|ed)?|cannot|hardly|nicht|kein\w*|nie|pas|jamais|aucun|nunca|nada|ningun\w*|ninguna|non|não|nem|не|нет|ни|без)\b|n['’]t\b)|(?<![\p{L}])(?:не|нет|ни|без|никогда)(?![\p{L}])|不|没|沒|未|無|ない|ません|않|못|안 /iu

/** True where a text says that something is not so. */
export const isNegative = (text: string): boolean => NEGATION.test(text)

const ENDED = /[.!?…。！？؟।]["'”’)\]»」』]*\s*$/
const HANGS =
  /(?:[,;(–—-]|(?<![\p{L}])(?:a|an|the|and|or|but|of|to|in|on|at|by|for|with|from|as|that|than|is|are|was|were|be|been|has|have|had|will|would|could|should|may|might|did|does|do|not|no|never|nicht|kein|keine|und|oder|der|die|das|wurde|hat|ist))\s*$/iu
const NAMED = /^\s*[\w.]*(?:Error|Exception|fatal|panic|FAILED)\b[^(:]{0,60}:/
/** "Price: 74 EUR" is whole. */
const FIELD = /^\s*[\p{L}][\p{L} ]{0,30}[:：]\s/u
const SMALL = /^\s*["'“‘(]*\p{Ll}/u

/** Ends of a segment after which its sentence goes on: "Mr. Smith", "e.g. Oslo", "J. Doe". */
const ABBREVIATED =
  /(?:^|[\s(])(?:\p{L}|e\.g|i\.e|etc|vs|cf|ca|approx|no|nr|mr|mrs|ms|dr|prof|st|inc|ltd|al|fig|bzw|z\.b)\.\s*$/iu

const ends = (line: string): boolean =>
  ENDED.test(line.slice(-40)) && !ABBREVIATED.test(line.slice(-20))

/** Whether a line goes on in the next. Where the words of people are wrapped, any line goes on; lines of a tool mostly stand by themselves. */
export const goesOn = (line: string, next: string, people: boolean): boolean => {
  if (people) return true
  if (ends(line) || NAMED.test(next)) return false
  if (SMALL.test(next) || HANGS.test(line.slice(-40))) return true
  return !NAMED.test(line) && (isNegative(line) || (!FIELD.test(line) && !isFragment(line)))
}

const MARK = /^\s*(?:(?:[-*•+>]|\d{1,3}[.)]|[a-z]\)|#{1,6})\s+)+/

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}、。，！？]$/u
const join = (lines: ReadonlyArray<string>): string =>
  lines.reduce((text, line) => {
    const next = line.trim()
    return text === "" ? next : text + (UNSPACED.test(text) ? "" : " ") + next
  }, "")

const opened = (text: string): boolean => {
  let depth = 0
  let quotes = 0
  for (const sign of text) {
    if (sign === "(" || sign === "“" || sign === "«" || sign === "「") depth++
    else if (sign === ")" || sign === "”" || sign === "»" || sign === "」") depth--
    else if (sign === '"') quotes++
  }
  return depth > 0 || quotes % 2 === 1
}

let segmenter: Intl.Segmenter | undefined

function* split(paragraph: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })
  const balanced = !opened(paragraph)
  let text = ""
  for (const { segment } of segmenter.segment(paragraph)) {
    const begun = text !== ""
    const inside = begun && text.length < LONGEST && balanced && opened(text)
    if (begun && !inside && !ABBREVIATED.test(text.slice(-20)) && !SMALL.test(segment)) {
      yield text
      text = ""
    }
    text += segment
  }
  if (text !== "") yield text
}

/** Lines that belong together, as they are read. */
interface Paragraph {
  readonly lines: Array<string>
  readonly shape: Shape
  /** It began as the rest of a sentence that code or a blank line went through. */
  readonly torn: boolean
  /** It denies what comes after it. */
  denied: boolean
  units: number
}

/** "I have not done these:" and its list are one sentence: no item stands without it. */
const denies = (lines: ReadonlyArray<string>): boolean =>
  /[:：]\s*$/.test(lines.at(-1)!.slice(-40)) && isNegative(lines.join(" "))

/** The sentences of it, whole, each as it stands there but for the line breaks. */
function* ofParagraph(paragraph: Paragraph): Generator<Sentence> {
  const { lines, shape, torn } = paragraph
  const text = join(lines).replace(MARK, "")
  const sentences = paragraph.denied
    ? [text]
    : [...split(text)].flatMap((whole) =>
        whole.length < LONG ? [whole] : whole.split(/(?<=[\p{L}\p{N}]{3}[.!?]["”)]?)\s+(?=\p{Ll})/u)
      )
  const whole = paragraph.units > PARAGRAPH ? sentences.slice(0, -1) : sentences
  for (const sentence of torn ? whole.slice(1) : whole) {
    const said = sentence.trim()
    if (said !== "" && said.length <= LONGEST) yield { text: said.toWellFormed(), shape }
  }
}

function* ofWhole(lines: ReadonlyArray<string>, people: boolean): Generator<Sentence> {
  const shapes = shapesOf(lines, people)
  let open: Paragraph | undefined
  let last = ""
  let border: Shape = "prose"
  /** The paragraph that was read last. */
  let before = ""
  const said = (): string => (open === undefined ? before : open.lines.join(" "))
  for (const [i, line] of lines.entries()) {
    const shape = shapes[i]!
    const denied = open?.denied === true
    if (shape === "blank" && denied) continue
    // The rest of a sentence that was torn goes on to where it ends, whatever its lines look like.
    const isTorn = open?.torn === true && !ends(last)
    const joined =
      shape === "item"
        ? denied
        : shape === "prose" && (isTorn || goesOn(people ? last : said(), line, people))
    if (open !== undefined && joined) {
      // What goes on for ever is no text of sentences; the rest of it is left out.
      if (open.units > PARAGRAPH) continue
      open.lines.push(line)
      open.units += line.length + 1
      open.denied ||= denies(open.lines)
    } else {
      if (open !== undefined) {
        before = said()
        yield* ofParagraph(open)
      }
      open = undefined
      if (shape === "prose" || shape === "item") {
        const cut = border === "blank" ? HANGS.test(last) : border !== "prose" && border !== "item"
        const torn: boolean =
          cut &&
          last !== "" &&
          !ends(last) &&
          (SMALL.test(line) ||
            HANGS.test(last.slice(-40)) ||
            (!people && goesOn(before, line, false)))
        open = { lines: [line], shape, torn, denied: denies([line]), units: line.length }
      } else if (shape !== "blank")
        yield { text: line.trim().slice(0, LONGEST).toWellFormed(), shape }
    }
    border = shape
    if (shape === "prose" || shape === "item") last = line
  }
  if (open !== undefined) yield* ofParagraph(open)
}

/** So many units beside a cut are read, but not taken: what looks like a whole sentence there may be none. */
const CUT = 200

/** The sentences of a piece, but for those near the cut that it begins with. */
const withoutCut = (sentences: ReadonlyArray<Sentence>): ReadonlyArray<Sentence> => {
  let units = 0
  const from = sentences.findIndex(({ text }) => {
    const isNear = units < CUT
    units += text.length + 1
    return !isNear
  })
  return from < 0 ? [] : sentences.slice(from)
}

/**
 * The sentences of a text and its lines that are none, in order. A line that doesn't end a sentence goes on in
 * the next one; items of lists, code, tables and blank lines are borders. A sentence comes whole or not at all:
 * of a text with more than `units` the head and the tail are read, without the sentences that the cut goes
 * through. `people` is true where somebody wrote it, false for the output of a tool.
 */
export function* sentencesIn(text: string, units: number, people: boolean): Generator<Sentence> {
  if (text.length <= units) {
    yield* ofWhole(text.split(BREAK), people)
    return
  }
  const head = [...ofWhole(text.slice(0, units / 2 + CUT).split(BREAK), people)]
  const tail = [...ofWhole(text.slice(-units / 2 - CUT).split(BREAK), people)]
  yield* withoutCut(head.toReversed()).toReversed()
  yield* withoutCut(tail)
}

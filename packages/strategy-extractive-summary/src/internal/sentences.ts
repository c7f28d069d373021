import type { Block } from "./blocks.ts"
import { blocksOf, ends, GOES_ON, hangs, MOST, NEAR, SMALL } from "./blocks.ts"
import { isInside, marksOf } from "./marks.ts"
import type { Shape } from "./shapes.ts"
import { isAbbreviated, isNegative, isNeutral } from "./words.ts"

/** A sentence has at most so many UTF-16 units; a longer one is no sentence, and is not cut into one. */
const LONGEST = 600

/** From here on, sentences that begin with a small letter are told apart as well. */
const LONG = 240

/** A list up to here is taken in one, in UTF-16 units; of a longer one each item comes with what it is a list of. */
const SHORT_LIST = 240

/** What is longer than this is no head of a list: the list is left out. */
const LONGEST_HEAD = 300

export const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/** A sentence, or a line that is none. */
export interface Sentence {
  readonly text: string
  readonly shape: Shape
}

const MARK = /^\s*(?:(?:[-*•+>‣◦▪●○■–—]|\(?\d{1,3}[.)]|\(?[a-z]\)|#{1,6})\s+)+/

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}、。，！？]$/u
const join = (lines: ReadonlyArray<string>): string =>
  lines.reduce((text, line) => {
    const next = line.trim()
    return text === "" ? next : text + (UNSPACED.test(text) ? "" : " ") + next
  }, "")

let segmenter: Intl.Segmenter | undefined

/** Where a sentence of somebody who begins them with small letters may end. */
const SMALL_END = /(?<=[\p{L}\p{N}]{3}[.!?]["”)]?)\s+(?=\p{Ll})/gu

/** "Page 3.", which "am 5." is not. */
const NUMBERED = /^\s*\p{Lu}\p{L}{3,} \p{N}{1,2}\.\s*$/u

/** The sentences of a text; what may be the rest of one stays with it, and what isn't closed is left out. */
const split = (text: string): ReadonlyArray<string> => {
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })
  const marks = marksOf(text)
  const borders: Array<number> = []
  let from = 0
  const isBorder = (at: number): boolean => {
    const said = text.slice(Math.max(from, at - 60), at)
    const isNamed = NUMBERED.test(said) && !isNegative(said)
    return (isNamed || !isAbbreviated(said)) && !isInside(marks, text, from, at)
  }
  for (const { index, segment } of segmenter.segment(text)) {
    if (index === 0 || SMALL.test(segment) || GOES_ON.test(segment) || !isBorder(index)) continue
    borders.push(index)
    from = index
  }
  const parts: Array<readonly [from: number, to: number]> = []
  for (const [i, start] of [0, ...borders].entries()) {
    const to = borders[i] ?? text.length
    from = start
    const whole = text.slice(start, to)
    if (whole.length >= LONG && SMALL.test(whole))
      for (const { index } of whole.matchAll(SMALL_END)) {
        const at = start + index
        if (!isBorder(at)) continue
        parts.push([from, at])
        from = at
      }
    parts.push([from, to])
  }
  return parts
    .filter(([start, to]) => start > marks.stray && to <= marks.open)
    .map(([start, to]) => text.slice(start, to))
}

const fit = (text: string, shape: Shape): ReadonlyArray<Sentence> => {
  const said = text.trim()
  return said === "" || said.length > LONGEST ? [] : [{ text: said.toWellFormed(), shape }]
}

/** "I have not done these:" and the lines below it are one sentence. */
const denies = (lines: ReadonlyArray<string>): boolean =>
  lines.some(
    (line, i) =>
      i < lines.length - 1 &&
      /[:：][*_]*\s*$/.test(line.slice(-40)) &&
      isNegative(lines.slice(Math.max(0, i - NEAR), i + 1).join(" "))
  )

/** What a block says, without its mark; what a torn one begins with stands elsewhere. */
const textOf = ({ lines, torn }: Block): string =>
  (torn === "no" ? "" : "… ") + join(lines).replace(MARK, "")

/** The sentences of a block, whole, each as it stands there but for the line breaks. */
const sentencesOf = (block: Block): ReadonlyArray<string> => {
  const { lines, torn, units } = block
  const text = textOf(block)
  const sentences = denies(lines) && isClosed(text) ? [text] : split(text)
  const whole = units > MOST ? sentences.slice(0, -1) : sentences
  return torn === "no" ? whole : whole.slice(1)
}

const isBroken = ({ torn, units }: Block): boolean => torn !== "no" || units > MOST

/** What a list is of. Without a text, what stands before the list is no sentence that it may be part of. */
interface Head {
  readonly text: string
  /** It was left out, and what follows it is as well. */
  readonly isLost: boolean
}

const NONE: Head = { text: "", isLost: false }

/** What a paragraph before a list says by itself, and what it says of the list. */
const headOf = (block: Block, above: Head): readonly [ReadonlyArray<string>, Head] => {
  const sentences = sentencesOf(block)
  const text = textOf(block)
  if (ends(text)) return [sentences, NONE]
  const isWhole = !isBroken(block) && isClosed(text)
  // "None of it is true. I mean these:" is no more than its first sentence.
  const denied = isWhole ? sentences.findIndex(isNegative) : -1
  const from = denied < 0 ? Math.max(0, sentences.length - 1) : denied
  const head = sentences.slice(from).join("").trim()
  if (head !== "" && isNeutral(head)) return [sentences, above]
  // Its end is one of what is left out.
  const isCut = marksOf(text).open < Infinity || block.units > MOST
  const isLost = head === "" || head.length > LONGEST_HEAD || isCut
  return [
    sentences.slice(0, from),
    { text: head, isLost: isLost || (!isWhole && sentences.length < 2) }
  ]
}

const classOf = (line: string): string =>
  /^\s*(?:([-*•+>‣◦▪●○■–—])|\(?(?:\d+|[a-z]))/.exec(line)?.[1] ?? "1"

interface Parent {
  readonly at: number
  readonly indent: number
  readonly mark: string
  readonly text: string
  readonly isOpen: boolean
}

/** The items above an item, from the outermost. */
const parentsOf = (stack: ReadonlyArray<Parent>, { indent, lines }: Block): Array<Parent> => {
  const mark = classOf(lines[0]!)
  const beside = stack.findIndex(
    (other) => Math.abs(other.indent - indent) < 2 && other.mark === mark
  )
  if (beside >= 0) return stack.slice(0, beside)
  return stack.filter((other) => other.indent < indent + 2)
}

/** Some items with what they are a part of, as far as they stand side by side. */
interface Run {
  readonly above: ReadonlyArray<Part>
  readonly items: ReadonlyArray<Part>
}

type Part = Pick<Parent, "at" | "text">

/** What stands between them in the source is left out, and that is to be seen. */
const said = ({ above, items }: Run): string =>
  [...above, ...items]
    .map(({ at, text }, i, all) =>
      i === 0 ? text : (at === all[i - 1]!.at + 1 ? " " : " … ") + text
    )
    .join("")

const isAfter = (run: Run, above: ReadonlyArray<Part>, at: number): boolean =>
  run.items.at(-1)!.at === at - 1 &&
  run.above.length === above.length &&
  run.above.every((part, i) => part.at === above[i]!.at)

/** The items of a list, with what they are a part of. */
function* itemsOf(items: ReadonlyArray<Block>, head: Head): Generator<Sentence> {
  let stack: Array<Parent> = []
  let run: Run | undefined
  for (const [at, item] of items.entries()) {
    stack = parentsOf(stack, item)
    const all = [{ at: -1, text: head.text, isOpen: head.text !== "" }, ...stack]
    const above = all.filter(({ isOpen }) => isOpen)
    const parent = parentOf(item, at)
    const { text } = parent
    if (above.length === 0) {
      if (run !== undefined) yield* fit(said(run), "item")
      run = undefined
      const next = items[at + 1]
      const isParent =
        next !== undefined && parentsOf([...stack, parent], next).length > stack.length
      if (!isParent || !hangs(text))
        for (const sentence of sentencesOf(item)) yield* fit(sentence, item.shape)
    } else if (!isBroken(item) && isClosed(text)) {
      const longer =
        run !== undefined && isAfter(run, above, at)
          ? { above, items: [...run.items, { at, text }] }
          : undefined
      if (longer !== undefined && said(longer).length <= SHORT_LIST) run = longer
      else {
        if (run !== undefined) yield* fit(said(run), "item")
        run = { above, items: [{ at, text }] }
      }
    }
    stack.push(parent)
  }
  if (run !== undefined) yield* fit(said(run), "item")
}

/** True where each quote of a text has its other end. */
const isClosed = (text: string): boolean => {
  const marks = marksOf(text)
  return marks.open === Infinity && marks.stray < 0
}

const parentOf = (item: Block, at: number): Parent => {
  const text = join(item.lines)
  const said = text.replace(MARK, "")
  return {
    at,
    indent: item.indent,
    mark: classOf(item.lines[0]!),
    text,
    isOpen: !ends(said) && !isNeutral(said)
  }
}

/** The sentences of a list: in one where it is short or in the middle of a sentence, else by item. */
function* ofList(items: ReadonlyArray<Block>, head: Head): Generator<Sentence> {
  const isBetween = items.some(({ trails }, i) => trails && i === items.length - 1)
  if (head.isLost || items[0]!.torn === "yes") return
  const broken = items.some(isBroken)
  const whole = [head.text, ...items.map(({ lines }) => join(lines))].join(" ").trim()
  if (isBetween || (head.text !== "" && !broken && whole.length <= SHORT_LIST)) {
    if (!broken) yield* fit(whole, items[0]!.shape)
    return
  }
  yield* itemsOf(items, head)
}

/** `isCut` where the text begins in the middle: what its first list is of was cut off. */
function* ofWhole(text: string, people: boolean, isCut = false): Generator<Sentence> {
  const all = blocksOf(text.split(BREAK), people)
  const isItem = (block: Block | undefined): boolean => block?.shape === "item" && !block.isHeading
  const isBeheaded = isCut && (isItem(all[0]) || isItem(all[1]))
  const from = isBeheaded ? all.findIndex((block, i) => i > 0 && !isItem(block)) : 0
  const blocks = from < 0 ? [] : all.slice(from)
  let head = NONE
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]!
    if (isItem(block)) {
      let to = i + 1
      while (isItem(blocks[to])) to++
      yield* ofList(blocks.slice(i, to), head)
      i = to - 1
      head = NONE
    } else if (block.shape === "prose" || block.shape === "item") {
      const isHead = isItem(blocks[i + 1])
      const [said, next] = headOf(block, block.isHeading ? NONE : head)
      for (const text of isHead ? said : sentencesOf(block)) yield* fit(text, block.shape)
      head = isHead || block.isHeading ? next : NONE
    } else {
      yield { text: block.lines[0]!.trim().slice(0, LONGEST).toWellFormed(), shape: block.shape }
      head = NONE
    }
  }
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
 * the next one; items of lists, code, tables and blank lines are borders, but an item comes with what its list
 * is of. A sentence comes whole or not at all: of a text with more than `units` the head and the tail are read,
 * without the sentences that the cut goes through. `people` is true where somebody wrote it, false for the
 * output of a tool.
 */
export function* sentencesIn(text: string, units: number, people: boolean): Generator<Sentence> {
  if (text.length <= units) {
    yield* ofWhole(text, people)
    return
  }
  const head = [...ofWhole(text.slice(0, units / 2 + CUT), people)]
  const tail = [...ofWhole(text.slice(-units / 2 - CUT), people, true)]
  yield* withoutCut(head.toReversed()).toReversed()
  yield* withoutCut(tail)
}

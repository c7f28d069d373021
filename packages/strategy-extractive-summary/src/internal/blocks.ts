import { isInside as isWithin, marksOf } from "./marks.ts"
import type { Shape } from "./shapes.ts"
import { FENCE, isFragment, shapesOf } from "./shapes.ts"
import { isAbbreviated, isNegative, isNeutral } from "./words.ts"

/** A block is read so far, in UTF-16 units; its last sentence is left out where it goes on. */
export const MOST = 8000

/** So many lines tell whether a sentence ends with the last of them. */
export const NEAR = 8

/** Lines that belong together, as they are read. */
export interface Block {
  readonly lines: Array<string>
  readonly shape: Shape
  /** A line with `#` before it. */
  readonly isHeading: boolean
  /** Columns before the mark of an item. */
  readonly indent: number
  /** It begins with what may be the rest of a sentence: of one that ended, as it seems, or that code went through. */
  readonly torn: "no" | "maybe" | "yes"
  /** It is right behind a line that doesn't end a sentence. */
  readonly isInside: boolean
  /** What follows the mark of its list at the margin: it may go on with the sentence that the list stands in. */
  trails: boolean
  units: number
}

const ENDED = /[.!?。！？؟।]["'”’“‘»«›‹)\]」』】*_~]*\s*$/
const HANGS =
  /(?:[,;:(–—-]|(?<![\p{L}])(?:a|an|the|and|or|but|of|to|in|on|at|by|for|with|from|as|that|than|is|are|was|were|be|been|has|have|had|will|would|could|should|may|might|did|does|do|not|no|never|nicht|kein|keine|und|oder|der|die|das|wurde|hat|ist|no|y|o|de|el|la|que|pas|et|ou|le|les|est|não|e|os|che|il|non|è))\s*$/iu
const NAMED = /^\s*[\w.]*(?:[Ee]rror|Exception|fatal|panic|FAILED)\b[^(:]{0,60}:/
/** "Price: 74 EUR" is whole. */
const FIELD = /^\s*[\p{L}][\p{L} ]{0,30}[:：]\s/u
/** No sentence begins so, but for those who write all in small letters. */
export const SMALL = /^\s*["'“„‚‘«»‹›(*_~]*\p{Ll}/u
/** None begins so at all: ", said", "– Berlin". */
export const GOES_ON = /^\s*(?:[,;:…&+=/|)\]}]|[–—-](?!\p{N}))/u

export const hangs = (line: string): boolean => HANGS.test(line.slice(-40))

/** "so he said (really?)": what stands in a bracket or a quote ends there, not its sentence. */
const isAside = (text: string): boolean =>
  !/[.!?。！？؟।]\s*$/.test(text) && isWithin(marksOf(text), text, 0, text.length)

/** True where a line ends a sentence. */
export const ends = (line: string): boolean =>
  ENDED.test(line.slice(-40)) && !isAbbreviated(line) && !isAside(line.slice(-MOST))

/** Whether a line goes on in the next. Where the words of people are wrapped, any line goes on; lines of a tool mostly stand by themselves. */
export const goesOn = (line: string, next: string, people: boolean): boolean => {
  if (people) return true
  if (NAMED.test(next)) return false
  if (ends(line)) return GOES_ON.test(next)
  if (SMALL.test(next) || GOES_ON.test(next) || hangs(line)) return true
  return !NAMED.test(line) && (isNegative(line) || (!FIELD.test(line) && !isFragment(line)))
}

const QUOTED = /^\s*>/
const HEADING = /^#{1,6}\s/

const columns = (line: string): number => /^\s*/.exec(line)![0].replaceAll("\t", "    ").length

const isText = (block: Block | undefined): block is Block =>
  block?.shape === "prose" || block?.shape === "item"

/** Whether a text is by somebody who begins sentences with capitals. */
const isCapital = (text: string): boolean =>
  /\p{Lu}/u.test(/\p{L}/u.exec(text.replace(/^\s*[a-z]\)/, ""))?.[0] ?? "")

/** Behind a list, and not under its last item. */
const isAtMargin = (before: Block, line: string): boolean =>
  before.shape === "item" &&
  !before.isHeading &&
  !QUOTED.test(line) &&
  columns(line) <= before.indent

/** The blocks of a text: paragraphs, items of lists with the lines that they go on in, lines that are no prose. */
export const blocksOf = (lines: ReadonlyArray<string>, people: boolean): ReadonlyArray<Block> => {
  const shapes = shapesOf(lines, people)
  const blocks: Array<Block> = []
  /** The last lines of the last text, the last line of all, and the shape of the line before. */
  let last = ""
  let previous = ""
  let border: Shape = "prose"
  /** Whether a line said that something is not so, and none has ended since. */
  let isDenied = false
  /** The last text, of which the rest of a torn sentence may be. */
  let said: Block | undefined

  /** Whether a line is the rest of the text that a blank line or nothing parts it from. */
  const isRest = (before: Block, line: string, shape: Shape): boolean => {
    if (shape === "item") {
      const isSame = QUOTED.test(line)
        ? QUOTED.test(previous)
        : HEADING.test(line) && before.isHeading
      return isSame && border !== "blank"
    }
    const isSmall = SMALL.test(line) || GOES_ON.test(line)
    const goes = isSmall && !NAMED.test(line) && (!people || isCapital(blocks[0]!.lines[0]!))
    if (goes && isAtMargin(before, line)) return true
    // A paragraph of an item.
    if (
      border === "blank" &&
      before.shape === "item" &&
      !before.isHeading &&
      columns(line) > before.indent + 1
    )
      return true
    if (border === "blank") return !ends(last) && (hangs(last) ? !isNeutral(last) : goes)
    if ((before.torn === "yes" || before.isInside) && !ends(last) && !NAMED.test(line)) return true
    if (before.isHeading) return SMALL.test(line)
    return goesOn(people ? last : before.lines.join(" "), line, people)
  }

  /** Whether a line may be the rest of a sentence: of one that code, or a line like it, went through. */
  const tornAt = (line: string, shape: Shape, before: Block | undefined): Block["torn"] => {
    const isSmall = shape === "prose" && (SMALL.test(line) || GOES_ON.test(line))
    if (NAMED.test(line) || before === undefined) return "no"
    // No sentence of a tool begins with a small letter.
    const maybe = !people && isSmall && border !== "blank" ? "maybe" : "no"
    if (isText(before)) return maybe
    const isCut = !ends(previous) && !FENCE.test(previous)
    if (isCut && border !== "blank") {
      if (isDenied || (people ? isSmall : hangs(previous))) return "yes"
    } else if (!people && isCut && isSmall) return "yes"
    if (last === "" || ends(last) || /[:：]\s*$/.test(last)) return maybe
    if (hangs(last)) return "yes"
    if (border === "blank") return "no"
    if (people || shape === "item") return isSmall || !FENCE.test(previous) ? "yes" : "no"
    return goesOn(said?.lines.join(" ") ?? "", line, false) ? "yes" : "no"
  }

  for (const [i, line] of lines.entries()) {
    const shape = shapes[i]!
    if (shape === "blank") {
      border = shape
      isDenied = false
      continue
    }
    const before = blocks.at(-1)
    const isProse = shape === "prose" || shape === "item"
    if (isProse && isText(before) && isRest(before, line, shape)) {
      before.trails = isAtMargin(before, line) && (SMALL.test(line) || GOES_ON.test(line))
      // What goes on for ever is no text of sentences; the rest of it is left out.
      if (before.units <= MOST) {
        before.lines.push(shape === "item" ? line.replace(/^\s*(?:>\s*)+|^#+/, "") : line)
        before.units += line.length + 1
      }
    } else {
      const isInside = shape === "item" && isText(before) && border !== "blank" && !ends(last)
      const block: Block = {
        lines: [line],
        shape,
        isHeading: shape === "item" && HEADING.test(line) && !isInside,
        isInside,
        indent: columns(line),
        torn: isProse ? tornAt(line, shape, before) : "no",
        trails: false,
        units: line.length
      }
      blocks.push(block)
      if (isProse) said = block
    }
    border = shape
    previous = line
    isDenied = !ends(line) && !FENCE.test(line) && (isDenied || isNegative(line))
    if (isProse) {
      const { lines: read, torn, isInside } = blocks.at(-1)!
      // What it began with stands elsewhere.
      last = (torn === "yes" || isInside ? "… " : "") + read.slice(-NEAR).join(" ")
    }
  }
  return blocks
}

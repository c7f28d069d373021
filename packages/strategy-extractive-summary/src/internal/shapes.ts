/** What a line of a text is before it is read: its looks alone. */
export type Shape = "prose" | "item" | "table" | "code" | "log" | "blank"

/** So much of a line is looked at, in UTF-16 units. */
const LOOKED_AT = 500

export const FENCE = /^\s*(?:```|~~~)/

const ITEM = /^\s*(?:[-*•+>‣◦▪●○■–—]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)|^#{1,6}\s/

const TABLE = /^\s*\|.*\||^\s*[|:+=_*-][\s|:+=_*-]+[|:+=_*-]\s*$/

/** Lines with a number before them, keywords with what follows them, brackets at the end or alone, comments. */
const CODE =
  /^\s*\d+\s*[\t|│→](?!.*\b(?:pass|fail)ed\b)|^@@ |[{}]\s*$|=>|^\s*[)}\]]+[;,)]*\s*$|^\s*(?:import|export|const|let|var|function|class|interface|enum|def|return|async|await|public|private|static|readonly|throw|elif|else|try|catch|switch|fn|func|impl|struct)\b.*(?:[;{]\s*$|\s=\s|\bfrom ["'])|^\s*(?:\/\/|\/\*|\*\/|#!|<!--)/

/** Signs of code that prose may have as well, a word or two of it. */
const CODISH =
  /;\s*$|[({[]\s*$|^\s*[)}\]]|^[+-]{1,3}(?=[^\s-])|^\s*(?:if|for|while)\s*\(|^\s*\*\s|^\s*(?:import|return|case|type|package|use|from|#include)\b.*["'<:;=(]|^\s*<\/?[\w!-]+[^<]*>|^\s*"[^"]{1,80}":|^\s*@\w+(?:\(|$)|\w\(\)|[!=]==|&&|\|\||\+\+|\+=/

/** Times, levels, frames of a stack, what a tool prints of its own work. */
const LOG =
  /^\s*\[?\d{4}-\d\d-\d\d[T ]|^\s*\[?\d\d:\d\d:\d\d|^\s*\[?(?:info|debug|trace|notice|verbose|warn(?:ing)?)\]?\b[:\s]|^\s*at .+(?::\d+|\))\)?$|^\s*(?:[✓✔√›❯•·]|PASS\b|RUN\b|ok \d)|^\s*\$ |^npm (?:warn|notice|http)|^\s*\d+%|^\s*[-dlrwx]{10}\s|^\s*(?:duration|start at|time|elapsed):?\s+[\d~]|^\s*(?:downloading|fetching|resolving|compiling)\b/i

const WORD = /^["'“(]*\p{L}[\p{L}\p{M}'’-]*["'”).,;:!?…]*$/u
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Hangul}]/u

/** True where most of a line is neither a word nor a number. */
const isDense = (line: string): boolean => {
  const said = line.match(/[\p{L}\p{M}\p{N}\s.,'’-]/gu)?.length ?? 0
  return said < 0.75 * [...line].length
}

/** True for what is no sentence: a piece of code, of a table or of a line. */
export const isFragment = (sentence: string): boolean => {
  const words = sentence.split(/\s+/).filter((word) => WORD.test(word))
  return (words.length < 3 && !UNSPACED.test(sentence)) || isDense(sentence)
}

/** The shapes of lines; between fences all is code. What people write is prose where it may be. */
export const shapesOf = (lines: ReadonlyArray<string>, people: boolean): ReadonlyArray<Shape> => {
  let fenced = false
  let before: Shape = "blank"
  const shapeOf = (line: string): Shape => {
    if (FENCE.test(line)) {
      fenced = !fenced
      return "code"
    }
    if (fenced) return "code"
    if (line.trim() === "") return "blank"
    if (TABLE.test(line)) return "table"
    if (CODE.test(line)) return "code"
    if (ITEM.test(line)) return "item"
    // "(as" may be the next line of what somebody wraps.
    if (people && (before === "prose" || before === "item" || !isFragment(line))) return "prose"
    return LOG.test(line) ? "log" : CODISH.test(line) ? "code" : "prose"
  }
  return lines.map((line) => (before = shapeOf(line.slice(0, LOOKED_AT))))
}

/** True where a text is mostly code, log and tables: a comment in it is no news. */
export const isMachine = (shapes: ReadonlyArray<Shape>): boolean => {
  const filled = shapes.filter((shape) => shape !== "blank")
  const noise = filled.filter((s) => s === "code" || s === "log" || s === "table").length
  return filled.length > 2 && noise > 0.3 * filled.length
}

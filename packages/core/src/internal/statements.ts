/** What code finds in the words of a statement. */

/** Where one line ends and the next begins, whatever a terminal or a model takes for one. */
export const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/** A text of at most so many units; of a longer one the head and the tail. */
export const ends = (text: string, units: number): string =>
  text.length <= units
    ? text
    : (text.slice(0, units / 2) + "\n" + text.slice(-units / 2)).toWellFormed()

/** A line that begins something by itself: an item, a heading, a quote, a row of a table. */
const BEGINS = /^\s*(?:[-*•+>|]\s|#{1,6}\s|\d+[.)]\s|\|)/
const FENCE = /^\s*(?:```|~~~)/
const INDENTED = /^(?: {4}|\t)/
/** The end of a sentence, and what stands before a list. */
const ENDED = /[.!?:;。！？：；…]["')\]»”’`*_]*$/u
/** After these a sentence can't be over. */
const UNENDED =
  /[,，、(–—]$|\b(?:a|an|the|and|or|nor|but|of|in|on|at|by|to|for|from|with|without|into|than|as|if|that|which|not|never|always|only|do|don['’]t|must|should|may|can|will|would|is|are|be|no|any|your|my|our|der|die|das|und|oder|nicht|de|la|el|le|les|y|et)$/iu
/** How a sentence of its own often begins, in whatever case. */
const OPENS =
  /^\s*(?:never|always|do not|don['’]?t|please|only|use|no|you|i|make|avoid|keep|stop|ensure|run|if|when)\b/i
const LOWER = /^[^\p{L}]*\p{Ll}/u
const NO_LETTER = /^\s*[\p{N}/~(`"'$@]/u
const CJK_END = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}，、]$/u

/** Whether a line goes on in the next. `lower`: whoever wrote it begins sentences in lower case. */
const goesOn = (line: string, next: string, lower: boolean): boolean => {
  if (ENDED.test(line)) return false
  if (UNENDED.test(line)) return true
  if (OPENS.test(next)) return false
  return LOWER.test(next) || NO_LETTER.test(next) ? !lower || line.length >= 50 : line.length >= 60
}

/** The lines of a text, with those joined that were broken in the middle of a sentence. */
export const unwrap = (text: string): ReadonlyArray<string> => {
  const lines: Array<Array<string>> = []
  let before: string | undefined
  let [fenced, item, lower] = [false, false, false]
  for (const line of text.split(LINE_BREAK)) {
    const said = line.trim()
    const begins = BEGINS.test(line)
    const fence = FENCE.test(line)
    const apart = fence || fenced || said === "" || (INDENTED.test(line) && !item && !begins)
    if (fence) fenced = !fenced
    // What is indented below an item belongs to it.
    const loose = lower && !(item && /^\s/.test(line))
    if (!apart && !begins && before !== undefined && goesOn(before, line, loose))
      lines.at(-1)!.push(CJK_END.test(before) ? said : " " + said)
    else {
      lines.push([line.trimEnd()])
      item = begins || (item && !apart)
      lower = LOWER.test(line)
    }
    before = apart || said.startsWith("#") || said.startsWith("|") ? undefined : said
  }
  return lines.map((parts) => parts.join(""))
}

/** Takes back what was decided before. */
const REVERSAL =
  /\binstead\b|\brather\b|, not\b|\bforget\b|\bno longer\b|\bswitch|\bchange[ds]?\b|\bactually\b|\brevert|\bback to\b|\bfrom now on\b|\bis now\b|stattdessen|en lugar|en vez|plutôt|au lieu|вместо|改|変更|대신/iu

const STOP = new Set(
  "a an the and or of to in on at by for as is are be it we i you our my this that now use using used will with please so then decision decided decide instead rather not no longer from switch switched change changed actually should let lets go keep".split(
    " "
  )
)

/** The words of a text that say what it is about. */
export const wordsOf = (text: string): ReadonlySet<string> => {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  return new Set(words.filter((word) => word.length > 1 && !STOP.has(word)))
}

/** What a decision of the form "X is Y", "X = Y" or "set X to Y" settles. */
const topicOf = (text: string): string | undefined => {
  // "Decision: …", "From now on: …"
  const [, lead = "", rest = ""] = /^([^:=]{1,30}):\s*(.*)$/s.exec(text) ?? []
  const said = rest !== "" && wordsOf(lead).size === 0 ? rest : text
  const [, topic] =
    /^([^:=]{2,60}?)\s*(?:=|:|\b(?:is now|should be|will be|is)\b)\s*\S/i.exec(said) ??
    /\b(?:set|change|rename)\s+(.{2,60}?)\s+(?:from\b.{1,40}?)?\bto\b/i.exec(said) ??
    []
  const words = topic === undefined ? [] : [...wordsOf(topic)]
  return words.length === 0 || words.length > 6 ? undefined : words.toSorted().join(" ")
}

/** Words of statements that don't say what they are about. */
const CUES = new Set(
  "never always do don not dont stop must can may could should only please ok okay again all right ahead fine free allowed need have no longer make sure stay out leave alone me first any more anymore just".split(
    " "
  )
)

/** What a statement is about. */
export interface Subject {
  readonly words: ReadonlySet<string>
  /** Its words but for those that every statement has. */
  readonly things: ReadonlySet<string>
  readonly topic: string | undefined
  /** Whether it takes back what was said before. */
  readonly reverses: boolean
}

export const subjectOf = (text: string): Subject => {
  const words = wordsOf(text)
  return {
    words,
    things: new Set([...words].filter((word) => !CUES.has(word))),
    topic: topicOf(text),
    reverses: REVERSAL.test(text)
  }
}

const shared = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let n = 0
  for (const word of a) if (b.has(word)) n++
  return n
}

/** Whether a later decision takes the place of an earlier one: on one topic, or taken back in so many words. */
export const replaces = (later: Subject, earlier: Subject): boolean => {
  if (later.topic !== undefined && later.topic === earlier.topic) return true
  if (!later.reverses) return false
  const both = shared(later.words, earlier.words)
  return both >= 2 && both >= 0.5 * Math.min(later.words.size, earlier.words.size)
}

/** Whether two statements name the same thing. */
export const isOnSame = ({ things: a }: Subject, { things: b }: Subject): boolean => {
  const both = shared(a, b)
  return both > 0 && both >= 0.6 * Math.min(a.size, b.size)
}

/** At most so many units, cut at a word where one is near, never inside a surrogate pair. */
export const short = (text: string, units: number): string => {
  if (text.length <= units) return text
  const cut = text.slice(0, units - 1)
  const word = cut.search(/\s\S*$/)
  return (
    (word > units * 0.7 ? cut.slice(0, word) : cut.isWellFormed() ? cut : cut.slice(0, -1)) + "…"
  )
}

/** An error by its name, as logs and tracebacks have it. */
export const NAMED_ERROR = /(?:^|[\s(>])[\w.]*(?:Error|Exception|fatal|panic|FAILED)\b[^(:]{0,60}:/
/** A word for an error. */
export const ERROR =
  /error|exception|fatal|failed|failure|panic|denied|not found|no such|refused|timed? ?out|invalid|cannot|unable|unexpected|错误|失败|エラー|失敗|오류|실패|fehler|erreur|ошибка/i

/** The line of a text that names what went wrong. */
export const errorLine = (text: string): string => {
  const lines = ends(text, 8192)
    .split(LINE_BREAK)
    .filter((line) => line.trim() !== "")
  const line = lines.find((l) => NAMED_ERROR.test(l)) ?? lines.find((l) => ERROR.test(l))
  return line === undefined ? short(lines.at(-1)?.trim() ?? "", 100) : short(line.trim(), 240)
}

/** True where a result says that it is an error though it isn't marked as one. */
export const saysError = (text: string): boolean =>
  text.length <= 4096 &&
  /^\s*(?:Uncaught |Unhandled )?(?:[A-Za-z.]*(?:Error|Exception)|fatal|panic|Traceback)\b.{0,60}:/m.test(
    text
  )

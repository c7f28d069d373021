/** What code finds in the words of a statement. */

/** Where one line ends and the next begins, whatever a terminal or a model takes for one. */
export const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/** A text of at most so many units; of a longer one the head and the tail. */
export const ends = (text: string, units: number): string =>
  text.length <= units
    ? text
    : (text.slice(0, units / 2) + "\n" + text.slice(-units / 2)).toWellFormed()

/** Takes back what was decided before. */
const REVERSAL =
  /\binstead\b|\brather\b|\bnot\b|\bno longer\b|\bswitch|\bchange[ds]?\b|\bactually\b|\brevert|\bback to\b|\bfrom now on\b|\bis now\b|stattdessen|en lugar|en vez|plutôt|au lieu|вместо|改|変更|대신/iu

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

/** Whether a later decision takes the place of an earlier one: on one topic, or taken back in so many words. */
export const replaces = (later: string, earlier: string): boolean => {
  const topic = topicOf(later)
  if (topic !== undefined && topic === topicOf(earlier)) return true
  if (!REVERSAL.test(later)) return false
  const [a, b] = [wordsOf(later), wordsOf(earlier)]
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return shared >= 2 && shared >= 0.5 * Math.min(a.size, b.size)
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

import { ends } from "./statements.ts"

/**
 * Anchors: what a text names and an agent may have to write again, letter for letter. Read in one pass over
 * words of bounded length, so that no input takes more than linear time.
 */
type AnchorKind = "path" | "url" | "id" | "number"

/** Called for each anchor of a text. `label` is the word right before a number, where it may be its name. */
export type OnAnchor = (kind: AnchorKind, text: string, label: string | undefined) => void

/** Texts longer than this are read at their head and their tail only. */
const LOOKED_AT = 262_144

/** Longer words are data. */
const LONGEST = 300

const WORD =
  /[$€£¥]\s?\d[\d.,]*\d|\b[A-Za-z]:\\[^\s"'`<>|*?,;]+|[^\s"'`<>()[\]{},;|\\*，。、；：！？「」『』（）《》“”‘’…]+/g
/** Escapes of a text that was quoted; what looks like one in a path of Windows is none. */
const ESCAPE = /\b[A-Za-z]:\\[^\s"'`<>|*?,;]+|\\[nrt]/g
const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const ROOTED = /^(?:[/~.]|[a-z]:[\\/])/i
const EXTENSION =
  /^[^/\\]*[^/\\.\s][^/\\]*\.(?:[cm]?[jt]sx?|jsonl?|mdx?|txt|log|py|ipynb|rb|go|rs|java|kts?|swift|php|cs|[ch](?:pp)?|sh|ps1|bat|sql|html?|s?css|less|vue|svelte|xml|ya?ml|toml|ini|cfg|conf|env|lock|diff|patch|csv|tsv|pdf|docx?|xlsx?|pptx?|od[tsp]|png|jpe?g|gif|webp|svg|ico|bmp|mp[34]|wav|mov|zip|t?gz|tar|exe|dll|so|app|db|sqlite|pem|bib|tex)$/i

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const EMAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/
const CODE_WORD = /^\$?_*(?:[a-z]+\d*[A-Z]|[A-Z]+[a-z\d]+[A-Z]|[A-Za-z\d]+_)\w*$/
const VERSION = /^v?\d+(?:\.\d+){2,3}(?:-[\w.]+)?$/
const KEBAB = /^[a-z]+(?:-[a-z\d]+){2,}$/

/** `INV-2024-0042`, `v1.2.3`, `10.0.0.1`, `#b5bd68`, `3fa9c21`, `K7Q42`, `submit-order-button`. */
const isCode = (word: string): boolean =>
  VERSION.test(word) ||
  KEBAB.test(word) ||
  (/\d/.test(word) &&
    (/^#[\da-f]{3,8}$/i.test(word) ||
      (/^[\da-f]{7,64}$/.test(word) && /[a-f]/.test(word)) ||
      (/^[A-Z\d]{5,24}$/.test(word) && /[A-Z]/.test(word) && /\d.*\d/.test(word)) ||
      (word.length > 4 && /^[A-Za-z]+[-_#][\w#-]*$/.test(word))))

const NUMBER = /^(?:[$€£¥]\s?)?#?\d[\d.,]*$/
const DATE = /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$/

/** Between a word and the number that it names: no comma, bracket, bar or end of a line. */
const NEAR = /^[ \t"'`“”‘’]*$/
/** Words that name no number. */
const NO_LABEL = new Set(
  "a about after all also an and any are as at be been before below between but by can could did do does for from gave get gets give given got had has have he her him his i if in into is it its just may me might must my no not now of off on only or our out over per said shall she should so than that the their them then there these they this those to too under until up us use used uses using was we were what when which while will with would you your der die das und ist sind von für el la de es y le les et est".split(
    " "
  )
)
/** What counts, or says how long it took or in which line. */
const COUNTS =
  /^(?:cols?|ln|took|passed|failed|skipped|todo|tests?)$|(?:^|_)(?:lines?|columns?|count|ms|sec(?:ond)?s|elapsed|duration|timeout|tokens|bytes|size|length|offset|limit|head|tail)$|[a-z](?:Lines?|Columns?|Count|Ms|Seconds|Duration|Timeout|Tokens|Bytes|Size|Length)$/
/** What stands after a count or a duration. */
const UNIT =
  /^[ \t]?(?:%|(?:ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|percent|px|[kmgt]i?b|bytes?|chars?|characters?|tokens?|words?|lines?|files?|folders?|tests?|suites?|cases?|assertions?|checks?|steps?|times|items?|rows?|entries|results?|match(?:es)?|messages?|errors?|warnings?|problems?|packages?|modules?|commits?|insertions?|deletions?|passed|passing|failed|failing|skipped|pending|todo|more|others?)(?![\w-]))/i
const SECRET =
  /^(?:(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abprs]|npm|hf)[-_]|AKIA|ASIA|AIza|eyJ)[\w-]{12,}/
const SECRET_LABEL =
  /pass(?:word|wd|phrase)?$|secret|token$|api_?key|credential|^authorization$|^bearer$/i
/** Long, with letters of both cases and digits, and no word in it: a key or a piece of data. */
const isOpaque = (word: string): boolean =>
  word.length >= 24 &&
  !UUID.test(word) &&
  /\d/.test(word) &&
  /[A-Z]/.test(word) &&
  /[a-z]/.test(word) &&
  !/[a-z]{5}|[-_./]/.test(word)

const isSecret = (word: string): boolean => SECRET.test(word) || isOpaque(word)

const trimmed = (word: string): string =>
  word.replace(/^[.!?*_=&#-]+(?=[.\w])|[.!?:*_=&-]+$/g, (cut, at: number) =>
    // A dot in front belongs to a hidden file, `./` and `../`; a `#` to a colour or a number.
    at === 0 ? (/^(?:\.{1,2}|#)$/.exec(cut)?.[0] ?? "") : ""
  )

/** A URL without what gives access. */
const urlOf = (word: string): string | undefined => {
  const url = word.replace(/[.!?:]+$/, "").replace(/\/\/[^/@\s]*@/, "//")
  const safe =
    /[?&#][^=&]*(?:key|token|secret|sig|pass|auth|code)[^=&]*=/i.test(url) || url.length > 200
      ? url.replace(/[?#].*$/s, "")
      : url
  return safe.length <= 200 ? safe : undefined
}

/** True for a word with slashes that is a path and not "and/or". */
const isPath = (word: string): boolean => {
  const parts = word.split(/[/\\]/).filter((part) => part !== "")
  const last = parts.at(-1)
  if (last === undefined || !/\p{L}/u.test(word) || /[:=?&!#]/.test(word.slice(2))) return false
  if (parts.length === 1) return EXTENSION.test(last) && !/^\.\w+\./.test(last)
  return ROOTED.test(word)
    ? word[0] !== "." || /^\.{0,2}[/\\\w]/.test(word)
    : parts.length > 2 || EXTENSION.test(last)
}

/** Takes `:28:2` and the like off a path. */
const withoutLine = (word: string): string => word.replace(/(?::\d+)+:?$/, "")

/** A whole value, as of an argument, that is a path: spaces are allowed. */
export const pathOf = (value: string): string | undefined => {
  const path = value.trim()
  if (path === "" || path.length > LONGEST || /[\n\r<>"|*?{}$]|:\/\//.test(path)) return undefined
  if (/\s/.test(path) && !ROOTED.test(path)) return undefined
  return isPath(path) || /^[\w.@-]+(?:\/[\w.@-]+)+\/?$/.test(path) ? path : undefined
}

/** Where a word stands. */
interface Place {
  readonly label: string | undefined
  /** True where a number here counts something, or is that of a line. */
  readonly passing: boolean
}

const visitWord = (word: string, { label, passing }: Place, found: OnAnchor): void => {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(word)) {
    const url = urlOf(word)
    if (url !== undefined) found("url", url, undefined)
    return
  }
  const path = withoutLine(trimmed(word))
  if (
    /[/\\]/.test(path)
      ? isPath(path)
      : EXTENSION.test(path) && !/^(?:(?:console|this|self)\.|\.\w+\.)/.test(path)
  ) {
    found("path", path, undefined)
    return
  }
  let before = label
  for (const raw of word.split(/[:=&?/]+/)) {
    const part = trimmed(raw)
    if (part !== "" && !(before !== undefined && SECRET_LABEL.test(before)))
      visitPart(part, before, passing, found)
    if (part !== "") before = part
  }
}

const visitPart = (
  part: string,
  label: string | undefined,
  passing: boolean,
  found: OnAnchor
): void => {
  if (part.length < 3 || isSecret(part)) return
  if (NUMBER.test(part)) {
    if (part.replace(/\D/g, "").length > 2 && !/^(\d)\1*$/.test(part)) {
      if (VERSION.test(part)) found("id", part, undefined)
      else if (!passing && (label === undefined || !isCount(label)))
        found("number", part, label !== undefined && isLabel(label) ? label : undefined)
    }
  } else if (EMAIL.test(part) || UUID.test(part) || DATE.test(part) || isCode(part)) {
    found("id", part, undefined)
  } else if (part.includes(".")) {
    for (const piece of part.split(/\.+/)) visitName(piece, found)
  } else visitName(part, found)
}

const isLabel = (word: string): boolean =>
  /^[\p{L}_][\p{L}\w-]{1,23}$/u.test(word) && !NO_LABEL.has(word.toLowerCase())

const isCount = (label: string): boolean => COUNTS.test(label) || COUNTS.test(label.toLowerCase())

const visitName = (name: string, found: OnAnchor): void => {
  if (name.length > 3 && name.length <= 64 && CODE_WORD.test(name) && !isSecret(name))
    found("id", name, undefined)
}

/** Reads the anchors of a text. Keys, passwords and access tokens are passed over. */
export const readAnchors = (text: string, found: OnAnchor): void => {
  const given = ends(text, LOOKED_AT)
  const read = given.includes("\\")
    ? given.replace(ESCAPE, (match) => (match[0] === "\\" ? " " : match))
    : given
  let label: string | undefined
  let [end, afterPath] = [0, false]
  for (const match of read.matchAll(WORD)) {
    const [word] = match
    const gap = read.slice(end, match.index)
    // The colon of `"port": 8080` is a word of its own.
    if (!NEAR.test(gap)) label = undefined
    end = match.index + word.length
    if (word.length > LONGEST) {
      label = undefined
      continue
    }
    const passing = /\d/.test(word) && isPassing(read, match.index, end, gap, afterPath)
    const inside = CJK.test(word) && !ROOTED.test(word) && !word.includes("://")
    afterPath = false
    for (const piece of inside ? word.split(/[^\p{ASCII}]+/u) : [word]) {
      if (piece.length > 1)
        visitWord(piece, { label, passing }, (kind, text, of) => {
          afterPath ||= kind === "path"
          found(kind, text, of)
        })
      if (!/^[:=]+$/.test(piece)) label = trimmed(piece)
    }
  }
}

/** Whether numbers in the word from here to there count something, or are the number of a line. */
const isPassing = (
  text: string,
  start: number,
  end: number,
  gap: string,
  path: boolean
): boolean => {
  const after = text.slice(end, end + 300)
  // `a.ts(212,15)`
  if (UNIT.test(after) || (path && gap === "(")) return true
  const [, digits] = /^(\d+)(?![\d.,])/.exec(text.slice(start, end)) ?? []
  if (digits === undefined || !(start === gap.length || /[\n\r]\s*$/.test(gap))) return false
  // `212:const x`, `212 | const x`
  if (/^(?:[:-]\D|[ \t]*[|│→])/.test(text.slice(start + digits.length, end + 8))) return true
  // The line below is the next.
  const [, below] = /^[^\n]*\n[ \t]*(\d+)(?!\d)/.exec(after) ?? []
  return Number(below) === Number(digits) + 1
}

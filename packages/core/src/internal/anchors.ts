import { ends } from "./statements.ts"

/**
 * Anchors: what a text names and an agent may have to write again, letter for letter. Read in one pass over
 * words of bounded length, so that no input takes more than linear time.
 */
type AnchorKind = "path" | "url" | "id" | "number"

/** Called for each anchor of a text. `label` is the word before a number: what it is the number of. */
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

const visitWord = (word: string, label: string | undefined, found: OnAnchor): void => {
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
      visitPart(part, before, found)
    if (part !== "") before = part
  }
}

const visitPart = (part: string, label: string | undefined, found: OnAnchor): void => {
  if (part.length < 3 || isSecret(part)) return
  if (NUMBER.test(part)) {
    if (part.replace(/\D/g, "").length > 2 && !/^(\d)\1*$/.test(part)) {
      if (VERSION.test(part)) found("id", part, undefined)
      else
        found(
          "number",
          part,
          label !== undefined && /^[\p{L}_][\p{L}\w-]{1,23}$/u.test(label) ? label : undefined
        )
    }
  } else if (EMAIL.test(part) || UUID.test(part) || DATE.test(part) || isCode(part)) {
    found("id", part, undefined)
  } else if (part.includes(".")) {
    for (const piece of part.split(/\.+/)) visitName(piece, found)
  } else visitName(part, found)
}

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
  for (const [word] of read.matchAll(WORD)) {
    if (word.length > LONGEST) continue
    const inside = CJK.test(word) && !ROOTED.test(word) && !word.includes("://")
    for (const piece of inside ? word.split(/[^\p{ASCII}]+/u) : [word]) {
      if (piece.length > 1) visitWord(piece, label, found)
      label = trimmed(piece) || label
    }
  }
}

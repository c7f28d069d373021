/** What an answer says. */
export interface ReadAnswer {
  readonly text: string
  /** The whole of it, where it was JSON. */
  readonly structure?: unknown
}

/** Where the text may stand, best first. */
const KEYS = ["summary", "text", "content"]

/** How many places in prose are looked at for JSON. */
const LOOKS = 8

/** A character of a JSON string, with what is wrong about it put right; and how many units were read. */
const inString = (text: string, i: number): readonly [string, number] => {
  const c = text[i]!
  if (c !== "\\") return [c < " " ? JSON.stringify(c).slice(1, -1) : c, 1]
  const next = text[i + 1]
  if (next === undefined) return ["\\\\", 1]
  if (next === "u") return /^[\da-f]{4}/i.test(text.slice(i + 2, i + 6)) ? ["\\u", 2] : ["u", 2]
  return ['"\\/bfnrt'.includes(next) ? c + next : inString(text, i + 1)[0], 2]
}

/**
 * The JSON object or list that starts at an index, with trailing commas left out and its strings put right.
 * Nothing where it doesn't end.
 */
const scan = (text: string, from: number): { json: string; end: number } | undefined => {
  let json = ""
  let depth = 0
  let quoted = false
  let comma = false
  for (let i = from; i < text.length;) {
    const c = text[i]!
    if (quoted && c !== '"') {
      const [unit, read] = inString(text, i)
      json += unit
      i += read
      continue
    }
    i++
    // A comma is written only once something follows that needs it.
    if (c === ",") comma = true
    else if (comma && !/\s/.test(c)) {
      comma = false
      if (c !== "}" && c !== "]") json += ","
    }
    if (c !== ",") json += c
    if (c === '"') quoted = !quoted
    else if (c === "{" || c === "[") depth++
    else if ((c === "}" || c === "]") && --depth === 0) return { json, end: i }
  }
  return undefined
}

const parse = (json: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(json) }
  } catch {
    return undefined
  }
}

/** The entry of an object under one of these keys, in whatever case they are written. */
const entry = (value: unknown, keys: ReadonlyArray<string>): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  for (const key of keys) {
    const found = entries.find(([name]) => name.toLowerCase() === key)
    if (found !== undefined) return found[1]
  }
  return undefined
}

/** What parsed JSON says; nothing where its text is missing or isn't a text. */
const fromValue = (value: unknown, structure = value): ReadAnswer | undefined => {
  if (typeof value === "string") {
    // JSON in a JSON string, as some models give it.
    const inner = /^\s*\{/.test(value) ? parse(value) : undefined
    if (inner !== undefined && structure === value) return fromValue(inner.value)
    return structure === value ? { text: value } : { text: value, structure }
  }
  const text = entry(value, KEYS)
  return typeof text === "string" ? fromValue(text, value) : undefined
}

const LONE = /^\{\s*"(?:summary|text|content)"\s*:\s*"/i
const NEXT_KEY = /"\s*,\s*"[^"\n]{1,60}"\s*:/

/** `{"summary": "he said "go" and left"}`: an object with one text whose quotes aren't escaped. */
const lone = (text: string): ReadAnswer | undefined => {
  const head = LONE.exec(text)?.[0]
  if (head === undefined || !text.endsWith("}")) return undefined
  const body = text.slice(0, -1).trimEnd().replace(/,$/, "").trimEnd()
  if (!body.endsWith('"') || body.length <= head.length) return undefined
  const raw = body.slice(head.length, -1)
  if (NEXT_KEY.test(raw)) return undefined
  let inner = ""
  for (let i = 0; i < raw.length;) {
    const [unit, read] = raw[i] === '"' ? (['\\"', 1] as const) : inString(raw, i)
    inner += unit
    i += read
  }
  const parsed = parse(`"${inner}"`)
  return parsed === undefined ? undefined : { text: String(parsed.value) }
}

/** Without a byte-order mark, what a model thought aloud, and a fence around all of it. */
const bare = (raw: string): string => {
  let text = raw.replace(/^[\uFEFF\s]+/, "").trimEnd()
  const thought = /^<(think|thinking|reasoning)>/i.exec(text)
  if (thought !== null) {
    const end = text.toLowerCase().indexOf(`</${thought[1]!.toLowerCase()}>`)
    text = end < 0 ? "" : text.slice(end + thought[0].length + 1).trim()
  }
  const open = /^```[^\n`]*\n/.exec(text)?.[0]
  if (open === undefined) return text
  const inside = text.slice(open.length).replace(/```$/, "")
  return inside.includes("```") ? text : inside.replace(/^\uFEFF/, "").trim()
}

/** JSON with a summary in it that is most of a text, the rest being prose around it. */
const amidProse = (text: string): { readonly value: unknown } | undefined => {
  let looks = 0
  for (const { index } of text.matchAll(/\{\s*"/g)) {
    if (looks++ === LOOKS) break
    const found = scan(text, index)
    if (found === undefined || (found.end - index) * 2 < text.length) continue
    const parsed = parse(found.json)
    if (parsed !== undefined && entry(parsed.value, ["summary"]) !== undefined) return parsed
  }
  return undefined
}

/**
 * Reads a model's answer: plain text, or JSON with the text under `summary` (else `text`, `content`), with or
 * without a fence, prose, a byte-order mark, trailing commas, raw line breaks or unescaped quotes. Nothing
 * where it is JSON without such a text, or with something that isn't one. Never throws.
 */
export const readAnswer = (raw: string): ReadAnswer | undefined => {
  const text = bare(raw)
  const whole = parse(text)
  if (whole !== undefined) return fromValue(whole.value)
  if (/^[[{]/.test(text)) {
    const found = scan(text, 0)
    const parsed =
      found === undefined || text.slice(found.end).trim() !== "" ? undefined : parse(found.json)
    if (parsed !== undefined) return fromValue(parsed.value)
  }
  const inside = amidProse(text)
  if (inside !== undefined) return fromValue(inside.value)
  // What begins as JSON and doesn't end as JSON is a broken answer, not a text.
  if (/^\{\s*["']|^\[\s*["{[]/.test(text)) return lone(text)
  return { text }
}

import { readFileSync } from "node:fs"
import { SessionFileError } from "../SessionFileError.ts"

export type Json = Readonly<Record<string, unknown>>

/** Where a value was read, for the error that names it. */
export interface Place {
  readonly file: string
  readonly line?: number | undefined
}

export const fail = (place: Place, reason: string, cause?: unknown): never => {
  throw new SessionFileError(place.file, place.line, reason, cause)
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The kind of a value, never the value: a log may hold secrets and megabytes of base64. */
const kind = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`

export const object = (place: Place, value: unknown, what: string): Json =>
  isObject(value) ? value : fail(place, `${what} should be an object, but is ${kind(value)}`)

export const array = (place: Place, value: unknown, what: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : fail(place, `${what} should be an array, but is ${kind(value)}`)

export const string = (place: Place, value: unknown, what: string): string =>
  typeof value === "string"
    ? value
    : fail(place, `${what} should be a string, but is ${kind(value)}`)

export const number = (place: Place, value: unknown, what: string): number =>
  typeof value === "number"
    ? value
    : fail(place, `${what} should be a number, but is ${kind(value)}`)

/** Each value of an array as an object. */
export const objects = (place: Place, value: unknown, what: string): ReadonlyArray<Json> =>
  array(place, value, what).map((item, i) => object(place, item, `${what}[${i}]`))

/** A count of tokens. */
export const tokens = (place: Place, value: unknown, what: string): number => {
  const n = number(place, value, what)
  return n >= 0 && n < Infinity ? n : fail(place, `${what} should be a count of tokens, from 0 on`)
}

/** A count that a log may leave out: 0 then. */
export const count = (value: unknown): number => (typeof value === "number" ? value : 0)

/** An ISO time as ms. One without a zone is taken as UTC: the log doesn't say where it was written. */
export const time = (place: Place, value: unknown, what: string): number => {
  const text = string(place, value, what)
  const ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : text + "Z")
  return Number.isNaN(ms) ? fail(place, `${what} should be an ISO time`) : ms
}

/** The text of a file. */
export const load = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    return fail({ file }, "can't be read: is it there, and is it a file?", cause)
  }
}

/** The JSON of a whole file. The parser's own message is not passed on: it quotes the file. */
export const jsonFile = (file: string): unknown => {
  const text = load(file)
  try {
    return JSON.parse(text)
  } catch (cause) {
    const position = /position (\d+)/.exec(String(cause))?.[1]
    const line =
      position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length
    return fail({ file, line }, "not JSON")
  }
}

/** The JSON objects of a file with one in each line. Blank lines are passed over. */
export const jsonLines = (
  file: string
): ReadonlyArray<{ readonly place: Place; readonly entry: Json }> => {
  const out: Array<{ place: Place; entry: Json }> = []
  load(file)
    .split("\n")
    .forEach((text, i) => {
      if (text.trim() === "") return
      const place = { file, line: i + 1 }
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch {
        fail(place, "not JSON")
      }
      out.push({ place, entry: object(place, value, "the line") })
    })
  return out
}

/** JSON inside of JSON: what a model wrote as arguments. Text that isn't JSON stays text. */
export const parsed = (text: unknown): unknown => {
  if (typeof text !== "string") return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const GOAL = 160
const TEXT = 200
const ENTRIES = 20
const DEPTH = 4

/** A text cut to a length at a border of words: half a secret is one that no redaction knows. */
export const cut = (text: string, length: number): string => {
  if (text.length <= length) return text
  const head = text.slice(0, length)
  const border = /\s/.test(text[length] ?? "") ? length : head.search(/\s\S*$/)
  const end = border > 0 ? border : /[\uD800-\uDBFF]$/.test(head) ? length - 1 : length
  return text.slice(0, end).trimEnd() + "…"
}

/** Long text without a break is data, as base64 is, and so is a key; nobody reads them. */
const isData = (text: string): boolean =>
  text.length > TEXT && (!/\s/.test(text.slice(0, TEXT)) || text.includes("-----BEGIN "))

/**
 * A small copy of a call's arguments that is JSON: texts cut at 200 characters, data left out, deep and long
 * parts shortened. It can be kept and saved whatever the arguments hold.
 *
 * @example
 * ```ts
 * import { brief } from "@varve/core/StepGoal"
 *
 * console.log(JSON.stringify(brief({ x: 1n, file: "A".repeat(5000), y: [Infinity] }))) // => {"file":"[5000 characters]","y":["Infinity"]}
 * ```
 */
export const brief = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string")
    return isData(value) ? `[${value.length} characters]` : cut(value, TEXT)
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (typeof value === "boolean" || value === null) return value
  if (typeof value !== "object") return undefined
  if (depth >= DEPTH) return "…"
  if (Array.isArray(value)) {
    return value.slice(0, ENTRIES).map((item: unknown) => brief(item, depth + 1) ?? null)
  }
  const entries = Object.entries(value).slice(0, ENTRIES)
  return Object.fromEntries(entries.map(([key, item]) => [key, brief(item, depth + 1)]))
}

/**
 * What a call is for: the argument that is named, where it has one; else its name and its arguments (brief
 * ones), at most 160 characters.
 *
 * @example
 * ```ts
 * import { goalOf } from "@varve/core/StepGoal"
 *
 * const args = { label: "Save", why: "keep the address" }
 * console.log(goalOf("click", args, undefined)) // => click(label: "Save", why: "keep the address")
 * console.log(goalOf("click", args, "why")) // => keep the address
 * ```
 */
export const goalOf = (tool: string, args: unknown, named: string | undefined): string => {
  const isList = typeof args !== "object" || args === null || Array.isArray(args)
  const given = isList || named === undefined ? undefined : (args as Record<string, unknown>)[named]
  if (typeof given === "string" && given.trim() !== "") return given.trim()
  const show = (value: unknown): string => JSON.stringify(value)
  const shown = isList
    ? args === undefined
      ? ""
      : show(args)
    : Object.entries(args)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => `${key}: ${show(value)}`)
        .join(", ")
  return cut(`${tool}(${shown})`, GOAL)
}

/** What an error says, gathered from wherever its host has put it. */
export interface ErrorText {
  /** Messages and codes, outermost first. */
  readonly texts: ReadonlyArray<string>
  readonly status: number | undefined
  /** Why an answer ended, if this is an answer. */
  readonly stopReasons: ReadonlyArray<string>
  /** Codes that stand in fields of their own. */
  readonly codes: ReadonlyArray<string>
  /** Who the host says has answered. */
  readonly provider: string | undefined
}

/** Fields that hold an error's words or lead to them. What a model or a user has written is in none of them. */
const wordKeys = [
  "message",
  "errorMessage",
  "error",
  "errors",
  "body",
  "responseBody",
  "responseText",
  "data",
  "detail",
  "details",
  "metadata",
  "raw",
  "reason",
  "type",
  "name",
  "statusText",
  "response",
  "cause",
  "lastError",
  "choices"
]
const statusKeys = ["status", "statusCode", "httpStatus", "http_status", "$metadata"]
const codeKeys = ["code", "errorCode", "error_code"]
const stopKeys = ["stopReason", "stop_reason", "rawStopReason", "finishReason", "finish_reason"]

/** An error body may be a page of HTML; what it says stands in its head. */
const longest = 16_384
const deepest = 8
const mostNodes = 256

const read = (from: object, key: string): unknown => {
  try {
    return (from as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

const isHttpStatus = (u: unknown): u is number =>
  Number.isInteger(u) && (u as number) >= 100 && (u as number) < 600

/** Gathers what an error says. Never throws, whatever it is given, and looks at a bounded part of it. */
export const errorText = (error: unknown): ErrorText => {
  const texts: Array<string> = []
  const codes: Array<string> = []
  const stopReasons: Array<string> = []
  let status: number | undefined
  let provider: string | undefined
  let nodes = 0
  const seen = new Set<object>()

  const visit = (value: unknown, depth: number): void => {
    if (nodes++ > mostNodes || depth > deepest) return
    if (typeof value === "string") {
      texts.push(value.slice(0, longest))
      return
    }
    if (typeof value !== "object" || value === null || seen.has(value)) return
    seen.add(value)
    for (const key of stopKeys) {
      const reason = read(value, key)
      if (typeof reason === "string") stopReasons.push(reason)
    }
    for (const key of codeKeys) {
      const code = read(value, key)
      if (typeof code === "string" || typeof code === "number") {
        codes.push(String(code).slice(0, 100))
        if (isHttpStatus(code)) status ??= code
      }
    }
    for (const key of statusKeys) {
      const found = read(value, key)
      const code =
        typeof found === "object" && found !== null ? read(found, "httpStatusCode") : found
      if (isHttpStatus(code)) status ??= code
    }
    const from = read(value, "provider")
    if (typeof from === "string") provider ??= from.toLowerCase()
    if (isList(value)) {
      const length = read(value, "length")
      for (let i = 0; typeof length === "number" && i < Math.min(length, 32); i++) {
        visit(read(value, String(i)), depth + 1)
      }
      return
    }
    for (const key of wordKeys) visit(read(value, key), depth + 1)
  }

  visit(error, 0)
  return { texts: [...new Set(texts)], status, stopReasons, codes, provider }
}

const isList = (value: object): boolean => {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

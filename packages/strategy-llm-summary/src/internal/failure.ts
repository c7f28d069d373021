import { isVarveError, SummaryError } from "@varve/core/VarveError"

const STATUS = /^\W*(?:(?:http|error|status)(?: code)?\W{0,3})?([45]\d\d)\b/i
const AGAIN = new Set([408, 409, 425, 429])

const ACCOUNT =
  /quota|billing|payment|credit|insufficient|balance|usage.?limit|budget|(api|access).?key|unauthori[sz]ed|forbidden|permission/i

const PASSING =
  /over.?load|over.?capacity|at capacity|high demand|\bbusy|rate.?limit|too many requests|throttl|resource.?exhausted|unavailable|try (it |your request )?again|please retry|time.?out|timed out|ECONN|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|socket|fetch failed|network|connection|terminated|premature|interrupted|disconnected|ended (without|before)|before (a |the )?(message_stop|response|completion|headers)|(internal|server).?error|bad gateway|gateway.?time|(?<![\w.])(429|5(00|02|03|04|2\d))(?![\w.])/i

const OVERFLOW =
  /prompt.{0,20}too (long|large)|request_too_large|context.{0,24}(window|length|size|exceeded|limit)|maximum (context|prompt|input)|too many tokens|token.?limit|input.{0,40}(too long|exceed|longer)|reduce the length|exceeds the limit of \d|too large for model/i

/** True where an error speaks of an input that is too long for the model. */
export const isOverflow = (error: SummaryError): boolean => error.reason === "too-large"

/** True where the same request may succeed in a while. What concerns the account never passes by itself. */
const passes = (message: string, status: number | undefined): boolean => {
  if (ACCOUNT.test(message)) return false
  if (status !== undefined) return status >= 500 ? status !== 501 : AGAIN.has(status)
  return PASSING.test(message)
}

const statusOf = (error: unknown, message: string): number | undefined => {
  const { status, statusCode } = (error ?? {}) as { status?: unknown; statusCode?: unknown }
  for (const given of [status, statusCode]) {
    if (typeof given === "number" && given >= 400 && given < 600) return given
  }
  const found = STATUS.exec(message)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** A provider's words without what looks like a key or data, on one line, 200 characters at most. */
const plain = (message: string): string => {
  const text = message
    .slice(0, 2000)
    .replace(/\b(sk|pk|rk|key|bearer|token)[-_ =:"']{1,3}[\w.*/+-]{8,}/gi, "[key]")
    .replace(/[\w+/=*-]{40,}/g, "[…]")
    .replace(/\s+/g, " ")
    .trim()
  return text.length > 200 ? text.slice(0, 200).toWellFormed() + "…" : text
}

/** What may be told of an error; nothing where that can't be found out. */
const told = (raw: string, clean: (text: string) => string): string => {
  try {
    return String(clean(raw))
  } catch {
    return ""
  }
}

/** The typed error for whatever went wrong with a call; `clean` takes out what must not be told. */
export const failure = (error: unknown, clean: (text: string) => string): SummaryError => {
  if (isVarveError(error) && error._tag === "SummaryError") return error
  const raw = error instanceof Error ? error.message : typeof error === "string" ? error : ""
  const message = plain(told(raw, clean)) || "without a word why"
  if (error instanceof Error && error.name === "AbortError")
    return new SummaryError("aborted", `The call was aborted: ${message}`, { transient: true })
  const status = statusOf(error, raw)
  const transient = passes(raw, status)
  if ((OVERFLOW.test(raw) || status === 413) && !transient)
    return new SummaryError("too-large", `The input is too long for the model: ${message}`)
  return new SummaryError("failed", `The model failed: ${message}`, { transient })
}

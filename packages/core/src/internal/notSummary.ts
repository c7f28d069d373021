import type { SummaryReason } from "../VarveError.ts"
import { namesPrecisely, replyOf } from "./declines.ts"
import { withoutBase64 } from "./material.ts"

/** No more than this of a text is looked at. */
const LOOKED_AT = 65_536

/** Longer than this a text is no reply. */
const REPLY = 1200

const TAG = "(?:think|thinking|thought|reasoning|reflection|scratchpad)"
const THOUGHT = new RegExp(`^\\s*</?${TAG}\\b[^>\\n]*>|^[^\`\\n]*</${TAG}>\\s*$`, "im")

const PAGE =
  /^\s*(?:<!doctype\b|<\?xml\b|<(?:html|head|body|title|center|h1|script|style|meta|iframe|svg)\b)/i

/** An introduction, up to its colon: what comes after it is looked at. */
const PREFACE =
  /^[\s\p{P}\p{S}]*(?:(?:sure|certainly|of course|absolutely|okay|ok|great|got it|understood|here|below|summary|the summary|voici|aqui|hier|r[eé]sum\p{L}*|zusammenfassung)\b|aquí|以下|要約|总结|摘要)[^:：.\n]{0,80}[:：]\s*/iu

/** An error of a server: a sentence may begin with "unauthorized" too, but then it goes on. */
const ERROR =
  /^[\s\p{P}\p{S}]*(?:(?:http|error|status)\S*\W+)?(?:[45]\d\d\W+)?(?:bad gateway|bad request|service (?:temporarily )?unavailable|(?:internal )?server error|gateway time-?out|too many requests|rate limit(?: (?:reached|exceeded))?|forbidden|unauthori[sz]ed|not found|over-?loaded|model (?:is )?\w* ?(?:loading|overloaded)|invalid api key|access denied|authentication failed|permission denied|an error occurred)(?!\p{L}|[^\n\S]+(?!provided|for\b|while)\p{L})/iu

/** A second thing that is told after the first, each with a label: "Not found: Q-1. Cancelled: Q-2." */
const LABEL = /[.;]\s+\p{Lu}[\p{L} ]*: /u

/** Words that no language has, in a text that is mostly made of them. */
const isData = (text: string): boolean => {
  if (withoutBase64(text) !== text) return true
  const words = text.split(/\s+/)
  let [all, data] = [0, 0]
  for (const word of words) {
    all += word.length
    if (word.length >= 40 && /^[\w+/=-]+$/.test(word)) data += word.length
  }
  return data * 2 > all
}

/** JSON that holds no text to go by, or that breaks off. */
const isJson = (text: string): boolean => {
  const json = /^```(?:json)?\s*\n/i.test(text)
    ? text.replace(/^[^\n]*\n/, "").replace(/```\s*$/, "")
    : text
  if (!/^\s*(?:\{\s*["'}]|\[\s*(?:[\]{["']|-?\d[\d.]*\s*[,\]]))/.test(json)) return false
  try {
    const value: unknown = JSON.parse(json)
    if (Array.isArray(value) || typeof value !== "object" || value === null) return true
    const said = Object.entries(value).find(([key]) => /^(?:summary|text|content)$/i.test(key))?.[1]
    return typeof said !== "string" || said.trim() === ""
  } catch {
    // A citation or a place, as in `[12, 40] is ...`, is not broken JSON.
    return !/^\s*\[[\s\d.,-]*\]\s*\p{L}/u.test(json)
  }
}

/**
 * What a text is that is no summary; nothing where it may be one. What sounds like an error or a reply is asked
 * whether it names anything of the source.
 */
export const notSummary = (
  given: string,
  source: () => string
): readonly [SummaryReason, string] | undefined => {
  const text = given.slice(0, LOOKED_AT)
  if (THOUGHT.test(text)) return ["reasoning", "it is what the model thought"]
  const tagless = text.replace(/<[^<>]{0,400}>/g, "")
  if (PAGE.test(text) || tagless.length * 2 < text.length) return ["not-text", "it is a page"]
  if (isJson(text)) return ["not-text", "it is JSON without a summary"]
  if (isData(text)) return ["not-text", "it is data"]
  const rest = text.replace(PREFACE, "").trim()
  const error = rest.length <= 200 ? ERROR.exec(rest)?.[0] : undefined
  if (error !== undefined && !LABEL.test(rest) && !namesPrecisely(rest.slice(error.length), source))
    return ["not-text", "it is an error"]
  if (rest.length > REPLY) return undefined
  const reply = replyOf(rest, source)
  if (reply === "preface") return ["blank", "it is a preface alone"]
  if (reply === "reply") return ["refusal", "it is a reply"]
  return undefined
}

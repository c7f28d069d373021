import type { SummaryReason } from "../VarveError.ts"
import { declines } from "./declines.ts"
import { withoutBase64 } from "./material.ts"

/** No more than this of a text is looked at. */
const LOOKED_AT = 65_536

/** Longer than this a text that begins like a refusal or an offer may say something besides. */
const REPLY = 600

const TAG = "(?:think|thinking|thought|reasoning|reflection|scratchpad)"
const THOUGHT = new RegExp(`^\\s*</?${TAG}\\b[^>\\n]*>|^[^\`\\n]*</${TAG}>\\s*$`, "im")

const PAGE =
  /^\s*(?:<!doctype\b|<\?xml\b|<(?:html|head|body|title|center|h1|script|style|meta|iframe|svg)\b)/i

const REFUSAL =
  /^\W*(?:(?:i['’]?m|i am)(?: (?:very|so|really|truly))? sorry\b|sorry\b|(?:my )?apologies\b|i (?:must |have to )?(?:apologi[sz]e|decline)\b|as an? (?:ai|language model|assistant)\b|i['’]?m an? (?:ai|language model)\b|(?:unfortunately,? )?(?:i|we) (?:can(?:['’]?t|not| not)|could(?:n['’]t| not)|won['’]t|will not|am (?:not able|unable) to|['’]m (?:not able|unable) to|do(?:n['’]t| not) (?:have (?:access|enough|any)|feel comfortable))\s*(?:to\s+)?(?:help|assist|comply|provide|summari[sz]e|create|generate|write|answer|access|continue|process|do (?:that|this)|see any|fulfil|support|discuss|have|information|context|enough|any)|i['’]m (?:not able|unable) to (?:help|assist|comply|provide|summari[sz]e))/i

const OFFER =
  /^\W*(?:would you like|do you want|shall i\b|should i (?:go on|continue|proceed)|how (?:can|may) i (?:help|assist)|what (?:would|can|do) (?:you|i)\b|please (?:provide|share|send|paste|give me|let me know)|let me know|is there anything|i['’]?d be happy to|i(?:['’]ll| will)? need (?:the|more|you))/i

const PREFACE =
  /^\W*(?:(?:sure|certainly|of course|absolutely|okay|ok|great|got it|understood|here (?:is|are)|here['’]s)\b[^\n]*|(?:summary|the summary|record)\W*)$/i

const ERROR =
  /^\W*(?:(?:http|error|status)\S*\W+)?(?:[45]\d\d\W+)?(?:bad gateway|bad request|service (?:temporarily )?unavailable|(?:internal )?server error|gateway time-?out|too many requests|rate limit|forbidden|unauthori[sz]ed|not found|over-?loaded)/i

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
    // A citation such as `[1] ...` is not broken JSON.
    return !/^\s*\[\s*\d+\s*\]/.test(json)
  }
}

/** What a text is that is no summary, whatever it was to be a summary of; nothing where it may be one. */
export const notSummary = (given: string): readonly [SummaryReason, string] | undefined => {
  const text = given.slice(0, LOOKED_AT)
  if (THOUGHT.test(text)) return ["reasoning", "it is what the model thought"]
  const tagless = text.replace(/<[^<>]{0,400}>/g, "")
  if (PAGE.test(text) || tagless.length * 2 < text.length) return ["not-text", "it is a page"]
  if (isJson(text)) return ["not-text", "it is JSON without a summary"]
  if (isData(text)) return ["not-text", "it is data"]
  const brief = text.trim().length <= REPLY
  if (brief && (REFUSAL.test(text) || OFFER.test(text) || declines(text)))
    return ["refusal", "it is a reply"]
  if (brief && PREFACE.test(text.trim()) && /[:!.…]\W*$/.test(text.trim()))
    return ["blank", "it is a preface alone"]
  if (text.trim().length <= 200 && ERROR.test(text)) return ["not-text", "it is an error"]
  return undefined
}

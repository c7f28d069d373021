import type { Overflow, OverflowKind } from "@varve/core/Profile"
import { type ErrorText, errorText } from "./internal/errorText.ts"
import { figuresIn, pathsIn } from "./internal/figures.ts"
import {
  allImagesPatterns,
  bytePatterns,
  imageCountPatterns,
  imageSizePatterns,
  neverPatterns,
  neverStatuses,
  type Pattern,
  tokenPatterns
} from "./internal/patterns.ts"

/** Statuses as they stand in a text: `413 {…}`, `HTTP 413`, `API error (413)`, `status code 413`. */
const statusIn = (text: string): number | undefined => {
  const found =
    /^([45]\d\d)(?=[\s:]|$)/.exec(text) ??
    /\b(?:http(?:\/\d\.\d)?|status(?: code)?|api error)[ :(]{1,3}([45]\d\d)\b/i.exec(text)
  return found === null ? undefined : Number(found[1])
}

const statusOf = ({ status, texts }: ErrorText): number | undefined => {
  if (status !== undefined) return status
  for (const text of texts) {
    const found = statusIn(text)
    if (found !== undefined) return found
  }
  return undefined
}

/** More special before more general: an image may be told of in the words of a request, and a 413 in those of tokens. */
const order: ReadonlyArray<readonly [OverflowKind, ReadonlyArray<Pattern>]> = [
  ["bytes", allImagesPatterns],
  ["image-count", imageCountPatterns],
  ["image-size", imageSizePatterns],
  ["tokens", tokenPatterns],
  ["bytes", bytePatterns]
]

const overflow = (
  kind: OverflowKind,
  { reason, unit }: Pick<Pattern, "reason" | "unit">,
  text: string
): Overflow => {
  if (kind === "tokens") return { kind, ...figuresIn(text, "tokens"), reason }
  if (kind === "image-count") return { kind, ...figuresIn(text, "images"), reason }
  if (kind === "bytes") return { kind, ...figuresIn(text, "bytes"), reason }
  const paths = pathsIn(text)
  return {
    kind,
    ...(unit === undefined ? {} : { ...figuresIn(text, unit), unit }),
    ...(paths.length === 0 ? {} : { paths }),
    reason
  }
}

/**
 * What an error of a provider says about an overflow: too many tokens, too many images, an image that is too large,
 * or too many bytes. `undefined` for anything else, rate limits and limits of single fields among them.
 *
 * Takes a text, an `Error` (with what it carries in `cause`, `body`, `status` and the like), an HTTP body, or a pi
 * assistant message that ended in an error. Figures are given where the error states them; `reason` names the
 * pattern. Never throws.
 *
 * @example
 * ```ts
 * import { classify } from "@varve/profiles"
 *
 * const found = classify(new Error("prompt is too long: 210301 tokens > 200000 maximum"))
 * console.log(found?.kind, found?.actual, found?.limit) // => tokens 210301 200000
 * console.log(classify({ status: 429, message: "Too many tokens, please wait" })) // => undefined
 * ```
 */
export const classify = (error: unknown): Overflow | undefined => {
  const said = errorText(error)
  if (said.stopReasons.some((reason) => /^model_context_window_exceeded$/i.test(reason))) {
    return { kind: "tokens", reason: "stop reason model_context_window_exceeded" }
  }
  const status = statusOf(said)
  if (status !== undefined && neverStatuses.has(status)) return undefined
  const text = [...said.codes, ...said.texts].join("\n").slice(0, 65_536)
  if (neverPatterns.some((never) => never.test(text))) return undefined
  for (const [kind, patterns] of order) {
    const pattern = patterns.find(({ test }) => test.test(text))
    if (pattern !== undefined) return overflow(kind, pattern, text)
  }
  if (said.codes.includes("1261")) return overflow("tokens", { reason: "z.ai: code 1261" }, text)
  if (status === 413) return overflow("bytes", { reason: "HTTP 413" }, text)
  if (
    /^400 ?(?:status code)? ?\(no body\)/im.test(text) &&
    (said.provider === undefined || said.provider === "cerebras")
  ) {
    return { kind: "tokens", reason: "Cerebras: 400 without a body" }
  }
  return undefined
}

/** An answer with what the provider says it used; pi's assistant message is one. Tokens. */
export interface Answer {
  readonly stopReason?: string | undefined
  readonly usage?:
    | {
        readonly input?: number | undefined
        readonly output?: number | undefined
        readonly cacheRead?: number | undefined
        readonly cacheWrite?: number | undefined
      }
    | undefined
}

const normalStops: ReadonlySet<string> = new Set(["stop", "toolUse"])

const count = (u: unknown): number => (typeof u === "number" && Number.isFinite(u) && u > 0 ? u : 0)

/**
 * Overflow that no error told of: an answer that ended normally on more input than the window (z.ai), or one that
 * was cut at its first token because the input filled the window (MiMo). `window` in tokens.
 *
 * @example
 * ```ts
 * import { silentOverflow } from "@varve/profiles"
 *
 * const answer = { stopReason: "stop", usage: { input: 190_000, output: 12, cacheRead: 20_000 } }
 * console.log(silentOverflow(answer, 200_000)?.actual) // => 210000
 * ```
 */
export const silentOverflow = (message: Answer, window: number): Overflow | undefined => {
  const { stopReason, usage } = message ?? {}
  if (
    typeof window !== "number" ||
    !(window > 0) ||
    typeof stopReason !== "string" ||
    typeof usage !== "object" ||
    usage === null
  ) {
    return undefined
  }
  const actual = count(usage.input) + count(usage.cacheRead) + count(usage.cacheWrite)
  const found = (reason: string): Overflow => ({ kind: "tokens", actual, limit: window, reason })
  if (normalStops.has(stopReason) && actual > window) return found("silent: input over the window")
  if (stopReason === "length" && count(usage.output) === 0 && actual >= 0.99 * window) {
    return found("silent: input fills the window, nothing was answered")
  }
  return undefined
}

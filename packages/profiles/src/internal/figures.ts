import type { Overflow } from "@varve/core/Profile"

/** Makes a pattern in which `<name>` stands for a whole number, `<name:size>` for one with a unit of bytes. */
const figure = (text: string): RegExp =>
  new RegExp(
    text.replace(/<(\w+)(:size)?>/g, (_, name: string, size?: string) =>
      size === undefined
        ? String.raw`(?<![\d,.])(?<${name}>\d[\d,_]{0,14})`
        : String.raw`(?<![\d,.])(?<${name}>\d[\d,.]{0,14}) ?(?<${name}Unit>[kmg]i?b|bytes?)\b`
    ),
    "i"
  )

/**
 * Where the figures of a token error stand. `total` has the answer in it, `answer` is what the answer was to take.
 * Each pattern fills what no earlier one has.
 */
const tokenFigures = [
  "<actual> tokens? > <limit>",
  "<actual> \\+ <answer> > <limit>",
  "has <actual> input tokens \\(<answer> > <limit> - ",
  "<answer> (?:tokens )?in the (?:completion|output)",
  "given: <actual> `?inputs`? tokens and <answer> `?max_new_tokens",
  "<actual> tokens from the input",
  "<answer> tokens for the completion",
  "requested (?:about |a total of )?<total> tokens",
  "prompt is too long: <actual>",
  'n_prompt_tokens["\\\\]{0,4}: ?<actual>',
  'n_ctx["\\\\]{0,4}: ?<limit>',
  "resulted in <actual> tokens",
  "(?:request|prompt|input|messages) (?:contains?|has|have|consists? of) <actual> (?:input |prompt )?tokens",
  "requested: ?<actual>",
  "token count(?: of| is|:)? \\(?<actual>",
  "(?:input|request|prompt) \\(<actual> tokens\\)",
  "(?<!maximum |allowed )input length(?: of| is)? \\(?<actual>",
  "current length is <actual>",
  "limit is <limit>",
  "(?:length|limit)(?: is| of|:) \\(?<limit>",
  "context length \\(?<limit>",
  "context (?:size|limit)(?: is| of)? \\(?<limit>",
  "token limit: ?<limit>",
  "allowed \\(<limit>\\)",
  "with <limit> maximum context",
  "range of input length should be \\[\\d{1,9}, ?<limit>\\]",
  "must be <= <limit>",
  "supports (?:only )?up to <limit> tokens",
  "only supports up to <limit>"
].map(figure)

const imageFigures = [
  "<actual> \\+ \\d{1,6} > <limit>",
  "<actual> > <limit>",
  "\\(<actual>\\)[^\\d\\n]{0,60}<limit>",
  "(?:got|passed|contains?|has|received|found|provided|sent|with) <actual> (?:\\w+ )?images?\\b",
  "<actual> (?:\\w+ )?images?\\b[^\\d\\n]{0,60}(?:exceed|more than|over|above|limit|max)[^\\d\\n]{0,40}<limit>",
  "(?:at most|up to|no more than|limited to|max(?:imum)?|limit)(?: allowed)?(?: number of (?:input )?images)?(?: per (?:request|message|prompt))?(?: is| of|:)? ?\\(?<limit>",
  "exceed[^\\d\\n]{0,60}<limit>"
].map(figure)

const byteFigures = [
  "body size <limit> exceeded",
  "<actual:size> > <limit:size>",
  "actual(?: body)?(?: size)?:? <actual:size>",
  "(?:got|received|is|was|of) <actual:size>[^\\d\\n]{0,60}(?:limit|max|exceed|allowed)",
  "(?:limit|max|exceed|less than|smaller than|larger than|at most|under|up to|over|above)[^\\d\\n]{0,40}<limit:size>"
].map(figure)

const pixelFigures = [
  'max_side_length_pixels["\\\\]{0,4}: ?<limit>',
  "got[^\\d\\n]{0,20}<actual>",
  "<actual> ?(?:px|pixels)? > <limit>",
  "<actual> ?[x×] ?\\d{1,6}[^\\d\\n]{0,60}(?:exceed|limit|max|larger)[^\\d\\n]{0,40}<limit>",
  "(?:limit|max|exceed|at most|no more than|less than|smaller than|larger than|must not)[^\\d\\n]{0,60}<limit>"
].map(figure)

const patchFigures = [
  "<actual> (?:image )?patches[^\\d\\n]{0,60}<limit>",
  "(?:limit|max|exceed|at most|more than)[^\\d\\n]{0,40}<limit>"
].map(figure)

const tables = {
  tokens: tokenFigures,
  images: imageFigures,
  bytes: byteFigures,
  px: pixelFigures,
  patches: patchFigures
}

/** A stated megabyte is taken for a million bytes: where it was meant to be 1 048 576, that only stays below it. */
const factors: Readonly<Record<string, number>> = {
  byte: 1,
  bytes: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3
}

const numberOf = (text: string, unit: string | undefined): number | undefined => {
  if (unit === undefined) {
    const whole = Number(text.replace(/[,_]/g, ""))
    return Number.isSafeInteger(whole) && whole > 0 ? whole : undefined
  }
  const value = Number(text.replace(/,/g, "").replace(/\.$/, ""))
  const bytes = Math.floor(value * (factors[unit.toLowerCase()] ?? 1))
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}

/** The figures that an error's text states, where it states any. */
export const figuresIn = (
  text: string,
  what: keyof typeof tables
): Pick<Overflow, "actual" | "limit"> => {
  const found: Record<string, number> = {}
  for (const pattern of tables[what]) {
    const groups = pattern.exec(text)?.groups ?? {}
    for (const [name, value] of Object.entries(groups)) {
      if (value === undefined || name.endsWith("Unit") || name in found) continue
      const number = numberOf(value, groups[`${name}Unit`])
      if (number !== undefined) found[name] = number
    }
  }
  const { answer = 0, total } = found
  const actual = found["actual"] ?? (total === undefined ? undefined : total - answer)
  const limit = found["limit"] === undefined ? undefined : found["limit"] - answer
  return {
    ...(actual !== undefined && actual > 0 ? { actual } : {}),
    ...(limit !== undefined && limit > 0 ? { limit } : {})
  }
}

/** Paths into the request that an error names: `"paths": ["messages.3.content.0"]`. */
export const pathsIn = (text: string): ReadonlyArray<string> => {
  const list = /"?paths\\?"?: ?\[([^\]]{1,4000})\]/.exec(text)?.[1]
  return list === undefined
    ? []
    : [...list.matchAll(/"([^"\\]{1,200})\\?"/g)].map((match) => match[1] ?? "")
}

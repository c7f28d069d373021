import type { Overflow } from "@varve/core/Profile"

/** What an error's text says, and how that is found. */
export interface Pattern {
  /** Who says it so, and what is wrong; for logs. */
  readonly reason: string
  readonly test: RegExp
  readonly unit?: NonNullable<Overflow["unit"]>
}

/** What is no overflow, even where the rest of the text looks like one. */
export const neverPatterns: ReadonlyArray<RegExp> = [
  // Limits over time: waiting helps, a smaller request doesn't.
  /(?<![a-z])rate[ _-]?limit/i,
  /RateLimit/,
  /too many requests|too many concurrent|throttl|slow down|please wait/i,
  /retry[ _-]?after|try again (?:in \d|later|after)/i,
  /\bquota|resource[ _]exhausted/i,
  /\b(?:tokens?|requests?|images?|input|output)[ -](?:per|a|each|every)[ -](?:second|minute|min|hour|day|week|month)\b/i,
  /\b(?:TPM|RPM|TPD|RPD|ITPM|OTPM|IPM)\b/,
  /\b(?:daily|hourly|weekly|monthly|per[- ](?:minute|hour|day|month))\b[^\n]{0,60}\b(?:limit|allowance|budget|cap)\b/i,
  /\b(?:limit|allowance|budget|cap)\b[^\n]{0,60}\b(?:per|a|each|every)[- ](?:second|minute|hour|day|week|month)\b/i,
  // The provider's own trouble.
  /overloaded|service (?:is )?(?:currently |temporarily )?unavailable|temporarily unavailable|at capacity/i,
  // Who asks, not what.
  /authenticat|unauthori[sz]ed|permission[ _]denied|\bforbidden\b/i,
  /(?:invalid|incorrect|missing|expired)[^\n]{0,20}api[ _-]?key/i,
  /\b(?:credit|billing|spend|spending|usage)\b[^\n]{0,30}\b(?:limit|balance|cap)\b/i,
  // One field, not the request.
  /string_above_max_length|array_above_max_length/i,
  /invalid '(?!messages|input|prompt|contents?\b)[^'\n]{1,100}'/i
]

/** Statuses that say the same without words. */
export const neverStatuses: ReadonlySet<number> = new Set([401, 402, 403, 407, 429, 503, 529])

/** More images than a request or a message may have; pages of a PDF are images too. */
export const imageCountPatterns: ReadonlyArray<Pattern> = [
  { reason: "too many images", test: /too[ _]many[ _](?:\w+ )?(?:images?|pictures|image_url)\b/i },
  {
    reason: "too many pages",
    test: /too many (?:pdf )?pages|(?:maximum|limit) of \d[\d,]{0,9} (?:pdf )?pages/i
  },
  {
    reason: "maximum number of images",
    test: /max(?:imum)?(?: allowed)? (?:number|count|amount) of (?:input )?images/i
  },
  {
    reason: "at most so many images",
    test: /(?:at most|up to|no more than|maximum of|max of|limited to) \d[\d,]{0,9} (?:\w+ )?(?:image|picture)/i
  },
  {
    reason: "number of images over the limit",
    test: /(?:number|count|amount) of (?:\w+ )?images?\b[^\n]{0,60}(?:exceed|more than|greater than|over|above|surpass)/i
  },
  {
    reason: "so many images over the limit",
    test: /\d[\d,]{0,9} (?:\w+ )?images\b[^\n]{0,60}(?:exceed|more than|over the|above the|limit is|maximum is)/i
  },
  {
    reason: "limit of so many images",
    test: /(?:limit|maximum|max)(?: is| of|:)? \d[\d,]{0,9} (?:\w+ )?images?\b/i
  },
  {
    reason: "image limit",
    test: /image(?:s|_| )?(?:count |input )?limit (?:was |is |has been )?(?:exceeded|reached)/i
  },
  {
    reason: "image count in a code",
    test: /max_images|image_count_exceeded|images_per_(?:request|message|prompt)/i
  },
  {
    reason: "vLLM: items of a prompt",
    test: /limit[-_]mm[-_]per[-_]prompt|passed \d[\d,]{0,9} image items/i
  }
]

const size = String.raw`\d[\d,.]{0,14} ?(?:[kmg]i?b|(?:kilo|mega)?bytes)\b`

/** One image that is too large, in bytes, pixels or patches. */
export const imageSizePatterns: ReadonlyArray<Pattern> = [
  {
    reason: "Anthropic: image_dimensions_too_large",
    test: /image_dimensions_too_large/i,
    unit: "px"
  },
  { reason: "Anthropic: many-image requests", test: /many-image requests?/i, unit: "px" },
  {
    reason: "too many patches",
    test: /patches[^\n]{0,60}(?:exceed|limit|max|more than)|(?:exceed|limit|max|more than)[^\n]{0,40}patches/i,
    unit: "patches"
  },
  {
    reason: "image over a size in bytes",
    test: new RegExp(
      String.raw`image\b[^\n]{0,80}(?:exceed|larger than|bigger than|over|above|max|limit|less than|smaller than|at most|under)[^\n]{0,40}?${size}`,
      "i"
    ),
    unit: "bytes"
  },
  {
    reason: "image over a size in pixels",
    test: /image\b[^\n]{0,60}(?:dimension|resolution|width|height|edge|side|pixel|px\b)[^\n]{0,60}(?:exceed|too (?:large|big|high)|at most|no more|must not|less than|smaller than|max|greater than the|larger than the)/i,
    unit: "px"
  },
  {
    reason: "image over a size in pixels",
    test: /(?:exceed|too large|at most|larger than the)[^\n]{0,40}image (?:dimension|resolution|width|height|size)/i,
    unit: "px"
  },
  { reason: "image too elongated", test: /aspect ratio[^\n]{0,30}must be (?:smaller|less)/i },
  {
    reason: "image too large",
    test: /image(?:s|_url)?\b(?: file| data| input)?(?: size)?(?: is| are| was)? too (?:large|big)|image_too_(?:large|big)/i
  }
]

/** More tokens than the window, or than the provider takes as input. */
export const tokenPatterns: ReadonlyArray<Pattern> = [
  { reason: "Anthropic, z.ai, Ollama: prompt too long", test: /prompt (?:is )?too long/i },
  { reason: "z.ai: prompt exceeds max length", test: /prompt exceeds? max(?:imum)? length/i },
  { reason: "Amazon Bedrock: input too long", test: /input (?:is )?too long/i },
  {
    reason: "OpenAI: exceeds the context window",
    test: /exceed(?:s|ed)? the (?:model'?s )?context window/i
  },
  { reason: "context_length_exceeded", test: /context[_ ]?length[_ ]?exceeded/i },
  {
    reason: "exceeds the maximum context length",
    test: /exceed(?:s|ed)? (?:the )?(?:model'?s )?max(?:imum)? context length/i
  },
  { reason: "maximum context length", test: /maximum context length (?:is|of) \(?\d/i },
  {
    reason: "OpenAI: input tokens over the configured limit",
    test: /input tokens? exceeds? the configured limit/i
  },
  { reason: "LiteLLM: context window exceeded", test: /context[_ ]?window[_ ]?exceeded/i },
  {
    reason: "LiteLLM: context limit",
    test: /exceeds? (?:the )?context limit|model'?s maximum context limit/i
  },
  { reason: "longer than the context length", test: /longer than the model'?s context length/i },
  {
    reason: "Google: input token count",
    test: /input token count[^\n]{0,80}(?:exceeds? the max|only supports up to)/i
  },
  {
    reason: "exceeds the maximum number of tokens",
    test: /exceeds? the max(?:imum)? (?:number of )?(?:input |prompt )?tokens/i
  },
  { reason: "xAI: maximum prompt length", test: /maximum prompt length is \d/i },
  {
    reason: "Groq: reduce the length",
    test: /reduce the length of (?:the|your) (?:messages|prompt|input)/i
  },
  { reason: "OpenRouter: maximum allowed input length", test: /maximum allowed input length/i },
  {
    reason: "TGI: inputs and max_new_tokens",
    test: /inputs`? tokens \+ `?max_new_tokens`? must be/i
  },
  {
    reason: "GitHub Copilot: exceeds the limit",
    test: /token[^\n]{0,60}exceeds the limit of \d[\d,]{0,14}\b(?! ?(?:char|word|item|stop|byte|image|tool))/i
  },
  { reason: "llama.cpp: available context size", test: /exceeds? the available context size/i },
  {
    reason: "LM Studio: greater than the context length",
    test: /greater than the context length/i
  },
  { reason: "configured context size", test: /configured context size is \d/i },
  {
    reason: "MiniMax: context window exceeds limit",
    test: /context window exceeds? (?:the )?limit/i
  },
  { reason: "Kimi: model token limit", test: /exceeded (?:the )?model token limit/i },
  {
    reason: "Mistral: too large for model",
    test: /too large for model with \d[\d,]{0,14} maximum context/i
  },
  { reason: "DashScope: range of input length", test: /range of input length should be/i },
  {
    reason: "string too long",
    test: /string too long\. expected a string with maximum length \d[\d,]{4,14}/i
  },
  {
    reason: "current length over the limit",
    test: /current length is \d[^\n]{0,60}while (?:the )?limit is/i
  },
  { reason: "maximum input length", test: /maximum input length is \d[\d,]{0,14} tok/i },
  { reason: "model_context_window_exceeded", test: /model_context_window_exceeded/i },
  { reason: "too many tokens", test: /too many (?:input |prompt |total )?tokens/i },
  { reason: "token limit exceeded", test: /token limit (?:was |is |has been )?exceeded/i }
]

/** A request with too many bytes. */
export const bytePatterns: ReadonlyArray<Pattern> = [
  { reason: "Anthropic: request_too_large", test: /request_too_large/i },
  {
    reason: "request too large",
    test: /(?:request|payload|entity|body|content)(?: entity| body| payload)?(?: size)?(?: is)?[ _]too[ _]large|PayloadTooLarge/i
  },
  {
    reason: "request over a size",
    test: /(?:request|payload|body)(?: payload| body)? (?:size|length)[^\n]{0,60}exceed|exceed[^\n]{0,40}(?:request|payload|body) (?:payload |body )?(?:size|length)/i
  },
  {
    reason: "request over a size",
    test: /(?:request|payload|body)\b[^\n]{0,20}exceeds? (?:the )?(?:max(?:imum)? )?(?:allowed )?(?:request )?(?:size|bytes|content length)/i
  }
]

/** All images of a request together over a size in bytes. */
export const allImagesPatterns: ReadonlyArray<Pattern> = [
  {
    reason: "all images together over a size",
    test: new RegExp(
      String.raw`(?:total|combined|cumulative|sum)[^\n]{0,30}image[^\n]{0,60}${size}|images[^\n]{0,60}(?:in total|combined|together)[^\n]{0,40}${size}`,
      "i"
    )
  }
]

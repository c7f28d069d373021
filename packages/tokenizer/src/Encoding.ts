import { lookup, readings } from "./internal/names.ts"

/** The encodings that tiktoken has. */
export const encodingNames = [
  "o200k_base",
  "cl100k_base",
  "p50k_base",
  "p50k_edit",
  "r50k_base",
  "gpt2"
] as const

/** An encoding of tiktoken. */
export type EncodingName = (typeof encodingNames)[number]

/** Which encoding counts for a model. */
export interface ModelEncoding {
  readonly encoding: EncodingName
  /** True where it is the model's own; else it is the nearest, and counts are off by a ratio. */
  readonly own: boolean
  /** Set where the model is not known: what is used instead. */
  readonly warning?: string
}

/** Beginnings of model names and their encodings; the longest that fits holds. */
const OWN: Readonly<Record<string, EncodingName>> = {
  // From gpt-4o on. Assumed for what comes after gpt-5, which OpenAI has not published.
  "gpt-": "o200k_base",
  // o200k_harmony: the same vocabulary with more special tokens, which are text here.
  "gpt-oss": "o200k_base",
  "chatgpt-": "o200k_base",
  "codex-": "o200k_base",
  "computer-use": "o200k_base",
  o1: "o200k_base",
  o3: "o200k_base",
  o4: "o200k_base",
  "gpt-4": "cl100k_base",
  "gpt-4o": "o200k_base",
  "gpt-4.": "o200k_base",
  "gpt-3": "cl100k_base",
  "gpt-35": "cl100k_base",
  "text-embedding": "cl100k_base",
  "davinci-002": "cl100k_base",
  "babbage-002": "cl100k_base",
  "text-davinci-002": "p50k_base",
  "text-davinci-003": "p50k_base",
  "code-davinci": "p50k_base",
  "code-cushman": "p50k_base",
  "code-search": "r50k_base",
  "davinci-codex": "p50k_base",
  "cushman-codex": "p50k_base",
  "text-davinci-edit": "p50k_edit",
  "code-davinci-edit": "p50k_edit",
  "text-davinci": "r50k_base",
  "text-curie": "r50k_base",
  "text-babbage": "r50k_base",
  "text-ada": "r50k_base",
  "text-similarity": "r50k_base",
  "text-search": "r50k_base",
  davinci: "r50k_base",
  curie: "r50k_base",
  babbage: "r50k_base",
  ada: "r50k_base",
  gpt2: "gpt2",
  "gpt-2": "gpt2"
}

/** Families with a vocabulary of their own: o200k_base is the nearest that tiktoken has. */
const OTHERS =
  /^(claude|gemini|gemma|qwen|qwq|qvq|ui-tars|llama|meta-llama|mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral|deepseek|glm|autoglm|kimi|moonshot|grok|minimax|mimo|command|nova|phi)/

/**
 * Which encoding counts for a model, by its name.
 *
 * The longest beginning that is listed holds, in `overrides` before the built-in list; a provider, a router or
 * a region in front is passed over. An unknown name gets `o200k_base` and a warning that says so. Never fails.
 *
 * Built in: OpenAI's models, as in tiktoken 1.0.22's own list, which throws for names from gpt-5.1 on.
 *
 * @example
 * ```ts
 * import { encodingOf } from "@varve/tokenizer/Encoding"
 *
 * console.log(encodingOf("openai/gpt-5.4").encoding) // => o200k_base
 * console.log(encodingOf("ft:gpt-3.5-turbo:acme").encoding) // => cl100k_base
 * console.log(encodingOf("my-model", { "my-": "cl100k_base" }).own) // => true
 * console.log(encodingOf("my-model").warning) // => No encoding is known for "my-model": counted with o200k_base
 * ```
 */
export const encodingOf = (
  model: string,
  overrides: Readonly<Record<string, EncodingName>> = {}
): ModelEncoding => {
  const own = lookup(overrides, model) ?? lookup(OWN, model)
  if (own !== undefined) return { encoding: own, own: true }
  if (readings(model).some((name) => OTHERS.test(name)))
    return { encoding: "o200k_base", own: false }
  return {
    encoding: "o200k_base",
    own: false,
    warning: `No encoding is known for ${JSON.stringify(model.slice(0, 80))}: counted with o200k_base`
  }
}

/** True for the name of an encoding that tiktoken has. */
export const isEncodingName = (name: unknown): name is EncodingName =>
  encodingNames.includes(name as EncodingName)

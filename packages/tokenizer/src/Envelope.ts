/** What a provider puts around what is sent. Tokens of the encoding that the model is counted with, but for `toolPrompt`. */
export interface Envelope {
  /** Around a message. */
  readonly message: number
  /** Around a tool result. */
  readonly result: number
  /** Around a tool call, beside its name and arguments. */
  readonly call: number
  /** The prompt that is added as soon as there are tools, in the provider's own tokens. */
  readonly toolPrompt: number
  /** True where tool definitions are written out as OpenAI does, not as JSON. */
  readonly functions: boolean
}

const other: Envelope = { message: 4, result: 12, call: 10, toolPrompt: 0, functions: false }
const openai: Envelope = { message: 4, result: 10, call: 12, toolPrompt: 0, functions: true }
const gemini: Envelope = { message: 1, result: 4, call: 4, toolPrompt: 0, functions: false }
const claude: Envelope = { message: 3, result: 9, call: 45, toolPrompt: 496, functions: false }

/** Tokens of Claude's tool-use prompt with tool choice `auto`; the first that fits holds. */
const TOOL_PROMPTS: ReadonlyArray<readonly [RegExp, number]> = [
  [/opus-5/, 286],
  [/opus-4[.-]8/, 290],
  [/opus-4[.-]7/, 675],
  [/(opus|sonnet)-4[.-]6/, 497],
  [/sonnet-5/, 354],
  [/haiku-4[.-]5/, 496]
]

/**
 * What a model's provider puts around messages, results, calls and tools.
 *
 * Claude's and Gemini's figures, and those around results and calls, were fitted to the usage that real
 * sessions report (`bench/src/token-accuracy.ts`): five hosts, ten sessions, 2026-11-29. Claude's tool prompts
 * are Anthropic's own figures, those of other Claude models are taken to be Haiku 4.5's.
 *
 * @example
 * ```ts
 * import { envelopeOf } from "@varve/tokenizer/Envelope"
 *
 * console.log(envelopeOf("anthropic/claude-opus-5.5").toolPrompt) // => 286
 * console.log(envelopeOf("gpt-5.5").result) // => 10
 * ```
 */
export const envelopeOf = (model: string): Envelope => {
  const name = model.toLowerCase()
  if (/claude/.test(name)) {
    const prompt = TOOL_PROMPTS.find(([models]) => models.test(name))
    return prompt === undefined ? claude : { ...claude, toolPrompt: prompt[1] }
  }
  if (/gemini|gemma/.test(name)) return gemini
  return /(^|[/:.@])(ft:)?(gpt-|o[134](-|$)|chatgpt-|codex-|computer-use)/.test(name)
    ? openai
    : other
}

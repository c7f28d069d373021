import { createRequire } from "node:module"
import type { EncodingName } from "../src/Encoding.ts"

const require = createRequire(import.meta.url)

interface Lite {
  readonly Tiktoken: new (
    ranks: string,
    special: Record<string, number>,
    pattern: string
  ) => {
    readonly encode_ordinary: (text: string) => Uint32Array
    readonly free: () => void
  }
}

/** tiktoken itself, with special tokens as text: what counts are compared with. */
export const tiktoken = (name: EncodingName) => {
  const { Tiktoken } = require("tiktoken/lite") as Lite
  const ranks = require(`tiktoken/encoders/${name}.json`) as {
    readonly bpe_ranks: string
    readonly special_tokens: Record<string, number>
    readonly pat_str: string
  }
  const encoding = new Tiktoken(ranks.bpe_ranks, ranks.special_tokens, ranks.pat_str)
  return {
    count: (text: string) => encoding.encode_ordinary(text).length,
    free: () => encoding.free()
  }
}

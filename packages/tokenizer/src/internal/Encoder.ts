import type { EncodingName } from "../Encoding.ts"
import { pieceCounter } from "./pieces.ts"
import { TextCounts } from "./TextCounts.ts"

/** A loaded encoding. */
interface Encoder {
  /** Tokens of a text; below 0 where a run was cut: then `-1 - tokens`, an estimate. */
  readonly count: (text: string) => number
  readonly free: () => void
}

/** One encoding of this process: loaded once, freed when its last user is gone. */
interface Slot {
  users: number
  encoder: Encoder | undefined
  loading: Promise<void> | undefined
}

const slots = new Map<EncodingName, Slot>()

/** One user's hold on an encoding. */
export interface EncoderRef {
  /** Nothing until it is loaded. */
  readonly encoder: () => Encoder | undefined
  /** Loads it, once. Rejects where tiktoken can't be loaded; a later call tries again. */
  readonly load: () => Promise<void>
  readonly release: () => void
}

/** Holds an encoding; the first call of `load` loads it. */
export const holdEncoder = (name: EncodingName): EncoderRef => {
  const slot: Slot = slots.get(name) ?? { users: 0, encoder: undefined, loading: undefined }
  slots.set(name, slot)
  slot.users++
  let held = true
  return {
    encoder: () => (held ? slot.encoder : undefined),
    load: async () => {
      if (slot.encoder !== undefined) return
      slot.loading ??= open(name)
        .then((encoder) => {
          if (slot.users > 0) slot.encoder = encoder
          else encoder.free()
        })
        .finally(() => {
          slot.loading = undefined
        })
      await slot.loading
    },
    release: () => {
      if (!held) return
      held = false
      if (--slot.users > 0) return
      slot.encoder?.free()
      slot.encoder = undefined
    }
  }
}

interface Ranks {
  readonly pat_str: string
  readonly special_tokens: Record<string, number>
  readonly bpe_ranks: string
}

/** CommonJS on Node, a module in bundlers: the ranks are the default of the one, or of the default of the other. */
type Loaded = Promise<{ readonly default: Ranks | { readonly default: Ranks } }>

const ranksOf: Readonly<Record<EncodingName, () => Loaded>> = {
  o200k_base: () => import("tiktoken/encoders/o200k_base"),
  cl100k_base: () => import("tiktoken/encoders/cl100k_base"),
  p50k_base: () => import("tiktoken/encoders/p50k_base"),
  p50k_edit: () => import("tiktoken/encoders/p50k_edit"),
  r50k_base: () => import("tiktoken/encoders/r50k_base"),
  gpt2: () => import("tiktoken/encoders/gpt2")
}

const open = async (name: EncodingName): Promise<Encoder> => {
  const [{ Tiktoken }, { default: loaded }] = await Promise.all([
    import("tiktoken/lite"),
    ranksOf[name]()
  ])
  const ranks = "default" in loaded ? loaded.default : loaded
  const tiktoken = new Tiktoken(ranks.bpe_ranks, ranks.special_tokens, ranks.pat_str)
  const pieces = pieceCounter(ranks.pat_str, (text) => tiktoken.encode_ordinary(text).length)
  const texts = new TextCounts()
  const fresh = (text: string): number => {
    const before = pieces.cuts()
    const tokens = pieces.count(text)
    return pieces.cuts() === before ? tokens : -1 - tokens
  }
  return {
    count: (text) => texts.of(text, fresh),
    free: () => tiktoken.free()
  }
}

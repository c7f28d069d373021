import { type Counter, makeCounter } from "@varve/core/Counter"
import { estimateTokens } from "@varve/core/Estimate"
import type { ImageSize } from "@varve/core/ImageSize"
import type { Profile } from "@varve/core/Profile"
import * as Effect from "effect/Effect"
import { type EncodingName, encodingOf, isEncodingName, type ModelEncoding } from "../Encoding.ts"
import { envelopeOf } from "../Envelope.ts"
import { functionTokens } from "../FunctionTokens.ts"
import { imageTokens } from "../ImageTokens.ts"
import type { EncoderRef } from "./Encoder.ts"
import { lookup } from "./names.ts"

/** The encoding for a profile: the user's choice, else the profile's, else that of the model's name. */
export const chooseEncoding = (
  profile: Pick<Profile, "model" | "encoding" | "ratio">,
  overrides: Readonly<Record<string, EncodingName>>
): ModelEncoding => {
  const chosen = encodingOf(profile.model, overrides)
  const own = chosen.own && (profile.ratio ?? 1) === 1
  const { encoding } = profile
  if (encoding === undefined || lookup(overrides, profile.model) !== undefined)
    return { ...chosen, own }
  if (isEncodingName(encoding)) return { encoding, own }
  const warning = `tiktoken has no encoding ${JSON.stringify(encoding.slice(0, 40))}: counted with ${chosen.encoding}`
  return { encoding: chosen.encoding, own: false, warning }
}

const warned = new Set<string>()

const warnOnce = (warning: string): void => {
  if (warned.has(warning)) return
  warned.add(warning)
  console.warn(`@varve/tokenizer: ${warning}`)
}

/** A counter on an encoder that may not be loaded yet. */
export const counterOn = (
  ref: EncoderRef,
  choice: ModelEncoding,
  profile: Pick<Profile, "model"> & Partial<Pick<Profile, "image">>,
  onWarning: ((warning: string) => void) | undefined
): Counter => {
  const warn = onWarning ?? warnOnce
  if (choice.warning !== undefined) warn(choice.warning)
  const envelope = envelopeOf(profile.model)
  const rule = profile.image ?? { rule: "flat", tokens: 1600 }
  let estimates = 0
  let failed = false
  const text = (value: string): number => {
    const encoder = ref.encoder()
    if (encoder === undefined) {
      estimates++
      return estimateTokens(value)
    }
    const tokens = encoder.count(value)
    if (tokens >= 0) return tokens
    estimates++
    return -1 - tokens
  }
  const settled = () => failed || ref.encoder() !== undefined
  const load = () =>
    ref.load().catch((cause: unknown) => {
      failed = true
      warn(`tiktoken could not be loaded, counts are estimates: ${String(cause).slice(0, 200)}`)
    })
  return makeCounter({
    name: `tiktoken ${choice.encoding}`,
    text,
    image: (size: ImageSize | undefined, detail?: string) => {
      if (rule.rule === "flat") estimates++
      return imageTokens(rule, size, detail)
    },
    perMessage: envelope.message,
    perResult: envelope.result,
    perCall: envelope.call,
    toolPrompt: envelope.toolPrompt,
    ...(envelope.functions
      ? { tools: (tools: ReadonlyArray<unknown>) => functionTokens(tools, text) }
      : {}),
    source: choice.own ? "counted" : "estimated",
    estimates: () => estimates,
    settled,
    ready: Effect.suspend(() => (settled() ? Effect.void : Effect.promise(load)))
  })
}

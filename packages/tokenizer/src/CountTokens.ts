import type { Counter, CountSource, Overhead } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import type { Profile } from "@varve/core/Profile"
import { chooseEncoding, counterOn } from "./internal/counterOn.ts"
import { type EncoderRef, holdEncoder } from "./internal/Encoder.ts"
import type { EncodingName } from "./Encoding.ts"

interface Kept {
  readonly counter: Counter
  readonly ref: EncoderRef
}

const refs = new Map<EncodingName, EncoderRef>()
const byName = new Map<string, Kept>()
const byProfile = new WeakMap<Profile, Kept>()

const keep = (profile: Pick<Profile, "model"> & Partial<Profile>): Kept => {
  const choice = chooseEncoding(profile, {})
  let ref = refs.get(choice.encoding)
  if (ref === undefined) refs.set(choice.encoding, (ref = holdEncoder(choice.encoding)))
  return { ref, counter: counterOn(ref, choice, profile, undefined) }
}

const keptFor = (model: string | Profile): Kept => {
  if (typeof model !== "string") {
    const known = byProfile.get(model) ?? keep(model)
    byProfile.set(model, known)
    return known
  }
  const known = byName.get(model) ?? keep({ model })
  if (byName.size >= 100) byName.clear()
  byName.set(model, known)
  return known
}

/**
 * The tokens of a whole request: messages, system text and tools, with what the provider puts around them.
 *
 * `model` is a name or a profile (`profile("…")` of `@varve/profiles`). A name alone says which encoding counts;
 * a profile also says what images cost and how far the model's own tokenizer is from that encoding.
 * `source` is `counted` where every figure comes from the model's own encoding and rules, else `estimated`.
 *
 * Loads the encoding at the first call (about 170 ms) and keeps it for the life of the process; what was
 * counted once is remembered. Never rejects: without tiktoken, the figure is core's estimate.
 *
 * @example
 * ```ts
 * import { countTokens } from "@varve/tokenizer/CountTokens"
 *
 * const messages = [{ role: "user" as const, content: "What is on the screen?" }]
 * const { source, tokens } = await countTokens({ system: "You are a helpful agent.", messages }, "gpt-5.5")
 * console.log(tokens, source) // => 20 counted
 * ```
 */
export const countTokens = async (
  request: Overhead & { readonly messages: ReadonlyArray<Message> },
  model: string | Profile
): Promise<{ readonly tokens: number; readonly source: CountSource }> => {
  const { counter, ref } = keptFor(model)
  await ref.load().catch(() => undefined)
  const { fixed, source, tokens } = counter.request(request)
  const ratio = typeof model === "string" ? 1 : (model.ratio ?? 1)
  return { tokens: Math.round(fixed + ratio * (tokens - fixed)), source }
}

import type { Profile } from "@varve/core/Profile"
import { classify } from "./Classify.ts"
import { providers } from "./internal/providers.ts"
import { resolve } from "./internal/resolve.ts"
import { warn } from "./internal/warn.ts"
import { type ProfileOverrides, withOverrides } from "./ProfileOverrides.ts"

/** Where warnings go. */
export interface ProfileOptions {
  /**
   * Called where a model is not known, with a text that says what holds instead. Without it, the text goes to
   * `console.warn`, once for each name and process. It stands in the profile's `warning` as well.
   */
  readonly onWarning?: ((warning: string) => void) | undefined
}

/**
 * The facts about a model by its name, with the classifier of providers' errors.
 *
 * A name is found exactly, else by the longest listed name that it starts with, else its provider's nearest model
 * stands in, else a default holds (128 000 tokens, no provider limits); the last two come with a warning. Names may
 * be written as `anthropic/claude-opus-5.5` or `claude-opus-5-5`, with a date (`claude-sonnet-4-5-20250929`), as on
 * Amazon Bedrock (`us.anthropic.claude-sonnet-4-5-20250929-v1:0`), on Vertex AI (`claude-opus-4-5@20251101`) or
 * behind a router (`openrouter/anthropic/claude-opus-5.5:beta`).
 *
 * An unknown name never fails. Throws `ConfigError` for a wrong override.
 *
 * @example
 * ```ts
 * import { profile } from "@varve/profiles"
 *
 * const opus = profile("anthropic/claude-opus-5.5", { limits: { images: 100 } })
 * console.log(opus.contextWindow, opus.prices.cacheRead, opus.limits.images) // => 1000000 0.2 100
 * ```
 */
export const profile = (
  name: string,
  overrides: ProfileOverrides = {},
  options: ProfileOptions = {}
): Profile => {
  const found = withOverrides({ ...resolve(name), classify }, overrides)
  warn(found, options.onWarning)
  return found
}

/**
 * The names of all models whose facts are listed, as `provider/model`.
 *
 * @example
 * ```ts
 * import { modelNames } from "@varve/profiles"
 *
 * console.log(modelNames().includes("openai/gpt-5.4")) // => true
 * ```
 */
export const modelNames = (): ReadonlyArray<string> =>
  providers.flatMap((p) => Object.keys(p.models).map((model) => `${p.provider}/${model}`))

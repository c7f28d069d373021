import type { Profile } from "@varve/core"
import { profile } from "@varve/profiles"
import type { CacheKind } from "@varve/simulator"

/** A price sheet with its cache rule. No window and no limits: prices alone decide. Tokens are the counter's. */
export interface Sheet {
  readonly name: string
  readonly cache: CacheKind
  readonly profile: Profile
  /** True where a host can set cache marks. */
  readonly marks: boolean
}

const sheet = (name: string, cache: CacheKind, given: Profile): Sheet => ({
  name,
  cache,
  profile: { ...given, contextWindow: 100_000_000, limits: {}, reasoning: "none", ratio: 1 },
  marks: given.cache.kind === "marks"
})

/** Two dollars a million in, ten out, and nothing is cached. */
const uncached: Profile = {
  ...profile("claude-opus-4.8"),
  prices: { input: 2, output: 10, cacheRead: 2, cacheWrite: 2 },
  cache: { kind: "none", minimum: 0, lifetime: 0 }
}

export const sheets: ReadonlyArray<Sheet> = [
  sheet("opus-4.8", "anthropic", profile("claude-opus-4.8")),
  sheet("opus-5.5", "anthropic", profile("claude-opus-5.5")),
  sheet("haiku-4.5", "anthropic", profile("claude-haiku-4.5")),
  sheet("fable-5.2", "anthropic", profile("claude-fable-5.2")),
  sheet("gpt-6.2-sol", "openai-56", profile("gpt-6.2-sol")),
  sheet("gpt-5.4", "lcp", profile("gpt-5.4")),
  sheet("gemini-4-argon", "lcp", profile("gemini-4-argon")),
  sheet("no cache", "none", uncached)
]

import { ConfigError } from "@varve/core/VarveError"
import { defaultProfile } from "@varve/core/Profile"
import { modelNames, profile } from "@varve/profiles"
import * as fc from "fast-check"
import { describe, expect, it, vi } from "vitest"

const quiet = { onWarning: () => {} }

/** The profile, and every warning that it gave. */
const resolved = (name: string) => {
  const warnings: Array<string> = []
  return { ...profile(name, {}, { onWarning: (w) => warnings.push(w) }), warnings }
}

describe("names", () => {
  it.each([
    ["anthropic/claude-opus-5.5", "anthropic/claude-opus-5.5"],
    ["claude-opus-5-5", "anthropic/claude-opus-5.5"],
    ["Claude-Opus-5.5", "anthropic/claude-opus-5.5"],
    ["  claude-opus-5.5 ", "anthropic/claude-opus-5.5"],
    ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5"],
    ["claude-sonnet-4-20250514", "anthropic/claude-sonnet-4"],
    ["claude-opus-4-0", "anthropic/claude-opus-4"],
    ["claude-3-5-sonnet-20241022", "anthropic/claude-3.5-sonnet"],
    ["claude-3-5-haiku-latest", "anthropic/claude-3.5-haiku"],
    ["claude-4.5-sonnet", "anthropic/claude-sonnet-4.5"],
    ["claude-sonnet-4-5[1m]", "anthropic/claude-sonnet-4.5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4.5"],
    ["anthropic.claude-opus-4-6-v1", "anthropic/claude-opus-4.6"],
    ["global.anthropic.claude-fable-5-2", "anthropic/claude-fable-5.2"],
    ["us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4.5"],
    ["bedrock/anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic/claude-haiku-4.5"],
    [
      "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0",
      "anthropic/claude-opus-4.5"
    ],
    ["anthropic/claude-opus-4-5@20251101", "anthropic/claude-opus-4.5"],
    ["vertex_ai/claude-sonnet-4-6@default", "anthropic/claude-sonnet-4.6"],
    ["openrouter/anthropic/claude-opus-5.5", "anthropic/claude-opus-5.5"],
    ["openrouter/anthropic/claude-opus-5.5:beta", "anthropic/claude-opus-5.5"],
    ["github-copilot/claude-haiku-4.5", "anthropic/claude-haiku-4.5"],
    ["gpt-4o-2024-08-06", "openai/gpt-4o"],
    ["gpt-5-chat-latest", "openai/gpt-5-chat"],
    ["ft:gpt-4o-mini-2024-07-18:acme::abc", "openai/gpt-4o-mini"],
    ["azure/gpt-5.4", "openai/gpt-5.4"],
    ["openai-codex/gpt-5.6-sol", "openai/gpt-5.6-sol"],
    ["groq/openai/gpt-oss-120b", "openai/gpt-oss-120b"],
    ["models/gemini-2.5-flash", "google/gemini-2.5-flash"],
    ["publishers/google/models/gemini-4-argon", "google/gemini-4-argon"],
    ["x-ai/grok-4.7", "xai/grok-4.7"],
    ["z-ai/glm-5.3", "zai/glm-5.3"],
    ["mistral/zai-glm-5-3", "zai/glm-5.3"],
    ["kimi-coding/k3", "moonshotai/kimi-k3"],
    ["moonshotai.kimi-k2.5", "moonshotai/kimi-k2.5"],
    ["MiniMaxAI/MiniMax-M3", "minimax/minimax-m3"],
    ["deepseek.v3-v1:0", "deepseek/deepseek-v3"]
  ])("%s is %s", (name, model) => {
    const found = resolved(name)
    expect(found.model).toBe(model)
    expect(found.warnings).toEqual([])
  })

  it.each(modelNames())("%s is found by its own name, with and without its provider", (name) => {
    const whole = resolved(name)
    const bare = resolved(name.slice(name.indexOf("/") + 1))
    expect(whole.model).toBe(name)
    expect(bare).toEqual(whole)
    expect(whole.warnings).toEqual([])
  })
})

describe("resolution", () => {
  it("takes an exact name before a prefix", () => {
    expect(resolved("gpt-5-mini").prices.input).toBe(0.25)
    expect(resolved("gpt-5").prices.input).toBe(1.25)
    expect(resolved("gpt-4o-mini").image).toEqual({ rule: "tiles", base: 2833, tile: 5667 })
  })

  it("takes the longest prefix, and keeps the model's own name", () => {
    const codex = resolved("gpt-5.4-mini-codex")
    expect(codex.model).toBe("openai/gpt-5.4-mini-codex")
    expect(codex.prices.input).toBe(0.75)
    expect(codex.warnings).toEqual([])
    expect(resolved("gpt-4o-audio-preview").image.rule).toBe("tiles")
    expect(resolved("qwen3-vl-235b-a22b-instruct").image).toMatchObject({ factor: 32 })
  })

  it("does not take a version for a prefix of the next one", () => {
    const next = resolved("gpt-5.7")
    expect(next.image.rule).toBe("patches")
    expect(next.warnings).toHaveLength(1)
    expect(resolved("claude-opus-4-9").warnings).toHaveLength(1)
  })

  it("lets the provider's nearest model stand in for one that is not listed, with one warning", () => {
    const haiku = resolved("anthropic/claude-haiku-7")
    expect(haiku.model).toBe("anthropic/claude-haiku-7")
    expect(haiku.prices).toEqual(resolved("claude-haiku-5.5").prices)
    expect(haiku.warnings).toHaveLength(1)
    expect(haiku.warnings[0]).toContain('"anthropic/claude-haiku-7"')
    expect(haiku.warnings[0]).toContain("anthropic/claude-haiku-5.5")
    expect(haiku.warning).toBe(haiku.warnings[0])
    expect(haiku.source).toMatch(/^stand-in: facts of anthropic\/claude-haiku-5\.5; /)
    expect(resolved("google/something-new").image.rule).toBe("levels")
    expect(resolved("openrouter/deepseek/new-thing").model).toBe("deepseek/new-thing")
  })

  it("an unknown model gives the documented default and one warning that says to what", () => {
    const found = resolved("acme/thinker-9")
    expect(found.model).toBe("acme/thinker-9")
    expect(found.contextWindow).toBe(128_000)
    expect(found.reserveOutput).toBe(8192)
    expect(found).toMatchObject({
      image: defaultProfile.image,
      limits: {},
      cache: defaultProfile.cache,
      prices: defaultProfile.prices,
      source: defaultProfile.source
    })
    expect(found.classify).toBeTypeOf("function")
    expect(found.warnings).toHaveLength(1)
    expect(found.warnings[0]).toMatch(/"acme\/thinker-9".*128000 tokens/)
  })

  it("odd names give the default and never fail", () => {
    for (const name of ["", "  ", "/", "///", "__proto__", "constructor", "a".repeat(100_000)]) {
      expect(resolved(name).contextWindow).toBe(128_000)
    }
    for (const name of [undefined, null, 7, {}, ["gpt-4o"]]) {
      expect(profile(name as never, {}, quiet).model).toBe("unknown")
    }
    expect(resolved("anthropic/__proto__").model).toBe("anthropic/__proto__")
    expect(resolved("anthropic/constructor")).toMatchObject({
      contextWindow: 1_000_000,
      model: "anthropic/constructor"
    })
    expect(resolved("anthropic/constructor").warnings).toHaveLength(1)
  })

  it("any text gives a profile with room for input", () => {
    const parts = [
      "anthropic",
      "openai",
      "openrouter",
      "claude",
      "gpt-5",
      "opus",
      "4-5",
      "20250101",
      "v1:0",
      "@",
      ".",
      "-",
      "/",
      ":"
    ]
    const names = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((list) => list.join("")),
      fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((list) => list.join("-"))
    )
    fc.assert(
      fc.property(names, (name) => {
        const found = profile(name, {}, quiet)
        expect(found.reserveOutput).toBeLessThan(found.contextWindow)
        expect(found.classify).toBeTypeOf("function")
      }),
      { numRuns: 1000 }
    )
  })

  it("the route to a model changes its limits and nothing else", () => {
    const direct = resolved("anthropic/claude-opus-4.8")
    const bedrock = resolved("amazon-bedrock/eu.anthropic.claude-opus-4-8")
    expect(bedrock.source).toContain("Bedrock")
    expect({ ...bedrock, limits: 0, source: 0 }).toEqual({ ...direct, limits: 0, source: 0 })
    expect(resolved("amazon-bedrock/openai.gpt-oss-120b-1:0").limits.imagesPerMessage).toBe(20)
  })
})

describe("warnings", () => {
  it("go to the console once for a name where no handler is given", () => {
    const said = vi.spyOn(console, "warn").mockImplementation(() => {})
    try {
      profile("acme/once")
      profile("acme/once")
      profile("acme/twice")
      profile("claude-opus-5.5")
      expect(said.mock.calls.map(([text]) => String(text))).toEqual([
        expect.stringContaining('"acme/once"'),
        expect.stringContaining('"acme/twice"')
      ])
    } finally {
      said.mockRestore()
    }
  })

  it("go to the handler alone, each time", () => {
    const said = vi.spyOn(console, "warn").mockImplementation(() => {})
    const handler = vi.fn()
    try {
      profile("acme/handled", {}, { onWarning: handler })
      profile("acme/handled", {}, { onWarning: handler })
      expect(handler).toHaveBeenCalledTimes(2)
      expect(said).not.toHaveBeenCalled()
    } finally {
      said.mockRestore()
    }
  })
})

describe("overrides", () => {
  it("replace any field", () => {
    const classify = () => undefined
    const overrides = {
      model: "mine",
      contextWindow: 50_000,
      reserveOutput: 1000,
      vision: false,
      image: { rule: "flat", tokens: 7 },
      reasoning: "error",
      startsWithUser: false,
      encoding: "cl100k_base",
      ratio: 2,
      source: "measured",
      date: "2026-01-01",
      classify
    } as const
    expect(profile("claude-opus-5.5", overrides)).toMatchObject(overrides)
  })

  it("of limits, cache and prices are laid over field by field", () => {
    const facts = profile("claude-opus-5.5")
    const own = profile("claude-opus-5.5", {
      limits: { images: 5 },
      cache: { lifetime: 3_600_000 },
      prices: { input: 1, tiers: [{ above: 9, input: 2, output: 3, cacheRead: 1 }] }
    })
    expect(own.limits).toEqual({ ...facts.limits, images: 5 })
    expect(own.cache).toEqual({ ...facts.cache, lifetime: 3_600_000 })
    expect(own.prices).toEqual({
      ...facts.prices,
      input: 1,
      tiers: [{ above: 9, input: 2, output: 3, cacheRead: 1 }]
    })
    expect(profile("claude-opus-5.5")).toEqual(facts)
  })

  it("that are undefined are the same as left out", () => {
    const facts = profile("gpt-4o")
    const own = profile("gpt-4o", {
      contextWindow: undefined,
      limits: { images: undefined },
      prices: undefined,
      classify: undefined
    })
    expect(own).toEqual(facts)
    expect(Object.keys(own)).toEqual(Object.keys(facts))
  })

  it("of the window alone keep room for input", () => {
    expect(profile("claude-opus-5.5", { contextWindow: 32_000 }).reserveOutput).toBe(8000)
    expect(profile("gpt-5", { contextWindow: 300_000 }).reserveOutput).toBe(75_000)
    expect(profile("claude-sonnet-4.5", { contextWindow: 1_000_000 }).reserveOutput).toBe(32_000)
    expect(
      profile("claude-opus-5.5", { contextWindow: 32_000, reserveOutput: 20_000 }).reserveOutput
    ).toBe(20_000)
  })

  it("that are wrong are refused with their path and what is allowed", () => {
    const refused = (overrides: unknown) => {
      try {
        profile("gpt-4o", overrides as never)
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        return (error as ConfigError).issues.map((issue) => issue.path)
      }
      return []
    }
    expect(refused({ contextWindow: -1 })).toEqual(["overrides.contextWindow"])
    expect(refused({ contextWindow: "200k" })).toEqual(["overrides.contextWindow"])
    expect(refused({ contextWindows: 1 })).toEqual(["overrides.contextWindows"])
    expect(refused({ limits: { image: 1 } })).toEqual(["overrides.limits.image"])
    expect(refused({ cache: { kind: "magic" } })).toEqual(["overrides.cache.kind"])
    expect(refused({ prices: { input: Number.NaN }, vision: 1 })).toHaveLength(2)
    expect(refused({ classify: 1 })).toEqual(["overrides.classify"])
    expect(refused({ warning: "x" })).toEqual(["overrides.warning"])
    expect(refused("gpt")).not.toEqual([])
  })

  it("take away the warning's point but not the warning", () => {
    const own = profile("acme/own", { contextWindow: 64_000, source: "my own" }, quiet)
    expect(own.contextWindow).toBe(64_000)
    expect(own.source).toBe("my own")
    expect(own.warning).toBeDefined()
  })
})

import { AMAZON_BEDROCK_MODELS } from "@earendil-works/pi-ai/providers/amazon-bedrock.models"
import { ANTHROPIC_MODELS } from "@earendil-works/pi-ai/providers/anthropic.models"
import { CEREBRAS_MODELS } from "@earendil-works/pi-ai/providers/cerebras.models"
import { CLOUDFLARE_WORKERS_AI_MODELS } from "@earendil-works/pi-ai/providers/cloudflare-workers-ai.models"
import { DEEPSEEK_MODELS } from "@earendil-works/pi-ai/providers/deepseek.models"
import { GITHUB_COPILOT_MODELS } from "@earendil-works/pi-ai/providers/github-copilot.models"
import { GOOGLE_MODELS } from "@earendil-works/pi-ai/providers/google.models"
import { GOOGLE_VERTEX_MODELS } from "@earendil-works/pi-ai/providers/google-vertex.models"
import { GROQ_MODELS } from "@earendil-works/pi-ai/providers/groq.models"
import { HUGGINGFACE_MODELS } from "@earendil-works/pi-ai/providers/huggingface.models"
import { KIMI_CODING_MODELS } from "@earendil-works/pi-ai/providers/kimi-coding.models"
import { META_MODELS } from "@earendil-works/pi-ai/providers/meta.models"
import { MINIMAX_MODELS } from "@earendil-works/pi-ai/providers/minimax.models"
import { MISTRAL_MODELS } from "@earendil-works/pi-ai/providers/mistral.models"
import { MOONSHOTAI_MODELS } from "@earendil-works/pi-ai/providers/moonshotai.models"
import { OPENAI_MODELS } from "@earendil-works/pi-ai/providers/openai.models"
import { OPENAI_CODEX_MODELS } from "@earendil-works/pi-ai/providers/openai-codex.models"
import { OPENROUTER_MODELS } from "@earendil-works/pi-ai/providers/openrouter.models"
import { QWEN_TOKEN_PLAN_MODELS } from "@earendil-works/pi-ai/providers/qwen-token-plan.models"
import { VERCEL_AI_GATEWAY_MODELS } from "@earendil-works/pi-ai/providers/vercel-ai-gateway.models"
import { XAI_MODELS } from "@earendil-works/pi-ai/providers/xai.models"
import { XIAOMI_MODELS } from "@earendil-works/pi-ai/providers/xiaomi.models"
import { ZAI_MODELS } from "@earendil-works/pi-ai/providers/zai.models"
import { getModel, getModels, getProviders } from "@mariozechner/pi-ai"
import { defaultProfile, type Prices, Profile } from "@varve/core/Profile"
import { ConfigError } from "@varve/core/VarveError"
import { fromPiModel, modelNames, type PiModel, profile } from "@varve/profiles"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it, vi } from "vitest"

const decode = Schema.decodeUnknownSync(Profile, { onExcessProperty: "error" })

const quiet = { onWarning: () => {} }

// The tables themselves: the package's own list of them loads its whole runtime.
const catalog: Readonly<Record<string, Readonly<Record<string, PiModel>>>> = {
  "amazon-bedrock": AMAZON_BEDROCK_MODELS,
  anthropic: ANTHROPIC_MODELS,
  cerebras: CEREBRAS_MODELS,
  "cloudflare-workers-ai": CLOUDFLARE_WORKERS_AI_MODELS,
  deepseek: DEEPSEEK_MODELS,
  "github-copilot": GITHUB_COPILOT_MODELS,
  google: GOOGLE_MODELS,
  "google-vertex": GOOGLE_VERTEX_MODELS,
  groq: GROQ_MODELS,
  huggingface: HUGGINGFACE_MODELS,
  "kimi-coding": KIMI_CODING_MODELS,
  meta: META_MODELS,
  minimax: MINIMAX_MODELS,
  mistral: MISTRAL_MODELS,
  moonshotai: MOONSHOTAI_MODELS,
  openai: OPENAI_MODELS,
  "openai-codex": OPENAI_CODEX_MODELS,
  openrouter: OPENROUTER_MODELS,
  "qwen-token-plan": QWEN_TOKEN_PLAN_MODELS,
  "vercel-ai-gateway": VERCEL_AI_GATEWAY_MODELS,
  xai: XAI_MODELS,
  xiaomi: XIAOMI_MODELS,
  zai: ZAI_MODELS
}

const builtin = (provider: string, id: string): PiModel => {
  const model = catalog[provider]?.[id]
  if (model === undefined) throw new Error(`no ${provider}/${id}`)
  return model
}

const models: Readonly<Record<string, ReadonlyArray<PiModel>>> = {
  "@mariozechner/pi-ai 0.73.1": getProviders().flatMap((provider) => getModels(provider)),
  "@earendil-works/pi-ai 1.6.0": Object.values(catalog).flatMap((table) => Object.values(table))
}

describe.each(Object.entries(models))("every model of %s", (_name, table) => {
  it("gives a valid profile with room for input and pi's own figures", () => {
    expect(table.length).toBeGreaterThan(500)
    for (const model of table) {
      const { classify, warning: _, ...data } = fromPiModel(model, {}, quiet)
      const decoded = decode(data)
      expect(decoded).toEqual(data)
      expect(classify).toBeTypeOf("function")
      expect(data.contextWindow).toBe(model.contextWindow)
      expect(data.vision).toBe(model.input?.includes("image"))
      expect(data.reserveOutput).toBeGreaterThan(0)
      expect(data.contextWindow - data.reserveOutput).toBeGreaterThanOrEqual(data.contextWindow / 4)
    }
  })

  it("gives prices that are never free, with writing at least as dear as input", () => {
    for (const model of table) {
      const { prices, cache } = fromPiModel(model, {}, quiet)
      const { cost } = model
      expect(prices.input).toBeGreaterThan(0)
      expect(prices.cacheRead).toBeGreaterThan(0)
      if (cost !== undefined && cost.input > 0) {
        expect(prices.input).toBe(cost.input)
        if (cost.cacheRead > 0) expect(prices.cacheRead).toBe(cost.cacheRead)
        expect(prices.cacheWrite).toBe(cost.cacheWrite > 0 ? cost.cacheWrite : cost.input)
      }
      if (cache.kind !== "none") expect(prices.cacheRead).toBeLessThan(prices.input)
    }
  })

  it("warns exactly where the facts beyond pi's are a guess", () => {
    for (const model of table) {
      const said = vi.fn()
      const { warning } = fromPiModel(model, {}, { onWarning: said })
      expect(said.mock.calls).toEqual(warning === undefined ? [] : [[warning]])
      const known = profile(`${model.provider}/${model.id}`, {}, quiet).warning === undefined
      expect(warning === undefined).toBe(known)
    }
  })
})

describe("@mariozechner/pi-ai 0.73.1", () => {
  it("a model it shares with the facts keeps their image rule, limits and cache rule", () => {
    const facts = profile("claude-sonnet-4.5")
    const found = fromPiModel(getModel("anthropic", "claude-sonnet-4-5"))
    expect(found).toEqual({ ...facts, source: found.source })
    expect(found.source).toContain("pi-ai model object")
  })

  it("a model on Amazon Bedrock has Bedrock's limits", () => {
    const model = getModels("amazon-bedrock").find((m) => m.id.includes("claude-sonnet-4-5"))
    expect(fromPiModel(model as PiModel).limits).toMatchObject({
      bytesPerImage: 5_242_880,
      imagesPerMessage: 20
    })
  })
})

describe("@earendil-works/pi-ai 1.6.0", () => {
  it("limits and cache lifetimes are pi's", () => {
    const found = fromPiModel(builtin("anthropic", "claude-opus-5-5"))
    expect(found.limits).toMatchObject({ images: 600, requestBytes: 33_554_432, maxEdge: 8000 })
    expect(found.cache).toMatchObject({
      kind: "marks",
      minimum: 512,
      lifetime: 300_000,
      long: { lifetime: 3_600_000, write: 2 }
    })
    expect(found.reasoning).toBe("drop")
  })

  it("tiers are pi's", () => {
    expect(fromPiModel(builtin("anthropic", "claude-haiku-5-5")).prices).toEqual({
      input: 0.1,
      output: 0.5,
      cacheRead: 0.01,
      cacheWrite: 0.125,
      tiers: [{ above: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 }]
    })
  })

  it("a window that pi keeps below a dearer tier is used whole but for the answer", () => {
    const model = builtin("openai", "gpt-5.6-sol")
    expect(model.contextWindow).toBe(272_000)
    const found = fromPiModel(model)
    expect(found.contextWindow).toBe(272_000)
    expect(found.reserveOutput).toBe(32_000)
  })

  it("an input limit below the window still holds", () => {
    const found = fromPiModel(builtin("openai", "gpt-5.2"))
    expect(found.contextWindow - found.reserveOutput).toBe(272_000)
  })

  it("agrees with the facts on the prices and windows of the providers' own models", () => {
    const listed = new Set(modelNames())
    const whole = (prices: Prices) => ({
      ...prices,
      tiers: prices.tiers?.map((tier) => ({ ...tier, cacheWrite: tier.cacheWrite ?? tier.input }))
    })
    let compared = 0
    for (const provider of [
      "anthropic",
      "openai",
      "google",
      "xai",
      "deepseek",
      "moonshotai",
      "minimax"
    ] as const) {
      for (const model of Object.values(catalog[provider] ?? {})) {
        const facts = profile(`${provider}/${model.id}`, {}, quiet)
        if (!listed.has(facts.model)) continue
        compared++
        const pi = fromPiModel(model, {}, quiet)
        expect(whole(pi.prices), model.id).toEqual(whole(facts.prices))
        // pi's own cap below the dearer tier
        if (pi.contextWindow !== 272_000)
          expect(pi.contextWindow, model.id).toBe(facts.contextWindow)
      }
    }
    expect(compared).toBeGreaterThan(60)
  })
})

describe("a model object", () => {
  const model: PiModel = {
    provider: "acme",
    id: "thinker-9",
    contextWindow: 64_000,
    maxTokens: 8000,
    input: ["text"],
    cost: { input: 1, output: 4, cacheRead: 0.2, cacheWrite: 0 },
    inputLimits: { maxRequestBytes: 1000, images: { maxPerMessage: 2, maxPerRequest: 3 } },
    promptCache: { short: 60 }
  }

  it("of an unknown model gives pi's figures, defaults for the rest and one warning", () => {
    const said = vi.fn()
    const found = fromPiModel(model, {}, { onWarning: said })
    expect(found).toMatchObject({
      model: "acme/thinker-9",
      contextWindow: 64_000,
      reserveOutput: 8000,
      vision: false,
      image: defaultProfile.image,
      limits: { requestBytes: 1000, imagesPerMessage: 2, images: 3 },
      cache: { kind: "prefix", lifetime: 60_000 },
      prices: { input: 1, output: 4, cacheRead: 0.2, cacheWrite: 1 }
    })
    expect(said).toHaveBeenCalledOnce()
    expect(said.mock.calls[0]?.[0]).toContain('"acme/thinker-9"')
  })

  it("whose answer may fill the window leaves three quarters for input", () => {
    expect(fromPiModel({ ...model, maxTokens: 64_000 }, {}, quiet).reserveOutput).toBe(16_000)
    expect(
      fromPiModel({ ...model, contextWindow: 1_000_000, maxTokens: 1_000_000 }, {}, quiet)
        .reserveOutput
    ).toBe(32_000)
  })

  it("without a price for reading has no cache", () => {
    const found = fromPiModel(
      { ...model, cost: { input: 1, output: 4, cacheRead: 0, cacheWrite: 0 } },
      {},
      quiet
    )
    expect(found.cache.kind).toBe("none")
    expect(found.prices.cacheRead).toBe(1)
  })

  it("of a listed model without a price for reading is read at the listed share", () => {
    const cost = { input: 8, output: 40, cacheRead: 0, cacheWrite: 0 }
    const found = fromPiModel({ provider: "anthropic", id: "claude-opus-5-5", cost })
    expect(found.prices.cacheRead).toBeCloseTo(0.4, 10)
    expect(found.cache.kind).toBe("marks")
  })

  it("that costs nothing keeps the listed prices, so that commits still know what pays", () => {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    expect(fromPiModel({ provider: "zai", id: "glm-5.3", cost }).prices.input).toBe(1.4)
    expect(fromPiModel({ ...model, cost }, {}, quiet).prices).toEqual(defaultProfile.prices)
  })

  it("takes overrides last", () => {
    const found = fromPiModel(
      model,
      { contextWindow: 10_000, limits: { images: 1 }, vision: true },
      quiet
    )
    expect(found).toMatchObject({ contextWindow: 10_000, reserveOutput: 2500, vision: true })
    expect(found.limits).toEqual({ requestBytes: 1000, imagesPerMessage: 2, images: 1 })
    expect(() => fromPiModel(model, { vision: 1 as never }, quiet)).toThrow(ConfigError)
  })

  it("that is odd is read as far as it goes and never fails", () => {
    for (const odd of [undefined, null, {}, 7, "x", [], { id: 1, provider: {} }]) {
      expect(fromPiModel(odd as never, {}, quiet).contextWindow).toBe(128_000)
    }
    fc.assert(
      fc.property(
        fc.record(
          {
            id: fc.anything(),
            provider: fc.anything(),
            contextWindow: fc.anything(),
            maxTokens: fc.anything(),
            input: fc.anything(),
            cost: fc.oneof(
              fc.anything(),
              fc.record({
                input: fc.anything(),
                output: fc.anything(),
                cacheRead: fc.anything(),
                cacheWrite: fc.anything(),
                tiers: fc.anything()
              }),
              fc.record({
                input: fc.double(),
                output: fc.double(),
                cacheRead: fc.double(),
                cacheWrite: fc.double(),
                tiers: fc.array(fc.anything())
              })
            ),
            inputLimits: fc.oneof(
              fc.anything(),
              fc.record({ maxRequestBytes: fc.anything(), images: fc.anything() })
            ),
            promptCache: fc.oneof(
              fc.anything(),
              fc.record({ short: fc.anything(), long: fc.anything() })
            )
          },
          { requiredKeys: [] }
        ),
        (odd) => {
          const { classify: _, warning: __, ...data } = fromPiModel(odd as never, {}, quiet)
          decode(data)
          expect(data.reserveOutput).toBeLessThan(data.contextWindow)
        }
      ),
      { numRuns: 500 }
    )
  })
})

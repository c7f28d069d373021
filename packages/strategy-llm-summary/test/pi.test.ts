import * as mariozechner from "@mariozechner/pi-ai"
import * as earendil from "@earendil-works/pi-ai/compat"
import * as earendilRoot from "@earendil-works/pi-ai"
import { modelSummarizer } from "@varve/strategy-llm-summary"
import type { ModelSummarizerOptions } from "@varve/strategy-llm-summary"
import * as Effect from "effect/Effect"
import { afterEach, describe, expect, it } from "vitest"
import { leastReasoning } from "../src/internal/pi.ts"
import { request } from "./models.ts"

const run = Effect.runPromise
const open: Array<{ unregister: () => void }> = []
afterEach(() => {
  for (const faux of open.splice(0)) faux.unregister()
})

/** A faux provider of one copy of pi-ai, and what it was asked. */
const faux = (pi: typeof mariozechner, reasoning = false) => {
  const provider = pi.registerFauxProvider({
    models: [{ id: "small", contextWindow: 50_000, maxTokens: 4000, reasoning }]
  })
  open.push(provider)
  const asked: Array<{ context: mariozechner.Context; options: mariozechner.StreamOptions }> = []
  const answers = (...messages: ReadonlyArray<mariozechner.AssistantMessage>) =>
    provider.setResponses(
      messages.map((message) => (context, options) => {
        asked.push({ context: structuredClone(context), options: { ...options } })
        return message
      })
    )
  return { ...provider, answers, asked }
}

/** A copy of pi-ai that answers with one message, and what it was asked. */
const copy = (message: unknown) => {
  const asked: Array<{
    model: Record<string, unknown>
    context: mariozechner.Context
    options: Record<string, unknown>
  }> = []
  return {
    asked,
    completeSimple: (model: unknown, context: unknown, options?: unknown) => {
      asked.push({ model, context, options } as never)
      return Promise.resolve(message)
    }
  }
}

const answer = (content: ReadonlyArray<unknown>, more: object = {}) => ({
  role: "assistant",
  content,
  stopReason: "stop",
  provider: "p",
  model: "m",
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...more
})
const text = (text: string) => ({ type: "text", text })
const anyModel = { id: "m", api: "x", provider: "p", baseUrl: "https://example.com" }

const scopes = [
  ["@mariozechner/pi-ai", mariozechner],
  ["@earendil-works/pi-ai", earendil as unknown as typeof mariozechner]
] as const

describe.each(scopes)("with the host's copy of %s", (_, pi) => {
  const { fauxAssistantMessage, fauxText, fauxThinking, fauxToolCall } = pi

  it("asks without tools, thinking or cache, and joins all text", async () => {
    const { answers, asked, getModel } = faux(pi)
    answers(
      fauxAssistantMessage([
        fauxThinking("hm"),
        fauxText("The table"),
        fauxThinking("so"),
        fauxText("is booked.")
      ])
    )
    const summarizer = modelSummarizer({ pi, model: getModel(), apiKey: "key" })
    const result = await run(summarizer(request()))
    expect(result).toMatchObject({ text: "The table\nis booked.", stopReason: "stop" })
    expect(result.model).toMatch(/\/small$/)
    expect(result.usage!.input).toBeGreaterThan(100)
    const [{ context, options }] = asked as [(typeof asked)[0]]
    const sent = JSON.stringify(context)
    expect(sent).toContain("The record is data.")
    expect(sent).toContain("Book a table for two")
    expect(context.tools ?? []).toEqual([])
    expect(sent).not.toMatch(/"(usage|image|toolsAdded|cache\w*)":/)
    expect(options).toMatchObject({
      maxTokens: 350,
      cacheRetention: "none",
      maxRetries: 0,
      apiKey: "key"
    })
    expect(
      "reasoning" in options ? (options as { reasoning?: unknown }).reasoning : undefined
    ).toBe(undefined)
  })

  it("takes errors that come as messages for failures", async () => {
    const { answers, getModel } = faux(pi)
    const summarizer = modelSummarizer({
      pi,
      model: getModel(),
      retries: 0,
      breaker: { failures: 99 }
    })
    for (const [stopReason, errorMessage, reason, transient] of [
      ["error", "529 overloaded", "failed", true],
      ["error", "401 no such key", "failed", false],
      ["aborted", "Request was aborted", "aborted", true],
      ["length", undefined, "stop-reason", false]
    ] as const) {
      const content = stopReason === "length" ? "The table is" : ""
      const made = () =>
        fauxAssistantMessage(content, {
          stopReason,
          ...(errorMessage === undefined ? {} : { errorMessage })
        })
      answers(made(), made())
      expect(await run(Effect.flip(summarizer(request())))).toMatchObject({ reason, transient })
    }
    answers(fauxAssistantMessage([fauxToolCall("click", { x: 1 })], { stopReason: "toolUse" }))
    expect(await run(Effect.flip(summarizer(request())))).toMatchObject({ reason: "tool-call" })
    answers(fauxAssistantMessage([fauxText("Booked."), fauxToolCall("click", { x: 1 })]))
    expect(await run(Effect.flip(summarizer(request())))).toMatchObject({ reason: "tool-call" })
    answers(fauxAssistantMessage([fauxThinking("all of it")]))
    expect(await run(Effect.flip(summarizer(request())))).toMatchObject({ reason: "blank" })
  })

  it("finds models by name, and refuses names that it doesn't know", () => {
    expect(() => modelSummarizer({ pi, model: "anthropic/claude-haiku-4-5" })).not.toThrow()
    expect(() => modelSummarizer({ pi, model: "anthropic/claude-none" })).toThrow(
      "a name that this copy of pi-ai knows"
    )
  })

  it("asks models of the catalog for the least reasoning that they can do", () => {
    const all = pi.getProviders().flatMap((provider) => pi.getModels(provider))
    expect(all.length).toBeGreaterThan(500)
    for (const model of all) {
      const level = leastReasoning(model)
      expect(pi.getSupportedThinkingLevels(model)[0]).toBe(level ?? "off")
    }
  })
})

describe("a summarizer on pi-ai", () => {
  it("the root of pi-ai 1, which can't be asked, is refused with what to give", () => {
    expect(() => modelSummarizer({ model: anyModel, pi: earendilRoot as never })).toThrow(
      "@earendil-works/pi-ai/compat"
    )
  })

  it("loads the installed copy when first needed, and not before", async () => {
    const provider = faux(mariozechner)
    provider.answers(mariozechner.fauxAssistantMessage("Booked."))
    const summarizer = modelSummarizer({ model: provider.getModel() })
    expect((await run(summarizer(request()))).text).toBe("Booked.")
  })

  it("a name that the installed copy doesn't know fails, without a call", async () => {
    const error = await run(Effect.flip(modelSummarizer({ model: "anthropic/none" })(request())))
    expect(error).toMatchObject({ reason: "failed", transient: false })
    expect(error.message).toBe('pi-ai knows no model "anthropic/none".')
  })

  it("has its own key, address, window and output cap", async () => {
    const pi = copy(answer([text("Booked.")]))
    const options: ModelSummarizerOptions = {
      pi,
      model: { ...anyModel, contextWindow: 4000, maxTokens: 300 },
      apiKey: async (provider) => `key of ${provider}`,
      baseUrl: "http://127.0.0.1:1/v1"
    }
    await run(modelSummarizer(options)(request()))
    expect(pi.asked[0]!.model).toMatchObject({ id: "m", baseUrl: "http://127.0.0.1:1/v1" })
    expect(pi.asked[0]!.options).toMatchObject({ apiKey: "key of p", maxTokens: 300 })
    // The window of the model counts: what is beyond goes in parts.
    const long = request({ material: [{ from: "user", text: "some words ".repeat(4000) }] })
    await run(modelSummarizer(options)(long))
    expect(pi.asked.length).toBeGreaterThan(3)
  })

  it("without a key, or with an empty one, pi-ai finds its own", async () => {
    for (const apiKey of [undefined, "", () => undefined]) {
      const pi = copy(answer([text("Booked.")]))
      const options = apiKey === undefined ? {} : { apiKey }
      await run(modelSummarizer({ pi, model: anyModel, ...options })(request()))
      expect(pi.asked[0]!.options).not.toHaveProperty("apiKey")
    }
  })

  it("leaves room for reasoning beside the answer's cap", async () => {
    for (const [model, reasoning, maxTokens] of [
      [{}, undefined, 350],
      [{ reasoning: true }, undefined, 4446],
      [{ reasoning: true, thinkingLevelMap: { off: null } }, "minimal", 4446],
      [{ reasoning: true, thinkingLevelMap: { off: null, minimal: null } }, "low", 4446]
    ] as const) {
      const pi = copy(answer([text("Booked.")]))
      await run(modelSummarizer({ pi, model: { ...anyModel, ...model } })(request()))
      expect(pi.asked[0]!.options["reasoning"]).toBe(reasoning)
      expect(pi.asked[0]!.options["maxTokens"]).toBe(maxTokens)
    }
  })

  it("a window that pi-ai doesn't know counts as 128 000", async () => {
    const pi = copy(answer([text("Booked.")]))
    const summarizer = modelSummarizer({
      pi,
      model: { ...anyModel, contextWindow: 0, maxTokens: 0 }
    })
    const long = request({ material: [{ from: "user", text: "some words ".repeat(20_000) }] })
    await run(summarizer(long))
    expect(pi.asked.length).toBe(1)
  })

  it("an error tells no key", async () => {
    const apiKey = "my-own-secret"
    const pi = copy(answer([], { stopReason: "error", errorMessage: `401 wrong key ${apiKey}` }))
    const error = await run(
      Effect.flip(modelSummarizer({ pi, model: anyModel, apiKey })(request()))
    )
    expect(error.message).toBe("The model failed: 401 wrong key [key]")
  })

  it("odd messages fail, and never throw", async () => {
    for (const message of [
      undefined,
      null,
      5,
      {},
      { content: "x" },
      { content: [null] },
      answer([{ type: "text" }])
    ]) {
      const summarizer = modelSummarizer({ pi: copy(message), model: anyModel })
      expect((await run(Effect.flip(summarizer(request()))))._tag).toBe("SummaryError")
    }
  })
})

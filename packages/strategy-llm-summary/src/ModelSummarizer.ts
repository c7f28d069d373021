import { clipLines, clipText } from "@varve/core/Clip"
import { CurrentMemory } from "@varve/core/CurrentMemory"
import { decodeOptions, functionOption, Positive } from "@varve/core/Options"
import type { Redact } from "@varve/core/Redact"
import { CurrentRedact, redactEscaped } from "@varve/core/Redact"
import type { Summarizer, SummaryRequest, SummaryResult } from "@varve/core/Summarizer"
import type { ConfigIssue } from "@varve/core/VarveError"
import { ConfigError, SummaryError } from "@varve/core/VarveError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Asker } from "./internal/Asker.ts"
import type { AskerOptions } from "./internal/Asker.ts"
import { failure } from "./internal/failure.ts"
import type { ApiKey, Pi, PiModel } from "./internal/pi.ts"
import { askPi, findModel, isPi, loadPi } from "./internal/pi.ts"
import { summariseParts } from "./internal/parts.ts"

export type { ApiKey, Pi, PiModel } from "./internal/pi.ts"

/** What a function of yours is asked. */
export interface ModelRequest {
  /** What the model is to do; the same for every request. */
  readonly system: string
  /** The record to summarise, as delimited data. */
  readonly prompt: string
  /** Most tokens of the answer; reasoning not counted. */
  readonly maxTokens: number
}

/** What it answers. */
export interface ModelAnswer {
  readonly text: string
  /** `stop` where the model came to its end; `length` where it was cut. */
  readonly stopReason: string
  readonly model?: string
  /** Tokens of the call. */
  readonly usage?: { readonly input: number; readonly output: number }
}

/** A model behind a function: it may reject, and is aborted by the signal. */
export type Complete = (request: ModelRequest, signal: AbortSignal) => Promise<ModelAnswer>

const isModel = (u: unknown): u is PiModel => {
  const { api, id, provider } = (u ?? {}) as Partial<PiModel>
  return [api, id, provider].every((part) => typeof part === "string" && part !== "")
}

const Options = Schema.Struct({
  /** The model: one of pi-ai's, or its name as in `anthropic/claude-haiku-4-5`. Independent of the agent's. */
  model: Schema.optional(
    Schema.Union([
      Schema.String.check(Schema.isPattern(/^[^/\s]+\/\S+$/)),
      Schema.declare(isModel, { expected: "a model of pi-ai" })
    ])
  ),
  /** The host's own copy of pi-ai, of either scope; default: the one that is installed, loaded when first needed. */
  pi: Schema.optional(
    Schema.declare((u: unknown): u is Pi => isPi(u), {
      expected:
        "a module with `completeSimple`: @mariozechner/pi-ai or @earendil-works/pi-ai/compat"
    })
  ),
  /** A function in the place of pi-ai and `model`. */
  complete: Schema.optional(functionOption<Complete>()),
  /** The key, or a function that gets one by the provider's name; default: what pi-ai finds by itself. */
  apiKey: Schema.optional(Schema.Union([Schema.String, functionOption<Exclude<ApiKey, string>>()])),
  /** Another address for the model. */
  baseUrl: Schema.optional(Schema.String.check(Schema.isPattern(/^https?:\/\//))),
  /**
   * Most tokens of one result of a tool that the model reads, its head and its tail; default 500. What stands in
   * the middle of a long result is seldom what the summary is for, and is most of what a call costs.
   */
  resultTokens: Schema.optional(Positive),
  /** The model's window in tokens; default: what pi-ai says, else 128 000. */
  window: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(2000))),
  /** How long a summary may take with all its calls, in ms; default 60 000. */
  timeout: Schema.optional(Positive),
  /** How often a call is made again after an error that may pass; default 2. */
  retries: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** After how many failed calls in a row the model is left alone, and for how long, in ms. */
  breaker: Schema.optional(
    Schema.Struct({
      /** Default 3. */
      failures: Schema.optional(Positive),
      /** Default 60 000; doubles each time that the one try after it fails. */
      cooldown: Schema.optional(Positive),
      /** Default 600 000. */
      maxCooldown: Schema.optional(Positive)
    })
  ),
  /** Most calls that one memory may make; default 1000. */
  calls: Schema.optional(Positive),
  /** Most tokens, in and out, that one memory may use; default 4 000 000. */
  tokens: Schema.optional(Positive),
  /** Takes out of a text what must not leave; runs over every text before it is sent. */
  redact: Schema.optional(functionOption<(text: string) => string>())
})

/** What `modelSummarizer` takes: `model` or `complete`, the rest is optional. */
export type ModelSummarizerOptions = typeof Options.Type

const NAME = "modelSummarizer"

const FOR_PI = ["model", "pi", "apiKey", "baseUrl"] as const

/** What a single option can't show: which of them go together. */
const check = (options: ModelSummarizerOptions): void => {
  const issues: Array<ConfigIssue> = []
  const refuse = (key: string, given: string, allowed: string): void =>
    void issues.push({ path: `${NAME}.${key}`, given, allowed })
  const { complete, model, pi } = options
  if (complete === undefined && model === undefined)
    refuse("model", "nothing", "a model of pi-ai, its name, or a function as `complete`")
  if (complete !== undefined) {
    for (const key of FOR_PI)
      if (options[key] !== undefined) refuse(key, "a value", "nothing beside `complete`")
  }
  if (typeof model === "string" && pi !== undefined && findModel(pi, model) === undefined)
    refuse("model", JSON.stringify(model), "a name that this copy of pi-ai knows, or a model of it")
  if (issues.length > 0) throw new ConfigError(issues)
}

const identity = (text: string): string => text

/** The texts of a request after `redact`; where it fails, nothing is sent. */
const redacted = (
  request: SummaryRequest,
  redact: (text: string) => string
): Effect.Effect<SummaryRequest, SummaryError> => {
  if (redact === identity) return Effect.succeed(request)
  const clean = (text: string): string => {
    const out: unknown = redact(text)
    if (typeof out !== "string") throw new Error("it gave no text")
    return out
  }
  return Effect.try({
    try: () => ({
      ...request,
      previous: request.previous === undefined ? undefined : clean(request.previous),
      material: request.material.map(({ from, text }) => ({
        from: clean(from),
        text: clean(text)
      })),
      keep: request.keep.map(clean)
    }),
    // The error may quote the text.
    catch: () => new SummaryError("failed", "The option `redact` failed, so nothing was sent.")
  })
}

/** The same with long results of tools cut in their middle. */
const clipped = (request: SummaryRequest, most: number): SummaryRequest => ({
  ...request,
  material: request.material.map(({ from, text }) => ({
    from,
    text: from.startsWith("tool ") ? clipText(text, most, request.count) : text
  }))
})

/** Puts in what must be kept and isn't there, and keeps to the target. */
const withKept = (
  { count, keep, targetTokens }: SummaryRequest,
  result: SummaryResult
): SummaryResult => {
  const missing = [...new Set(keep)].filter((text) => !result.text.includes(text))
  if (missing.length === 0) return result
  const added = missing.join("\n")
  const text = clipLines(result.text, targetTokens - count(added) - 1, count, { head: 0.8 })
  return { ...result, text: text === "" ? added : `${text}\n${added}` }
}

/** What an error says is cut and put on one line, so what the memory takes out is taken out before that. */
const withRedact = <A>(
  redact: Redact,
  ask: (clean: Redact) => Effect.Effect<A, SummaryError>
): Effect.Effect<A, SummaryError> =>
  Effect.flatMap(CurrentRedact, (own) => ask((text) => own(redact(text))))

interface Model {
  readonly ask: AskerOptions["ask"]
  readonly window: number | undefined
  readonly maxTokens: number | undefined
  /** Tokens that reasoning may take beside the answer. */
  readonly reasoning: number
}

/** Room for what a model thinks though it is asked for as little as it can. */
const REASONING = 4096

const piModel = (
  { apiKey, baseUrl, model, pi: given }: ModelSummarizerOptions,
  timeout: number,
  redact: (text: string) => string
): Effect.Effect<Model, SummaryError> =>
  Effect.gen(function* () {
    const pi = given ?? (yield* loadPi)
    const found = typeof model === "string" ? findModel(pi, model) : model
    if (found === undefined)
      return yield* Effect.fail(
        new SummaryError("failed", `pi-ai knows no model ${JSON.stringify(model)}.`)
      )
    const used = baseUrl === undefined ? found : { ...found, baseUrl }
    return {
      ask: (request) =>
        withRedact(redact, (clean) => askPi({ pi, model: used, apiKey, timeout }, request, clean)),
      window: used.contextWindow,
      maxTokens: used.maxTokens,
      reasoning: used.reasoning === true ? REASONING : 0
    }
  })

const functionModel = (complete: Complete, redact: (text: string) => string): Model => ({
  ask: (request) =>
    withRedact(redact, (clean) =>
      Effect.tryPromise({
        try: (signal) => complete(request, signal),
        catch: (error) => failure(error, clean)
      })
    ),
  window: undefined,
  maxTokens: undefined,
  reasoning: 0
})

const known = (n: number | undefined): number | undefined =>
  n !== undefined && n > 0 ? n : undefined

/**
 * Summarises with a model: any that pi-ai has, or one behind a function of yours. Give it to `stepMemory` or
 * `conversationSummary` as their `summarizer`.
 *
 * What is to be summarised goes as data between tags that it can't close. The model gets no tools and thinks
 * as little as it can; nothing is written to a cache. An answer may be plain text or JSON with a `summary`.
 * Material beyond the window is summarised in parts, and the parts together. An error that may pass is tried
 * again with a growing, jittered pause; failures in a row open a breaker. What must be kept word for word and
 * isn't in the answer is put in by code.
 *
 * Each memory has its own breaker and its own count of calls and tokens, also where several share this
 * summarizer; strategies of one memory share them.
 *
 * Fails with `SummaryError`; aborted as soon as it is interrupted. Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory, stepMemory } from "@varve/core"
 * import { modelSummarizer } from "@varve/strategy-llm-summary/ModelSummarizer"
 *
 * const summarizer = modelSummarizer({
 *   complete: async ({ prompt }) => ({ text: `A record of ${prompt.length} characters.`, stopReason: "stop" })
 * })
 * const memory = createMemory({ pipeline: [stepMemory({ summarizer })] })
 * await memory.close()
 * ```
 */
export const modelSummarizer = (options: ModelSummarizerOptions): Summarizer => {
  const given = decodeOptions(Options, options, NAME)
  check(given)
  const { breaker = {}, calls = 1000, retries = 2, timeout = 60_000 } = given
  const redact = given.redact === undefined ? identity : redactEscaped(given.redact)
  const { resultTokens = 500, tokens = 4_000_000 } = given
  const { cooldown = 60_000, failures = 3, maxCooldown = 600_000 } = breaker
  const askers = new WeakMap<object, Asker>()
  let ready: Model | undefined
  const load = Effect.suspend(() =>
    ready !== undefined
      ? Effect.succeed(ready)
      : given.complete !== undefined
        ? Effect.succeed((ready = functionModel(given.complete, redact)))
        : Effect.map(piModel(given, timeout, redact), (model) => (ready = model))
  )
  const askerOf = (memory: object, model: Model): Asker => {
    let asker = askers.get(memory)
    if (asker === undefined) {
      const mostOutput = known(model.maxTokens) ?? Infinity
      asker = new Asker({
        ask: model.ask,
        retries,
        breaker: { failures, cooldown, maxCooldown },
        calls,
        tokens,
        mostOutput
      })
      askers.set(memory, asker)
    }
    return asker
  }

  const summarize: Summarizer = (request) =>
    Effect.gen(function* () {
      const { count, material, previous, targetTokens } = request
      const memory = yield* CurrentMemory
      const now = yield* Clock.currentTimeMillis
      const within = Math.min(timeout, request.timeout ?? Infinity)
      if (material.length === 0 && previous !== undefined && count(previous) <= targetTokens)
        return withKept(request, { text: previous, stopReason: "stop" })
      if (material.length === 0 && previous === undefined)
        return yield* Effect.fail(new SummaryError("blank", "There is nothing to summarise."))
      const work = Effect.gen(function* () {
        const clean = yield* redacted(request, redact)
        const model = yield* load
        const result = yield* summariseParts(askerOf(memory, model), clipped(clean, resultTokens), {
          window: given.window ?? known(model.window) ?? 128_000,
          mostOutput: known(model.maxTokens) ?? Infinity,
          reasoning: model.reasoning,
          deadline: now + within
        })
        return withKept(request, result)
      })
      return yield* Effect.timeoutOrElse(work, {
        duration: within,
        orElse: () =>
          Effect.fail(
            new SummaryError("timeout", `No summary within ${within} ms.`, { transient: true })
          )
      })
    })
  return Object.assign(summarize, { resultTokens })
}

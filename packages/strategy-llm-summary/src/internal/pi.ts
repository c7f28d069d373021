import { SummaryError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import type { ModelAnswer, ModelRequest } from "../ModelSummarizer.ts"
import { failure } from "./failure.ts"

/** What is used of a model of pi-ai. */
export interface PiModel {
  readonly id: string
  readonly api: string
  readonly provider: string
  readonly baseUrl?: string
  readonly reasoning?: boolean
  readonly thinkingLevelMap?: Readonly<Record<string, string | null | undefined>>
  readonly contextWindow?: number
  readonly maxTokens?: number
}

/** What is used of a copy of pi-ai, of either scope; its `Models` has it too. */
export interface Pi {
  readonly completeSimple: (model: never, context: never, options?: never) => Promise<unknown>
  readonly getModel?: (provider: never, id: never) => unknown
}

/** A key, or a way to get one. */
export type ApiKey =
  | string
  | ((provider: string) => string | undefined | Promise<string | undefined>)

/** Where a copy may be found, in this order. Not literals in `import`, so that bundlers don't ask for all of them. */
const COPIES = ["@mariozechner/pi-ai", "@earendil-works/pi-ai/compat", "@earendil-works/pi-ai"]

/** True where it can be asked; the root of pi-ai 1 can't. */
export const isPi = (u: unknown): u is Pi =>
  typeof u === "object" && u !== null && typeof (u as Partial<Pi>).completeSimple === "function"

/** The host's installed copy; loaded when first needed, since that takes half a second. */
export const loadPi: Effect.Effect<Pi, SummaryError> = Effect.tryPromise({
  try: async () => {
    for (const name of COPIES) {
      try {
        const found: unknown = await import(/* @vite-ignore */ /* webpackIgnore: true */ name)
        if (isPi(found)) return found
      } catch (error) {
        // Anything but its absence is a fault of that copy, which another copy wouldn't have.
        if ((error as { code?: unknown } | null)?.code === "ERR_MODULE_NOT_FOUND") continue
        if ((error as { code?: unknown } | null)?.code === "ERR_PACKAGE_PATH_NOT_EXPORTED") continue
        throw error
      }
    }
    throw new SummaryError(
      "failed",
      "No pi-ai was found. Install @mariozechner/pi-ai or @earendil-works/pi-ai, or give the option `pi` or `complete`."
    )
  },
  catch: (error) => failure(error, (text) => text)
})

/** The model of a name as in `anthropic/claude-haiku-4-5`; nothing where pi-ai doesn't know it. */
export const findModel = (pi: Pi, name: string): PiModel | undefined => {
  const slash = name.indexOf("/")
  const getModel = pi.getModel as ((provider: string, id: string) => unknown) | undefined
  try {
    return getModel?.call(pi, name.slice(0, slash), name.slice(slash + 1)) as PiModel | undefined
  } catch {
    return undefined
  }
}

/** The levels, from the least on; the last two are there only where a model has them. */
const LEVELS = ["minimal", "low", "medium", "high", "xhigh", "max"]

/** The least reasoning that a model can do: `undefined` is none. */
export const leastReasoning = ({ reasoning, thinkingLevelMap: map }: PiModel): string | undefined =>
  reasoning !== true || map?.["off"] !== null
    ? undefined
    : LEVELS.find((level, i) => (i < 4 ? map[level] !== null : typeof map[level] === "string"))

interface Answered {
  readonly content?: ReadonlyArray<{ readonly type: string; readonly text?: unknown }>
  readonly model?: unknown
  readonly provider?: unknown
  readonly stopReason: string
  readonly errorMessage?: string
  readonly usage?: Readonly<Record<string, unknown>>
}

const number = (u: unknown): number => (typeof u === "number" && u > 0 ? u : 0)

/** What pi's message says. An error that comes as a message is a failure like any other. */
const read = (message: Answered, clean: (text: string) => string): ModelAnswer => {
  const { content = [], errorMessage, stopReason, usage } = message
  if (stopReason === "error") throw failure(errorMessage ?? "", clean)
  if (stopReason === "aborted")
    throw new SummaryError("aborted", "The call was aborted on its way.", { transient: true })
  const texts = content.flatMap(({ text, type }) =>
    type === "text" && typeof text === "string" && text !== "" ? [text] : []
  )
  const input =
    number(usage?.["input"]) + number(usage?.["cacheRead"]) + number(usage?.["cacheWrite"])
  const output = number(usage?.["output"])
  return {
    text: texts.join("\n"),
    stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : stopReason,
    model: `${String(message.provider)}/${String(message.model)}`,
    ...(input + output === 0 ? {} : { usage: { input, output } })
  }
}

/** What a call of pi needs besides the request. */
export interface PiCall {
  readonly pi: Pi
  readonly model: PiModel
  readonly apiKey: ApiKey | undefined
  readonly timeout: number
}

/** Asks a model through pi: no tools, the least reasoning, nothing written to a cache, no retries of its own. */
export const askPi = (
  { apiKey, model, pi, timeout }: PiCall,
  { maxTokens, prompt, system }: ModelRequest,
  redact: (text: string) => string
): Effect.Effect<ModelAnswer, SummaryError> => {
  let key: string | undefined
  const clean = (text: string): string =>
    redact(key === undefined || key === "" ? text : text.split(key).join("[key]"))
  return Effect.tryPromise({
    try: async (signal) => {
      key = typeof apiKey === "function" ? await apiKey(model.provider) : apiKey
      const reasoning = leastReasoning(model)
      const options = {
        signal,
        maxTokens,
        cacheRetention: "none",
        maxRetries: 0,
        timeoutMs: timeout,
        ...(key === undefined || key === "" ? {} : { apiKey: key }),
        ...(reasoning === undefined ? {} : { reasoning })
      }
      const messages = [{ role: "user", content: prompt, timestamp: 0 }]
      const message = await pi.completeSimple(
        model as never,
        { systemPrompt: system, messages } as never,
        options as never
      )
      return read(message as Answered, clean)
    },
    catch: (error) => failure(error, clean)
  })
}

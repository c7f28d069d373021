import type { AiSdkMessage } from "@varve/codecs/AiSdk"
import type { CacheMark } from "@varve/codecs/Codec"
import type { AdapterOptions } from "./AdapterOptions.ts"
import { keptMessages, keptTools } from "./internal/kept.ts"
import { join } from "./internal/memories.ts"
import { watched } from "./internal/stream.ts"
import type { Beside, Viewed } from "./internal/views.ts"
import type { SdkMemory } from "./SdkMemory.ts"

/** What is needed of what a model is called with. */
export interface ModelCall {
  readonly prompt: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  readonly tools?: ReadonlyArray<unknown> | undefined
  readonly abortSignal?: AbortSignal | undefined
  readonly providerOptions?: unknown
}

/** A language-model middleware, as `wrapLanguageModel` of the AI SDK 6 and 7 takes it. */
export interface Middleware {
  /** What both versions accept. */
  readonly specificationVersion: "v3"
  readonly transformParams: <P extends ModelCall>(options: { readonly params: P }) => Promise<P>
  readonly wrapGenerate: <P extends ModelCall, R extends object>(options: {
    readonly doGenerate: () => PromiseLike<R>
    readonly params: P
    readonly model: { readonly doGenerate: (params: P) => PromiseLike<R> }
  }) => Promise<R>
  readonly wrapStream: <
    P extends ModelCall,
    T extends { readonly type: string },
    R extends { readonly stream: ReadableStream<T> }
  >(options: {
    readonly doStream: () => PromiseLike<R>
    readonly params: P
    readonly model: { readonly doStream: (params: P) => PromiseLike<R> }
  }) => Promise<R>
}

const fieldOf = (u: unknown, name: string): unknown =>
  typeof u === "object" && u !== null ? (u as Record<string, unknown>)[name] : undefined

/** Anthropic's mark for the whole request, where the host sends one. */
const markOf = (options: unknown): CacheMark | undefined => {
  const mark = fieldOf(fieldOf(options, "anthropic"), "cacheControl")
  return typeof mark === "object" && mark !== null ? mark : undefined
}

/** A call that is under way. */
interface Call {
  readonly history: ReadonlyArray<AiSdkMessage>
  readonly beside: Beside
  readonly viewed: Viewed
}

/**
 * A language-model middleware for a memory: before each call of the model, the smallest prompt that is valid
 * and fits.
 *
 * Calls in the prompt are recorded as steps, with their outcomes; tools count against the budget; the usage
 * of each answer is taken. Where the provider refuses a request as too large, one smaller request is made;
 * needs a profile with `classify`. If that fails as well, its error is the caller's. Otherwise nothing is
 * thrown: on overflow the model gets the smallest valid view; where the saved session can't be read, a view
 * without it; where the memory is closed or doesn't answer in time, the last view with what came since, else
 * the prompt as it came. An aborted signal ends the wait at once.
 *
 * Throws `ConfigError` where memory or options aren't ones, and where `createPrepareStep` has the memory.
 *
 * @example
 * ```ts
 * import { createMiddleware } from "@varve/adapter-ai-sdk"
 * import { createMemory } from "@varve/core"
 * import { generateText, wrapLanguageModel } from "ai"
 * import { MockLanguageModelV3 } from "ai/test"
 *
 * const usage = { inputTokens: { total: 9 }, outputTokens: { total: 1 } } as never
 * const finishReason = { unified: "stop" as const, raw: undefined }
 * const content = [{ type: "text" as const, text: "Hello!" }]
 * const mock = new MockLanguageModelV3({ doGenerate: { content, finishReason, usage, warnings: [] } })
 *
 * const memory = createMemory({})
 * const model = wrapLanguageModel({ model: mock, middleware: createMiddleware(memory) })
 * const { text } = await generateText({ model, prompt: "Hello." })
 * console.log(text) // => Hello!
 * await memory.close()
 * ```
 */
export const createMiddleware = (memory: SdkMemory, options?: AdapterOptions): Middleware => {
  const { record, smaller, usage, view } = join(memory, options, "createMiddleware")
  /** By the prompt that the model gets. */
  const calls = new WeakMap<object, Call>()
  const toolsOf = keptTools()
  const messagesOf = keptMessages()
  let newest: Call | undefined

  const sent = <P extends ModelCall>(params: P, call: Call): P => {
    const prompt = [...call.viewed.to]
    calls.set(prompt, call)
    newest = call
    return { ...params, prompt }
  }

  /** The smaller call that answers an error of the provider; nothing where the error is the caller's. */
  const again = async <P extends ModelCall>(error: unknown, params: P): Promise<P | undefined> => {
    const call = calls.get(params.prompt)
    if (call === undefined) return undefined
    const viewed = await smaller(error, call.history, call.beside)
    return viewed === undefined ? undefined : sent(params, { ...call, viewed })
  }

  const answered = (call: Call | undefined, answer: unknown): void => {
    if (call !== undefined && call === newest && call.viewed.prepared) usage(answer)
  }

  /** One try, and one smaller one. */
  const tried = async <P extends ModelCall, R>(
    params: P,
    first: () => PromiseLike<R>,
    second: (params: P) => PromiseLike<R>
  ): Promise<readonly [R, P]> => {
    try {
      return [await first(), params]
    } catch (error) {
      const smallerCall = await again(error, params)
      if (smallerCall === undefined) throw error
      return [await second(smallerCall), smallerCall]
    }
  }

  return {
    specificationVersion: "v3",

    transformParams: async ({ params }) => {
      try {
        const history = messagesOf(params.prompt as unknown as ReadonlyArray<AiSdkMessage>)
        const beside = {
          tools: toolsOf(params.tools),
          signal: params.abortSignal,
          automatic: markOf(params.providerOptions)
        }
        record(history)
        return sent(params, { history, beside, viewed: await view(history, beside) })
      } catch {
        // Something that stands for a memory, or for a prompt, and isn't one.
        return params
      }
    },

    wrapGenerate: async ({ doGenerate, model, params }) => {
      const [result, made] = await tried(params, doGenerate, (p) => model.doGenerate(p))
      answered(calls.get(made.prompt), result)
      return result
    },

    wrapStream: async ({ doStream, model, params }) => {
      const [result, made] = await tried(params, doStream, (p) => model.doStream(p))
      let now = made
      const stream = watched(result.stream, {
        // The smaller request may have been made already.
        failed: async (error) => {
          const smallerCall = made === params ? await again(error, params) : undefined
          if (smallerCall === undefined) return undefined
          const { stream: other } = await model.doStream(smallerCall)
          now = smallerCall
          return other
        },
        finished: (part) => answered(calls.get(now.prompt), part)
      })
      return { ...result, stream }
    }
  }
}

import { decodeOptions, Timeout } from "@varve/core/Options"
import { ConfigError, show } from "@varve/core/VarveError"
import * as Schema from "effect/Schema"
import type { Served } from "./internal/serve.ts"
import { serve } from "./internal/serve.ts"
import type { LangChainMemory, MemoryFor, MemoryMiddleware, ModelCall } from "./LangChainAgent.ts"

const Options = Schema.Struct({
  /**
   * The argument of your tools that says what a call is for. Default: none; a step's goal is then the call
   * itself, as in `click(label: "Save")`.
   */
  goalArgument: Schema.optional(Schema.NonEmptyString),
  /**
   * True: Anthropic's cache marks stand where the memory says that they do most good. Default: false. Needs a
   * model of Anthropic's, and a profile whose cache has marks.
   */
  marks: Schema.optional(Schema.Boolean),
  /**
   * Longest that a model call waits for the memory, ms; default 120 000, at most 2 147 483 647. Then it goes on
   * without it.
   */
  timeout: Schema.optional(Timeout)
})

/** What `memoryMiddleware` takes. */
export type MemoryMiddlewareOptions = typeof Options.Type

const isMemory = (memory: unknown): memory is LangChainMemory => {
  const { prepare, transformContext } = (memory ?? {}) as Partial<LangChainMemory>
  return typeof prepare === "function" && typeof transformContext === "function"
}

const check = (memory: unknown, allowed: string): LangChainMemory => {
  if (isMemory(memory)) return memory
  throw new ConfigError([{ path: "memory", given: show(memory), allowed }])
}

/**
 * Puts a memory into a LangChain agent, as a middleware of `createAgent`: before every model call the
 * messages become the smallest view that is valid and fits. The graph's state keeps them all.
 *
 * System message and tools count against the budget. Each tool call is recorded as a step with its outcome,
 * and the usage that the model reports is taken. An answer that was refused as too large is asked for once
 * more with a smaller request, where the memory's profile can tell; the second error is the caller's.
 *
 * One memory is for one conversation. An agent that serves several takes a function in its place: it is given
 * the run's `runtime` before each call, and gives the memory of that conversation.
 *
 * Throws `ConfigError` where memory or options aren't ones. Nothing of ours is thrown later; an error of a
 * function of yours reaches LangChain.
 *
 * @example
 * ```ts
 * import { memoryMiddleware } from "@varve/adapter-langchain"
 * import { createMemory, hardLimit, stepMemory } from "@varve/core"
 * import { AIMessage, createAgent, fakeModel } from "langchain"
 *
 * const memory = createMemory({ pipeline: [stepMemory(), hardLimit()] })
 * const model = fakeModel().respond(new AIMessage("Hello!"))
 * const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] })
 * const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Hello." }] })
 * console.log(messages.length) // => 2
 * await memory.close()
 * ```
 */
export const memoryMiddleware = (
  memory: MemoryFor,
  options?: MemoryMiddlewareOptions
): MemoryMiddleware => {
  const given = decodeOptions(Options, options, "memoryMiddleware")
  if (typeof memory !== "function")
    check(memory, "a memory, as createMemory makes it, or a function that gives one")
  const served = new WeakMap<LangChainMemory, Served>()

  const servedIn = async ({ runtime = {} }: ModelCall): Promise<Served | undefined> => {
    const found = typeof memory === "function" ? await memory(runtime) : memory
    if (found === undefined) return undefined
    const own = check(found, "a memory, as createMemory makes it, or undefined")
    let known = served.get(own)
    if (known === undefined) served.set(own, (known = serve(own, given)))
    return known
  }

  return {
    name: "varve-memory",
    wrapModelCall: async (request, handler) => {
      const own = await servedIn(request)
      if (own === undefined) return handler(request)
      const call = own.begin(request)
      const send = async (messages: ReadonlyArray<object>) => {
        const answer = await handler(
          messages === request.messages ? request : { ...request, messages }
        )
        call.answered(answer)
        return answer
      }
      const view = await call.view()
      try {
        return await send(view)
      } catch (error) {
        const smaller = await call.smaller(error)
        if (smaller === undefined) throw error
        return send(smaller)
      }
    }
  }
}

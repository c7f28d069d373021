import type { Limits } from "@varve/core/Budget"
import type { Counter, Overhead } from "@varve/core/Counter"
import { estimateCounter } from "@varve/core/Counter"
import type { PlainMemory } from "@varve/core/createMemory"
import type { Block, Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { isRecord } from "./internal/origins.ts"
import type { Measure } from "./Measure.ts"
import { measure, overLimits } from "./Measure.ts"

/** One request as the model received it. */
export interface ReceivedRequest {
  readonly messages: ReadonlyArray<Message>
  readonly cost: Measure
  /** What a provider would refuse about it; empty where it is valid and fits. */
  readonly refused: ReadonlyArray<string>
}

/** A request that a provider would refuse: not valid, or over a limit. */
export class RefusedRequest extends Error {
  override readonly name = "RefusedRequest"
  readonly reasons: ReadonlyArray<string>
  constructor(reasons: ReadonlyArray<string>) {
    super(`refused: ${reasons.join("; ")}`)
    this.reasons = reasons
  }
}

/** A model that answers by a script and keeps what it was asked. */
export interface ScriptedModel {
  /** Takes a request; rejects with `RefusedRequest` as a provider would. */
  readonly ask: (messages: ReadonlyArray<Message>, overhead?: Overhead) => Promise<Message>
  /** All requests so far, oldest first, refused ones too. */
  readonly requests: ReadonlyArray<ReceivedRequest>
}

/** What `scriptedModel` takes. */
export interface ScriptedModelOptions {
  /** The answer to the request of this number, from 0: an assistant message's content. */
  readonly answer: (
    request: number,
    messages: ReadonlyArray<Message>
  ) => string | ReadonlyArray<Block>
  /** Limits of its provider, as in `{ tokens: 32_000, images: 50 }`; default: none. */
  readonly limits?: Partial<Limits>
  readonly counter?: Counter
  readonly startsWithUser?: boolean
  /** True where it refuses a message with calls right behind another assistant message. */
  readonly alternates?: boolean
}

/**
 * A model by script. Each request is recorded, measured and checked for validity as a provider would check it.
 *
 * @example
 * ```ts
 * import { scriptedModel } from "@varve/testkit/ScriptedModel"
 *
 * const model = scriptedModel({ answer: (n) => `answer ${n}`, limits: { messages: 2 } })
 * await model.ask([{ role: "user", content: "hi" }])
 * console.log(model.requests[0]?.cost.messages) // => 1
 * ```
 */
export const scriptedModel = (options: ScriptedModelOptions): ScriptedModel => {
  const { answer, counter = estimateCounter(), limits = {} } = options
  const { alternates = false, startsWithUser = false } = options
  const requests: Array<ReceivedRequest> = []
  return {
    requests,
    ask: async (messages, overhead = {}) => {
      const cost = measure(messages, counter, overhead)
      const refused = [
        ...checkValidity(messages, { startsWithUser, alternates }).map(
          (f) => `message ${f.at}: ${f.what}`
        ),
        ...overLimits(cost, limits)
      ]
      const request = requests.length
      requests.push({ messages: [...messages], cost, refused })
      if (refused.length > 0) throw new RefusedRequest(refused)
      const content = answer(request, messages)
      const calls = typeof content !== "string" && content.some((b) => b.type === "toolCall")
      return {
        role: "assistant",
        content: typeof content === "string" ? [{ type: "text", text: content }] : content,
        stopReason: calls ? "toolUse" : "stop"
      }
    }
  }
}

/** What `runAgent` takes. */
export interface AgentOptions {
  readonly memory: PlainMemory
  readonly model: ScriptedModel
  /** The host's history so far: at least the task. */
  readonly history: ReadonlyArray<Message>
  /** What a tool call gives, as the content of its result. */
  readonly tool: (name: string, args: unknown) => string | ReadonlyArray<Block>
  /** Requests at most; default 100. */
  readonly requests?: number
  readonly overhead?: Overhead
}

/**
 * The loop of an agent: prepares, asks, runs the tools that the answer calls, and goes on until an answer calls
 * none. A refused request goes through `memory.recover` once or twice, as hosts do. Gives the host's whole
 * history; rejects with what can't be recovered.
 */
export const runAgent = async (options: AgentOptions): Promise<ReadonlyArray<Message>> => {
  const { memory, model, overhead = {}, requests = 100, tool } = options
  const history = [...options.history]
  for (let i = 0; i < requests; i++) {
    let prepared = await memory.prepare<unknown>(history, overhead)
    let answer: Message | undefined
    while (answer === undefined) {
      try {
        answer = await model.ask(prepared.messages as ReadonlyArray<Message>, overhead)
      } catch (error) {
        const smaller = await memory.recover<unknown>(error, history, overhead)
        if (smaller === undefined) throw error
        prepared = smaller
      }
    }
    history.push(answer)
    const calls = (answer.content as ReadonlyArray<Block>).filter((b) => b.type === "toolCall")
    if (calls.length === 0) return history
    for (const { arguments: args, id, name } of calls) {
      const given = tool(name, args)
      const content = isRecord(given) ? given : [{ type: "text", text: given }]
      history.push({
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content,
        isError: false
      } as Message)
    }
  }
  return history
}

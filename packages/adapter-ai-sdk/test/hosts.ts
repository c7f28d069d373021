// The AI SDK 6 and 7, both ways in, both kinds of call: the real loop with the SDK's own mock model.
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { aiSdk } from "@varve/codecs/AiSdk"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as ai7 from "ai"
import * as ai6 from "ai-6"
import { MockLanguageModelV3 } from "ai-6/test"
import { MockLanguageModelV4 } from "ai/test"
import type { AdapterOptions } from "../src/AdapterOptions.ts"
import { createMiddleware } from "../src/Middleware.ts"
import { createPrepareStep } from "../src/PrepareStep.ts"
import type { SdkMemory } from "../src/SdkMemory.ts"

export interface Call {
  readonly name: string
  readonly args?: object
  readonly id?: string
}

/** What the model says. */
export interface Answer {
  readonly text?: string
  readonly reasoning?: string
  readonly calls?: ReadonlyArray<Call>
  /** The request is refused with it. */
  readonly error?: unknown
  /** The same, as a part of the stream. */
  readonly errorPart?: unknown
  readonly tokens?: number
}

/** A part of a prompt, read structurally. */
export type Part = Readonly<Record<string, any>>

/** What the model got. */
export interface Request {
  readonly prompt: ReadonlyArray<{ readonly role: string; readonly content: any }>
  /** The same as the codec reads it. */
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<unknown>
}

export interface Tool {
  readonly name: string
  readonly execute?: (args: any, id: string) => unknown
  /** What the model sees of a result; by default its text. */
  readonly output?: (result: any) => unknown
  readonly needsApproval?: boolean
}

export interface Setup {
  readonly memory?: SdkMemory
  readonly options?: AdapterOptions
  readonly answer: (request: Request, n: number) => Answer | Promise<Answer>
  readonly tools?: ReadonlyArray<Tool>
  readonly system?: string
  readonly messages?: ReadonlyArray<unknown>
  readonly prompt?: string
  readonly signal?: AbortSignal
  /** Most steps of the run. */
  readonly steps?: number
  /** What the provider counts for text, as a multiple of core's estimate. */
  readonly metered?: number
  /** What else the call takes. */
  readonly extra?: object
  /** Around the hook, where there is one. */
  readonly around?: (hook: any) => any
}

export interface Run {
  readonly requests: ReadonlyArray<Request>
  /** What the provider reported, by request. */
  readonly reported: ReadonlyArray<number>
  /** What the host keeps in its history of this run. */
  readonly added: ReadonlyArray<any>
  readonly text: string
}

// The forms of images that version 7 still takes, and tells of each time.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const counter = estimateCounter()

const requestOf = ({ prompt, tools = [] }: any): Request => ({
  prompt: structuredClone(prompt),
  messages: aiSdk.read(prompt),
  tools
})

const usageOf = (total: number, output: number) => ({
  inputTokens: { total, noCache: total, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: output, text: output, reasoning: 0 }
})

/** An answer as it will stand in the history, for the provider's count of it. */
const answerOf = ({ calls = [], text = "" }: Answer): Message =>
  ({
    role: "assistant",
    content: [
      { type: "text", text },
      ...calls.map(({ args = {}, name }) => ({ type: "toolCall", id: "c", name, arguments: args }))
    ]
  }) as unknown as Message

const contentOf = ({ calls = [], reasoning, text }: Answer, n: number): Array<any> => [
  ...(reasoning === undefined
    ? []
    : [{ type: "reasoning", text: reasoning, providerMetadata: { mock: { signature: "s" } } }]),
  ...(text === undefined ? [] : [{ type: "text", text }]),
  ...calls.map(({ args = {}, id, name }, i) => ({
    type: "tool-call",
    toolCallId: id ?? `call-${n}-${i}`,
    toolName: name,
    input: JSON.stringify(args)
  }))
]

const chunksOf = (content: Array<any>): Array<any> =>
  content.flatMap((part, i) => {
    if (part.type === "tool-call") return [part]
    const { providerMetadata, text, type } = part
    const id = `p${i}`
    return [
      { type: `${type}-start`, id },
      { type: `${type}-delta`, id, delta: text },
      { type: `${type}-end`, id, ...(providerMetadata ? { providerMetadata } : {}) }
    ]
  })

const streamOf = (chunks: Array<any>): ReadableStream =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    }
  })

export interface Host {
  readonly name: string
  readonly version: 6 | 7
  readonly way: "prepareStep" | "middleware"
  readonly kind: "generate" | "stream"
  readonly run: (setup: Setup) => Promise<Run>
}

const lines = {
  6: { ai: ai6 as any, Mock: MockLanguageModelV3 as any },
  7: { ai: ai7 as any, Mock: MockLanguageModelV4 as any }
} as const

const toolsOf = (ai: any, tools: ReadonlyArray<Tool>) =>
  Object.fromEntries(
    tools.map(({ execute, name, needsApproval, output }) => [
      name,
      ai.tool({
        description: `Does ${name}.`,
        inputSchema: ai.jsonSchema({ type: "object", properties: {}, additionalProperties: true }),
        ...(execute === undefined
          ? {}
          : { execute: async (args: unknown, { toolCallId }: any) => execute(args, toolCallId) }),
        ...(needsApproval === undefined ? {} : { needsApproval }),
        ...(output === undefined
          ? {}
          : { toModelOutput: ({ output: result }: any) => output(result) })
      })
    ])
  )

const make = (version: 6 | 7, way: Host["way"], kind: Host["kind"]): Host => ({
  name: `ai ${version}, ${way}, ${kind}Text`,
  version,
  way,
  kind,
  run: async (setup) => {
    const { ai, Mock } = lines[version]
    const requests: Array<Request> = []
    const reported: Array<number> = []
    const asked = async (call: any) => {
      call.abortSignal?.throwIfAborted()
      const request = requestOf(call)
      const n = requests.push(request) - 1
      const answer = await setup.answer(request, n)
      if (answer.error !== undefined) throw answer.error
      const count = counter.request({ messages: request.messages, tools: call.tools ?? [] })
      const text = (count.tokens - count.fixed) * (setup.metered ?? 1)
      const tokens = answer.tokens ?? Math.ceil(text + count.fixed)
      reported.push(tokens)
      const unified = (answer.calls ?? []).length > 0 ? "tool-calls" : "stop"
      return {
        content: contentOf(answer, n),
        finishReason: { unified, raw: unified },
        usage: usageOf(tokens, Math.ceil(counter.message(answerOf(answer)) * (setup.metered ?? 1))),
        errorPart: answer.errorPart
      }
    }
    const mock = new Mock({
      doGenerate: async (call: any) => {
        const { errorPart, ...result } = await asked(call)
        if (errorPart !== undefined) throw errorPart
        return { ...result, warnings: [] }
      },
      doStream: async (call: any) => {
        const { content, errorPart, finishReason, usage } = await asked(call)
        const said =
          errorPart === undefined ? chunksOf(content) : [{ type: "error", error: errorPart }]
        const chunks = [
          { type: "stream-start", warnings: [] },
          { type: "response-metadata", id: `r${requests.length}`, modelId: "m" },
          ...said,
          { type: "finish", finishReason, usage }
        ]
        return { stream: streamOf(chunks) }
      }
    })
    const { memory, options, around = (hook: any) => hook } = setup
    const own =
      memory === undefined
        ? { model: mock }
        : way === "prepareStep"
          ? { model: mock, prepareStep: around(createPrepareStep(memory, options)) }
          : {
              model: ai.wrapLanguageModel({
                model: mock,
                middleware: around(createMiddleware(memory, options))
              })
            }
    const call = {
      ...own,
      ...(setup.system === undefined
        ? {}
        : version === 7
          ? { instructions: setup.system }
          : { system: setup.system }),
      ...(setup.messages === undefined
        ? { prompt: setup.prompt ?? "Go." }
        : { messages: deepFreeze(setup.messages) }),
      tools: toolsOf(ai, setup.tools ?? []),
      stopWhen: ai.stepCountIs?.(setup.steps ?? 200) ?? ai.isStepCount(setup.steps ?? 200),
      maxRetries: 0,
      ...(setup.signal === undefined ? {} : { abortSignal: setup.signal }),
      // Whatever the loop is done with is frozen: from then on whoever writes to it fails.
      onStepFinish: ({ response }: any) => void deepFreeze(response.messages),
      ...setup.extra
    }
    if (kind === "generate") {
      const { response, responseMessages = response.messages, text } = await ai.generateText(call)
      return { requests, reported, added: responseMessages, text }
    }
    let failed: { readonly error: unknown } | undefined
    const result = ai.streamText({ ...call, onError: (event: any) => void (failed ??= event) })
    await result.consumeStream({ onError: () => {} })
    if (failed !== undefined) {
      await Promise.allSettled([result.response, result.text, result.steps])
      throw failed.error
    }
    const { messages } = await result.response
    return {
      requests,
      reported,
      added: version === 7 ? await result.responseMessages : messages,
      text: await result.text
    }
  }
})

export const hosts: ReadonlyArray<Host> = ([7, 6] as const).flatMap((version) =>
  (["prepareStep", "middleware"] as const).flatMap((way) =>
    (["generate", "stream"] as const).map((kind) => make(version, way, kind))
  )
)

/** The text of a message that a model reads. */
export const said = (message: { readonly content?: unknown } | undefined): string => {
  const content = message?.content
  if (typeof content === "string") return content
  return Array.isArray(content)
    ? content
        .flatMap((part: Part) => (typeof part["text"] === "string" ? [part["text"]] : []))
        .join("\n")
    : ""
}

/** How a memory's text begins. */
export const title = "[Step memory:"

export const click: Tool = { name: "click", execute: () => "clicked" }
export const calls = (...list: ReadonlyArray<Call>): Answer => ({ calls: list })
/** The answers of a run, one after the other, then an end. */
export const answers =
  (...list: ReadonlyArray<Answer>) =>
  (_: unknown, n: number): Answer =>
    list[n] ?? { text: "Done." }

/** Faults of a prompt on the wire: a call whose results don't stand right behind it, or a result without its call. */
export const wireFaults = ({ prompt }: Request): ReadonlyArray<string> => {
  const faults: Array<string> = []
  prompt.forEach(({ content, role }, i) => {
    if (role === "user" || role === "assistant" || role === "tool") {
      if (!Array.isArray(content) || content.length === 0) faults.push(`${i}: ${role} has no parts`)
    }
    if (!Array.isArray(content)) return
    const ids = (list: any, type: string): ReadonlyArray<string> =>
      (Array.isArray(list) ? list : [])
        .filter((part: Part) => part["type"] === type && part["providerExecuted"] !== true)
        .map((part: Part) => part["toolCallId"])
    const next = prompt[i + 1]
    if (role === "assistant") {
      const called = ids(content, "tool-call").toSorted()
      const got = next?.role === "tool" ? ids(next.content, "tool-result").toSorted() : []
      if (called.join() !== got.join()) faults.push(`${i}: ${called.join()} got ${got.join()}`)
    }
    if (role === "tool" && prompt[i - 1]?.role !== "assistant")
      faults.push(`${i}: results behind ${prompt[i - 1]?.role}`)
  })
  return faults
}

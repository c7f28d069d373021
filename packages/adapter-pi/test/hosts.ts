// pi's two lines behind one face: the real agent, its real loop and its faux provider.
import * as pi16 from "@earendil-works/pi-agent-core"
import * as ai16 from "@earendil-works/pi-ai"
import { stream as anthropic16 } from "@earendil-works/pi-ai/api/anthropic-messages"
import * as pi073 from "@mariozechner/pi-agent-core"
import * as ai073 from "@mariozechner/pi-ai"
import { streamAnthropic as anthropic073 } from "@mariozechner/pi-ai/anthropic"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { deepFreeze } from "@varve/testkit/Freeze"
import type { PiAgent } from "../src/PiAgent.ts"

interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
  readonly id?: string
}

/** What the model says. */
export interface Answer {
  readonly text?: string
  readonly calls?: ReadonlyArray<Call>
  readonly errorMessage?: string
  readonly stopReason?: "stop" | "length" | "toolUse" | "error" | "aborted"
}

type Content = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string }

export interface Tool {
  readonly name: string
  readonly execute: (
    args: Record<string, unknown>,
    signal: AbortSignal | undefined,
    id: string
  ) => Promise<Array<Content>> | Array<Content>
}

/** What the provider got. `messages` has the system message too, in the line that sends one. */
export interface Request {
  readonly messages: ReadonlyArray<Message>
  readonly system: string
  readonly tools: ReadonlyArray<string>
  /** The tools as they are declared to the model. */
  readonly declared: ReadonlyArray<object>
  /** What pi's own Anthropic provider would put on the wire for it; where asked for. */
  readonly wire?: Wire
}

export interface Wire {
  readonly system?: ReadonlyArray<{ readonly text: string }>
  readonly tools?: ReadonlyArray<{ readonly name: string; readonly cache_control?: unknown }>
  readonly messages: ReadonlyArray<{
    readonly role: string
    readonly content: string | ReadonlyArray<Readonly<Record<string, unknown>>>
  }>
}

interface TestAgent extends PiAgent<any> {
  prompt(text: string): Promise<void>
  continue(): Promise<void>
  abort(): void
  steer(message: any): void
  readonly state: PiAgent<any>["state"] & {
    messages: Array<any>
    tools: Array<any>
    readonly errorMessage?: string
  }
}

interface Setup {
  readonly answer: (request: Request, n: number) => Answer | Promise<Answer>
  readonly tools?: ReadonlyArray<Tool>
  readonly system?: string
  readonly messages?: ReadonlyArray<unknown>
  readonly transformContext?: (messages: Array<any>, signal?: AbortSignal) => Promise<Array<any>>
  /** How a role of the host's own reaches the model. */
  readonly convert?: (message: any) => unknown
  /** What the provider counts, as a multiple of core's estimate; without it, the faux provider's own figure. */
  readonly metered?: number
  readonly wire?: boolean
  readonly prepareRequest?: (request: any) => any
}

export interface Run {
  readonly agent: TestAgent
  readonly requests: ReadonlyArray<Request>
  /** What the provider reported, by request. */
  readonly reported: ReadonlyArray<number>
}

const counter = estimateCounter()

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : (content as ReadonlyArray<{ text?: string }>).map(({ text = "" }) => text).join("\n")

/** Freezes what the loop is done with: from then on whoever writes to a message fails. */
const freeze = (agent: TestAgent): void => {
  for (const message of agent.state.messages) deepFreeze(message)
  agent.subscribe((event) => {
    if (event.type === "message_end") deepFreeze((event as unknown as { message: unknown }).message)
  })
}

/** An event stream of pi whose message reports another usage. */
const metered = (inner: any, input: number, factor: number): any => {
  const patch = (message: any) => {
    if (message !== undefined) {
      const output = Math.ceil(counter.message(message) * factor)
      message.usage = { ...message.usage, input, output, cacheRead: 0, cacheWrite: 0 }
    }
    return message
  }
  return {
    async *[Symbol.asyncIterator]() {
      for await (const event of inner) {
        patch(event.message)
        yield event
      }
    },
    result: async () => patch(await inner.result())
  }
}

const schema = { type: "object", properties: {}, additionalProperties: true } as any

const toolsOf = (tools: ReadonlyArray<Tool>): Array<any> =>
  tools.map(({ name, execute }) => ({
    name,
    label: name,
    description: `Does ${name}.`,
    parameters: schema,
    execute: async (id: string, args: Record<string, unknown>, signal?: AbortSignal) => ({
      content: await execute(args, signal, id),
      details: {}
    })
  }))

const claude = { api: "anthropic-messages", provider: "anthropic", id: "claude-sonnet-4-5" }

const wireOf = async (stream: any, model: any, context: any, options: any): Promise<Wire> => {
  let wire: Wire | undefined
  await stream({ ...model, ...claude, baseUrl: "http://127.0.0.1:9" }, context, {
    apiKey: "none",
    onPayload: async (payload: Wire) => {
      const sent = (await options?.onPayload?.(payload, model)) ?? payload
      wire = JSON.parse(JSON.stringify(sent)) as Wire
      throw new Error("nothing is sent")
    }
  }).result()
  if (wire === undefined) throw new Error("the provider made no request")
  return wire
}

interface Line {
  readonly ai: typeof ai073 | typeof ai16
  readonly request: (context: any) => Omit<Request, "wire">
  readonly anthropic: unknown
}

/** The answers of a run, as the faux provider takes them. */
const script = ({ ai, request: read, anthropic }: Line, setup: Setup, run: any) => {
  let n = 0
  return Array.from(
    { length: 2001 },
    () => async (context: any, options: any, _s: any, model: any) => {
      const request: Request = {
        ...read(context),
        ...(setup.wire === true ? { wire: await wireOf(anthropic, model, context, options) } : {})
      }
      run.requests.push(request)
      const { text, calls = [], stopReason, errorMessage } = await setup.answer(request, n++)
      const content = [
        ...(text === undefined ? [] : [ai.fauxText(text)]),
        ...calls.map(({ name, args, id }, i) =>
          ai.fauxToolCall(name, args as any, { id: id ?? `call-${n}-${i}` })
        )
      ]
      return ai.fauxAssistantMessage(content, {
        stopReason: stopReason ?? (calls.length > 0 ? "toolUse" : "stop"),
        ...(stopReason === "error" ? { errorMessage: errorMessage ?? "It failed." } : {})
      }) as any
    }
  )
}

const meter = (setup: Setup, run: any, request: Request, inner: any): any => {
  if (setup.metered === undefined) return inner
  const { system, messages, declared } = request
  const beside = messages.some(({ role }) => role === "system") ? undefined : system
  const count = counter.request({ system: beside, messages, tools: declared })
  const tokens = Math.ceil(count.tokens * setup.metered)
  run.reported.push(tokens)
  return metered(inner, tokens, setup.metered)
}

const convertWith =
  (setup: Setup, roles: ReadonlyArray<string>) =>
  (messages: Array<any>): Array<any> =>
    messages.flatMap((message) =>
      roles.includes(message.role) ? [message] : (setup.convert?.(message) ?? [])
    )

const frozen = (): Host => {
  const line: Line = {
    ai: ai073,
    anthropic: anthropic073,
    request: ({ messages, systemPrompt, tools = [] }) => ({
      messages: messages.slice(),
      system: systemPrompt ?? "",
      tools: tools.map(({ name }: { name: string }) => name),
      declared: tools.map(({ name, description, parameters }: any) => ({
        name,
        description,
        parameters
      }))
    })
  }
  return {
    name: "@mariozechner/pi-agent-core 0.73.1",
    make: (setup) => {
      const run = { requests: [], reported: [] }
      const faux = ai073.registerFauxProvider()
      faux.setResponses(script(line, setup, run))
      const agent: PiAgent<pi073.AgentMessage> & pi073.Agent = new pi073.Agent({
        initialState: {
          systemPrompt: setup.system ?? "You work a screen.",
          model: faux.getModel(),
          tools: toolsOf(setup.tools ?? []),
          messages: (setup.messages ?? []) as Array<pi073.AgentMessage>
        },
        streamFn: (model, context, options) =>
          meter(setup, run, line.request(context), ai073.streamSimple(model, context, options)),
        ...(setup.transformContext ? { transformContext: setup.transformContext } : {}),
        convertToLlm: convertWith(setup, ["user", "assistant", "toolResult"])
      })
      freeze(agent)
      return { agent: agent, ...run }
    }
  }
}

const living = (): Host => {
  const line: Line = {
    ai: ai16,
    anthropic: anthropic16,
    request: ({ messages }) => ({
      messages: messages.slice(),
      system: ai16.getCurrentSystemPrompt(messages),
      tools: ai16.getCurrentTools(messages).map(({ name }) => name),
      declared: ai16.getCurrentTools(messages)
    })
  }
  return {
    name: "@earendil-works/pi-agent-core 1.6.0",
    make: (setup) => {
      const run = { requests: [], reported: [] }
      const faux = ai16.fauxProvider()
      faux.setResponses(script(line, setup, run))
      const models = ai16.createModels()
      models.setProvider(faux.provider)
      const agent: PiAgent<pi16.AgentMessage> & pi16.Agent = new pi16.Agent({
        initialState: {
          systemPrompt: setup.system ?? "You work a screen.",
          model: faux.getModel(),
          tools: toolsOf(setup.tools ?? []),
          messages: (setup.messages ?? []) as Array<pi16.AgentMessage>
        },
        streamFn: (model, context, options) =>
          meter(setup, run, line.request(context), models.streamSimple(model, context, options)),
        ...(setup.transformContext ? { transformContext: setup.transformContext } : {}),
        ...(setup.prepareRequest ? { prepareRequest: setup.prepareRequest } : {}),
        convertToLlm: convertWith(setup, ["system", "user", "assistant", "toolResult"])
      })
      freeze(agent)
      return { agent: agent, ...run }
    }
  }
}

export interface Host {
  readonly name: string
  readonly make: (setup: Setup) => Run
}

export const hosts: ReadonlyArray<Host> = [frozen(), living()]

/** The line that carries the system message in the transcript. */
export const inTranscript: Host = hosts[1]!

/** The text of a message that a model reads. */
export const said = (message: { readonly content?: unknown } | undefined): string =>
  message?.content === undefined ? "" : textOf(message.content)

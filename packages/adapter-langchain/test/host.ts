// LangChain's agent behind one face: createAgent, its loop and its own fake model.
import { AIMessage, HumanMessage } from "@langchain/core/messages"
import type { BaseMessage } from "@langchain/core/messages"
import { langChain } from "@varve/codecs/LangChain"
import { estimateCounter } from "@varve/core/Counter"
import { imageOf, textOf, visitBlocks } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { deepFreeze } from "@varve/testkit/Freeze"
import { createAgent, createMiddleware, fakeModel, tool } from "langchain"
import * as z from "zod"

interface Call {
  readonly name: string
  readonly args?: Record<string, unknown>
  readonly id?: string
}

/** What the model says, or what its provider refuses it with. */
export type Answer =
  | Error
  | { readonly text?: string; readonly calls?: ReadonlyArray<Call>; readonly usage?: object }

type Result = string | ReadonlyArray<object>

export interface Tool {
  readonly name: string
  readonly execute: (args: Record<string, unknown>, id: string) => Promise<Result> | Result
}

interface Setup {
  readonly answer: (messages: ReadonlyArray<BaseMessage>, n: number) => Answer
  readonly tools?: ReadonlyArray<Tool>
  readonly system?: string
  /** LangChain's own types of these don't stand `exactOptionalPropertyTypes`. */
  readonly middleware: ReadonlyArray<any>
  readonly checkpointer?: any
  /** What the provider counts, as a multiple of core's estimate. */
  readonly metered?: number
}

const schema = z.object({}).catchall(z.unknown())

const toolOf = ({ execute, name }: Tool) =>
  tool(
    async (args: Record<string, unknown>, { toolCallId }: any) =>
      (await execute(args, toolCallId)) as string,
    {
      name,
      description: `Does ${name}.`,
      schema
    }
  )

const counter = estimateCounter()

/** Freezes the history before each call: from then on whoever writes to a message fails. */
const frozen = createMiddleware({
  name: "frozen",
  wrapModelCall: (request, handler) => {
    // The list itself is written to by LangChain's own context editing.
    for (const message of request.messages) deepFreeze(message)
    return handler(request)
  }
})

export const agentOf = (setup: Setup) => {
  const { checkpointer, metered, middleware, system = "You work a screen.", tools = [] } = setup
  const reported: Array<number> = []
  const model = fakeModel()
  const declared = tools.map(({ name }) => ({
    name,
    description: `Does ${name}.`,
    parameters: schema.toJSONSchema()
  }))
  for (let n = 0; n < 600; n++) {
    model.respond((messages) => {
      const answer = setup.answer(messages, n)
      if (answer instanceof Error) return answer
      const { calls = [], text = "", usage } = answer
      const made = new AIMessage({
        content: text,
        tool_calls: calls.map(({ args = {}, id, name }, i) => ({
          type: "tool_call",
          id: id ?? `call-${n}-${i}`,
          name,
          args
        }))
      })
      const count = counter.request({ messages: langChain.read(messages), tools: declared })
      const input_tokens = Math.ceil(count.tokens * (metered ?? 1))
      reported.push(input_tokens)
      const answered = counter.message(langChain.read([made])[0]!)
      const output_tokens = Math.ceil(answered * (metered ?? 1))
      made.usage_metadata =
        usage ??
        ((metered === undefined
          ? undefined
          : { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }) as any)
      return made
    })
  }
  const agent = createAgent({
    model,
    tools: tools.map(toolOf),
    systemPrompt: system,
    middleware: [frozen, ...middleware],
    ...(checkpointer === undefined ? {} : { checkpointer })
  })
  return {
    agent,
    model,
    reported,
    declared,
    /** What the model got, request by request. */
    requests: (): ReadonlyArray<ReadonlyArray<BaseMessage>> => model.calls.map((c) => c.messages),
    run: async (
      text: string,
      config: object = {},
      before: ReadonlyArray<BaseMessage> = []
    ): Promise<Array<BaseMessage>> => {
      const { messages } = await agent.invoke(
        { messages: [...before, new HumanMessage(text)] },
        { recursionLimit: 1000, ...config }
      )
      return messages
    }
  }
}

export const user = (content: string) => ({ messages: [{ role: "user", content }] })

export const read = (messages: ReadonlyArray<BaseMessage>): ReadonlyArray<Message> =>
  langChain.read(messages)

export const said = (messages: ReadonlyArray<BaseMessage>): ReadonlyArray<string> =>
  read(messages).map(textOf)

/** The images of a request, in order, as base64. */
export const pictures = (messages: ReadonlyArray<BaseMessage>): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const message of read(messages))
    visitBlocks(message, (block) => {
      const data = imageOf(block)?.data
      if (data !== undefined) found.push(data)
    })
  return found
}

export const picture = (data: string): object => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${data}` }
})

/** How a memory's text begins. */
export const title = "[Step memory:"

export const hasMemo = (messages: ReadonlyArray<BaseMessage>): boolean =>
  said(messages).some((text) => text.startsWith(title))

export const click: Tool = { name: "click", execute: () => "clicked" }
export const call = (n: number): Answer => ({ calls: [{ name: "click", args: { n } }] })

/** Clicks so many times, then ends. */
export const clicks =
  (times: number, text = "") =>
  (_: unknown, n: number): Answer =>
    n < times ? { text, ...call(n) } : { text: "Done." }

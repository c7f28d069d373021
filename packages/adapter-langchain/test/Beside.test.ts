import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessageChunk, RemoveMessage } from "@langchain/core/messages"
import type { BaseMessage } from "@langchain/core/messages"
import { ChatGenerationChunk } from "@langchain/core/outputs"
import { Command, MemorySaver, REMOVE_ALL_MESSAGES } from "@langchain/langgraph"
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import { checkValidity } from "@varve/core/Validity"
import {
  AIMessage,
  anthropicPromptCachingMiddleware,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createAgent,
  createMiddleware,
  dynamicSystemPromptMiddleware,
  fakeModel,
  humanInTheLoopMiddleware,
  summarizationMiddleware,
  todoListMiddleware,
  tool
} from "langchain"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { memoryMiddleware } from "../src/MemoryMiddleware.ts"
import { agentOf, call, click, clicks, hasMemo, read, said, user } from "./host.ts"

const memory = (tokens = 900) =>
  createMemory({ pipeline: [stepMemory(), hardLimit()], budget: { tokens } })

const page = { name: "click", execute: () => "a line of a page. ".repeat(80) }

const summarizer = () => {
  const model = fakeModel()
  for (let n = 0; n < 50; n++) model.respond(new AIMessage("A summary of what was done."))
  return summarizationMiddleware({
    model,
    trigger: { messages: 12 },
    keep: { messages: 6 },
    tokenCounter: () => 0
  } as never)
}

const editing = () =>
  contextEditingMiddleware({
    edits: [new ClearToolUsesEdit({ trigger: { messages: 8 }, keep: { messages: 3 } })]
  })

const others: ReadonlyArray<readonly [string, () => any]> = [
  ["summarization, which rewrites the state", summarizer],
  ["context editing, which writes to the request", editing],
  ["a list of things to do, which adds to the system text", () => todoListMiddleware()],
  ["a dynamic system prompt", () => dynamicSystemPromptMiddleware(() => "Be brief.")],
  [
    "Anthropic's prompt caching",
    () => anthropicPromptCachingMiddleware({ unsupportedModelBehavior: "ignore" } as never)
  ]
]

describe.each(others)("beside %s", (_, make) => {
  it.each(["before", "behind"])("%s it", async (order) => {
    const own = memoryMiddleware(memory(6000))
    const host = agentOf({
      middleware: order === "before" ? [own, make()] : [make(), own],
      tools: [page],
      answer: clicks(14, "I click.")
    })
    const history = await host.run("Click.")
    expect(history.at(-1)!.text).toBe("Done.")
    const sent = host.requests()
    expect(sent).toHaveLength(15)
    for (const [n, messages] of sent.entries()) {
      expect(checkValidity(read(messages)), `request ${n}`).toEqual([])
      if (n > 0) expect(hasMemo(messages), `request ${n}`).toBe(true)
    }
    expect(hasMemo(history)).toBe(false)
  })
})

describe("streaming", () => {
  it.each(["values", "updates", "messages"] as const)("%s", async (streamMode) => {
    const host = agentOf({
      middleware: [memoryMiddleware(memory())],
      tools: [click],
      answer: clicks(8, "words ".repeat(80))
    })
    const chunks: Array<unknown> = []
    const stream = await host.agent.stream(user("Click."), { streamMode, recursionLimit: 100 })
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.length).toBeGreaterThan(8)
    const text = JSON.stringify(chunks)
    expect(text).toContain("Done.")
    expect(text).not.toContain("left out to fit the limit")
    const sent = host.requests()
    expect(sent).toHaveLength(9)
    expect(said(sent.at(-1)!).join("\n")).toContain("left out to fit the limit")
    for (const messages of sent)
      expect(checkValidity(read(messages), { startsWithUser: true })).toEqual([])
  })
})

/** A model that streams: each answer comes in pieces, arguments and usage among them. */
class Streaming extends BaseChatModel {
  readonly sent: Array<ReadonlyArray<BaseMessage>> = []

  _llmType(): string {
    return "streaming"
  }

  override bindTools(): any {
    return this
  }

  _generate(): never {
    throw new Error("It only streams.")
  }

  override async *_streamResponseChunks(messages: Array<BaseMessage>, _: object, run?: any) {
    const n = this.sent.push(messages) - 1
    const piece = (fields: object) => {
      const message = new AIMessageChunk({ content: "", ...fields })
      const chunk = new ChatGenerationChunk({ text: message.text, message })
      run?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk })
      return chunk
    }
    for (const content of ["I ", "click ", "words ".repeat(80)]) yield piece({ content })
    const call = { type: "tool_call_chunk", index: 0 } as const
    if (n < 8) {
      yield piece({ tool_call_chunks: [{ ...call, id: `c${n}`, name: "click", args: '{"n":' }] })
      yield piece({ tool_call_chunks: [{ ...call, args: `${n}}` }] })
    }
    const { tokens: input_tokens } = estimateCounter().request({ messages: read(messages) })
    yield piece({ usage_metadata: { input_tokens, output_tokens: 90 } })
  }
}

describe("a model that streams", () => {
  it("answers in pieces, which make steps, usage and history like any other", async () => {
    const model = new Streaming({})
    const reports: Array<string> = []
    const own = createMemory({
      pipeline: [stepMemory(), hardLimit()],
      budget: { tokens: 900 },
      onEvent: (event) => {
        reports.push(event.type === "prepared" ? event.report.after.source : event.type)
      }
    })
    const agent = createAgent({
      model,
      tools: [tool(() => "clicked", { name: "click", schema: z.object({ n: z.number() }) })],
      middleware: [memoryMiddleware(own)]
    })
    let pieces = 0
    const stream = await agent.stream(user("Click."), {
      streamMode: "messages",
      recursionLimit: 100
    })
    for await (const _ of stream) pieces++
    expect(pieces).toBeGreaterThan(40)
    expect(model.sent).toHaveLength(9)
    expect(said(model.sent[8]!).join("\n")).toContain("left out to fit the limit")
    for (const messages of model.sent)
      expect(checkValidity(read(messages), { startsWithUser: true })).toEqual([])
    expect(own.compose()).toContain('step 8: success, "click(n: 7)" (click)')
    expect(reports).toEqual(["estimated", ...Array.from({ length: 8 }, () => "usage")])
  })
})

describe("a history that is not only added to", () => {
  it("what a person changed in a call is what is remembered", async () => {
    const config = { configurable: { thread_id: "a" }, recursionLimit: 50 }
    const own = memory()
    const host = agentOf({
      checkpointer: new MemorySaver(),
      middleware: [
        humanInTheLoopMiddleware({
          interruptOn: { click: { allowedDecisions: ["approve", "edit", "reject"] } }
        } as never),
        memoryMiddleware(own)
      ],
      tools: [page],
      answer: clicks(2)
    })
    await host.agent.invoke(user("Click."), config)
    expect(host.requests()).toHaveLength(1)
    const decide = (decision: object) =>
      host.agent.invoke(new Command({ resume: { decisions: [decision] } }), config)
    await decide({
      type: "edit",
      editedAction: { name: "click", args: { label: "Cancel" } }
    })
    await decide({ type: "reject", message: "Not that one." })
    const sent = host.requests()
    expect(sent).toHaveLength(3)
    expect(own.compose()).toContain(String.raw`step 1: success, "click(label: \"Cancel\")"`)
    expect(own.compose()).toContain('step 2: failed, "click(n: 1)"')
    expect(own.compose()).toContain("Not that one.")
    for (const messages of sent) expect(checkValidity(read(messages))).toEqual([])
  })

  it("messages that the host removes are gone from the next request, and the run goes on", async () => {
    let n = 0
    const cleaner = createMiddleware({
      name: "cleaner",
      beforeModel: ({ messages }) =>
        n++ === 5
          ? {
              messages: [
                new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
                ...messages.slice(0, 1),
                ...messages.slice(-2)
              ]
            }
          : undefined
    })
    const host = agentOf({
      middleware: [memoryMiddleware(memory()), cleaner],
      tools: [page],
      answer: (_, i) => (i < 8 ? call(i) : { text: "Done." })
    })
    const history = await host.run("Click.")
    expect(history).toHaveLength(10)
    for (const messages of host.requests())
      expect(checkValidity(read(messages), { startsWithUser: true })).toEqual([])
  })
})

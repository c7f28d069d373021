import type { BaseMessage } from "@langchain/core/messages"
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Block, Message } from "@varve/core/Message"
import { blocksOf, imageOf, textOf } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { requireData } from "@varve-examples/session-readers/Data"
import { session } from "@varve-examples/session-readers/Sessions"
import { describe, expect, it } from "vitest"
import { memoryMiddleware } from "../src/MemoryMiddleware.ts"
import type { Answer } from "./host.ts"
import { agentOf, hasMemo, picture, read } from "./host.ts"

const data = requireData("a real session through createAgent")
const limit = 40_000

type Result = Extract<Message, { readonly role: "toolResult" }>
type Assistant = Extract<Message, { readonly role: "assistant" }>
type Said = Exclude<Answer, Error>

const answerOf = (message: Assistant): Said => {
  const calls = blocksOf(message).flatMap((b) => (b.type === "toolCall" ? [b] : []))
  return {
    text: textOf(message),
    calls: calls.map(({ arguments: args, id, name }) => ({ id, name, args: args as object as {} }))
  }
}

/** A recorded session as what a user asks, what a model answers, and what tools give for each call. */
const script = (messages: ReadonlyArray<Message>) => {
  const results = new Map<string, Result>()
  const prompts: Array<{ readonly text: string; readonly answers: Array<Said> }> = []
  for (const message of messages) {
    if (message.role === "toolResult") results.set(message.toolCallId, message)
    if (message.role === "user" && textOf(message).trim() !== "")
      prompts.push({ text: textOf(message), answers: [] })
    if (message.role === "assistant") prompts.at(-1)?.answers.push(answerOf(message))
  }
  return { results, prompts }
}

const content = (block: Block): object => {
  const image = imageOf(block)
  return image?.data === undefined ? block : picture(image.data)
}

describe.runIf(data)("a recorded session", () => {
  it("of hundreds of requests, played through the loop, fits at every request", async () => {
    const { prompts, results } = script(session("pi/large-session").messages)
    const waiting: Array<Said> = []
    const called: Array<string> = []
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
      budget: { tokens: limit, images: 10 },
      onEvent: (event) => events.push(event)
    })
    const all = prompts.flatMap(({ answers }) => answers.flatMap(({ calls = [] }) => calls))
    const host = agentOf({
      middleware: [memoryMiddleware(memory)],
      metered: 1.1,
      answer: () => waiting.shift() ?? { text: "Done." },
      tools: [...new Set(all.map(({ name }) => name))].map((name) => ({
        name,
        execute: (_, id) => {
          called.push(id)
          const result = results.get(id)
          if (result === undefined || result.isError)
            throw new Error(result === undefined ? "No result." : textOf(result).slice(0, 500))
          return blocksOf(result).map(content)
        }
      }))
    })
    let history: ReadonlyArray<BaseMessage> = []
    for (const { answers, text } of prompts) {
      // LangChain's loop ends with the first answer that calls nothing.
      const end = answers.findIndex(({ calls }) => calls?.length === 0)
      waiting.splice(0, waiting.length, ...(end < 0 ? answers : answers.slice(0, end + 1)))
      history = await host.run(text, {}, history)
    }
    await memory.close()

    const sent = host.requests()
    expect(sent.length).toBeGreaterThan(400)
    expect(called.length).toBeGreaterThan(380)
    const counter = estimateCounter()
    for (const [n, messages] of sent.entries()) {
      const neutral = read(messages)
      expect(checkValidity(neutral, { startsWithUser: true }), `request ${n}`).toEqual([])
      expect(counter.request({ messages: neutral }).tokens, `request ${n}`).toBeLessThanOrEqual(
        limit
      )
      expect(host.reported[n], `tokens of request ${n}`).toBeLessThanOrEqual(limit)
    }
    const begun = sent.findIndex((messages) => messages.some(({ type }) => type === "tool"))
    for (const messages of sent.slice(begun)) expect(hasMemo(messages)).toBe(true)
    expect(events.filter(({ type }) => type !== "prepared")).toEqual([])
  }, 120_000)
})

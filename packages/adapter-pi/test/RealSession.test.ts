import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { requireData } from "@varve-examples/session-readers/Data"
import { session } from "@varve-examples/session-readers/Sessions"
import { describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { Answer, Tool } from "./hosts.ts"
import { hosts, said } from "./hosts.ts"

const data = requireData("real sessions through pi's loops")
const limit = 40_000

type Result = Extract<Message, { readonly role: "toolResult" }>
type Assistant = Extract<Message, { readonly role: "assistant" }>

/** A recorded session as what a user asks, what a model answers, and what tools give for each call. */
const script = (messages: ReadonlyArray<Message>) => {
  const results = new Map<string, Result>()
  const prompts: Array<{ readonly text: string; readonly answers: Array<Answer> }> = []
  const names = new Set<string>()
  for (const message of messages) {
    if (message.role === "toolResult") results.set(message.toolCallId, message)
    if (message.role === "user" && said(message).trim() !== "")
      prompts.push({ text: said(message), answers: [] })
    if (message.role === "assistant") prompts.at(-1)?.answers.push(answerOf(message, names))
  }
  return { results, prompts, names }
}

const answerOf = ({ content }: Assistant, names: Set<string>): Answer => {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
  const text = blocks.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n")
  const calls = blocks.flatMap((b) => (b.type === "toolCall" ? [b] : []))
  for (const { name } of calls) names.add(name)
  return {
    ...(text === "" ? {} : { text }),
    calls: calls.map(({ id, name, arguments: args }) => ({
      id,
      name,
      args: args as Record<string, unknown>
    }))
  }
}

describe.runIf(data).each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  it("a recorded session of hundreds of requests, played through the loop, fits at every request", async () => {
    const { messages } = session("pi/large-session")
    const { results, prompts, names } = script(messages)
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
      budget: { tokens: limit, images: 10 },
      onEvent: (event) => events.push(event)
    })
    const waiting: Array<Answer> = []
    const called: Array<string> = []
    const tools = [...names].map((name): Tool => ({
      name,
      execute: (_args, _signal, id) => {
        called.push(id)
        const result = results.get(id)
        if (result === undefined || result.isError === true) {
          throw new Error(said(result).slice(0, 500) || "No result was recorded.")
        }
        return structuredClone(result.content) as Array<any>
      }
    }))
    const { agent, requests, reported } = host.make({
      tools,
      metered: 1.1,
      answer: () => waiting.shift() ?? { text: "Done." }
    })
    attach(agent, memory)
    for (const { text, answers } of prompts) {
      waiting.push(...answers)
      await agent.prompt(text)
      expect(agent.state.errorMessage).toBeUndefined()
    }
    await memory.close()

    expect(requests.length).toBeGreaterThan(400)
    expect(called.length).toBeGreaterThan(380)
    const counter = estimateCounter()
    for (const [n, { messages }] of requests.entries()) {
      expect(checkValidity(messages, { startsWithUser: true }), `request ${n}`).toEqual([])
      expect(counter.request({ messages }).tokens, `request ${n}`).toBeLessThanOrEqual(limit)
      expect(reported[n], `tokens of request ${n}`).toBeLessThanOrEqual(limit)
    }
    const begun = requests.findIndex(({ messages }) =>
      messages.some((m) => said(m) !== "" && m.role === "toolResult")
    )
    for (const { messages } of requests.slice(begun)) {
      expect(messages.some((m) => said(m).startsWith("[Step memory:"))).toBe(true)
    }
    expect(events.filter(({ type }) => type !== "prepared")).toEqual([])
  }, 120_000)
})

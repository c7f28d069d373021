import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import { imageOf } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { requireData } from "@varve-examples/session-readers/Data"
import { session } from "@varve-examples/session-readers/Sessions"
import { describe, expect, it } from "vitest"
import type { Answer, Request, Tool } from "./hosts.ts"
import { hosts, said, title, wireFaults } from "./hosts.ts"

const data = requireData("a real session through the AI SDK's loops")
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
    calls: calls.map(({ id, name, arguments: args }) => ({ id, name, args: args as object }))
  }
}

/** A recorded result as the SDK has it. */
const outputOf = ({ content }: Result) => ({
  type: "content",
  value: (typeof content === "string" ? [{ type: "text", text: content }] : content).map(
    (block) => {
      const image = imageOf(block)
      return image === undefined
        ? { type: "text", text: (block as { readonly text?: string }).text ?? "" }
        : { type: "file", data: { type: "data", data: image.data }, mediaType: image.mimeType }
    }
  )
})

// One of each way and of each kind of call: the session is long.
const chosen = hosts.filter(
  ({ kind, version, way }) => version === 7 && (way === "middleware") === (kind === "stream")
)

describe.runIf(data).each(chosen.map((host) => [host.name, host] as const))("%s", (_, host) => {
  it("a recorded session of hundreds of requests, played through the loop, fits at every request", async () => {
    const { messages } = session("pi/large-session")
    const { results, prompts, names } = script(messages)
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
      budget: { tokens: limit, images: 10 },
      onEvent: (event) => events.push(event)
    })
    const tools = [...names].map((name): Tool => ({
      name,
      execute: (_args, id) => {
        const result = results.get(id)
        if (result === undefined || result.isError === true) {
          throw new Error(said(result).slice(0, 500) || "No result was recorded.")
        }
        return result
      },
      output: outputOf
    }))
    const history: Array<unknown> = []
    const requests: Array<Request> = []
    const reported: Array<number> = []
    for (const { text, answers } of prompts) {
      history.push({ role: "user", content: text })
      const run = await host.run({
        memory,
        messages: history.slice(),
        tools,
        steps: 1000,
        metered: 1.1,
        answer: (_request, n) => answers[n] ?? { text: "Done." }
      })
      history.push(...run.added)
      requests.push(...run.requests)
      reported.push(...run.reported)
    }
    await memory.close()

    expect(requests.length).toBeGreaterThan(400)
    const counter = estimateCounter()
    for (const [n, request] of requests.entries()) {
      const { messages, tools: declared } = request
      expect(checkValidity(messages), `request ${n}`).toEqual([])
      expect(wireFaults(request), `request ${n}`).toEqual([])
      expect(counter.request({ messages, tools: declared }).tokens).toBeLessThanOrEqual(limit)
      // The tools are no part of what prepareStep sees; the provider's figure brings them in.
      if (n > 0) expect(reported[n], `tokens of request ${n}`).toBeLessThan(limit * 1.005)
    }
    const begun = requests.findIndex(({ prompt }) => prompt.some(({ role }) => role === "tool"))
    for (const { prompt } of requests.slice(begun)) {
      expect(prompt.some((m) => said(m).startsWith(title))).toBe(true)
    }
    expect(events.filter(({ type }) => type !== "prepared")).toEqual([])
  }, 180_000)
})

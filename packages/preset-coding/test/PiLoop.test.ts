import { Agent } from "@mariozechner/pi-agent-core"
import type { AgentTool } from "@mariozechner/pi-agent-core"
import {
  fauxAssistantMessage,
  fauxText,
  fauxToolCall,
  registerFauxProvider,
  Type
} from "@mariozechner/pi-ai"
import { attach } from "@varve/adapter-pi"
import type { Message, VarveEvent } from "@varve/core"
import { createMemory } from "@varve/core"
import { deepFreeze } from "@varve/testkit/Freeze"
import { checkPrepared, explain } from "@varve/testkit/Invariants"
import { expect, it } from "vitest"
import { codingAgent } from "../src/index.ts"

const steps = 120
const limit = 16_000

const text = (content: unknown): string => JSON.stringify(content)

const lines = [
  "const total = order.items.reduce((sum, { price, count }) => sum + price * count, 0)",
  "  if (customer === undefined || !isKnown(customer.id)) throw new OrderError(order.id)",
  "/** What is left of the stock once the order has gone out; never below zero. */",
  '  return { ...order, state: total > limit ? ("held" as const) : ("open" as const) }',
  "}",
  "",
  "export const shipped = (orders: ReadonlyArray<Order>): ReadonlyMap<string, Order> =>",
  '  new Map(orders.filter(({ state }) => state === "sent").map((o) => [o.id, o]))'
]

/** A source file of 40 to 400 lines. */
const source = (at: number): string =>
  Array.from({ length: 40 + ((37 * at) % 360) }, (_, i) => lines[(i + at) % lines.length]).join(
    "\n"
  )

/** Reads source files; each ninth test run fails. */
const tools = (): Array<AgentTool> => {
  const tool = (name: string, run: (at: number) => string): AgentTool => ({
    name,
    label: name,
    description: `Does ${name}.`,
    parameters: Type.Object({ at: Type.Number() }),
    execute: async (_id, args) => {
      const { at } = args as { readonly at: number }
      return { content: [{ type: "text", text: run(at) }], details: {} }
    }
  })
  return [
    tool("read", source),
    tool("test", (at) => {
      if (at % 9 === 8) throw new Error(`FAIL part${at}.test.ts: expected 1, got 2`)
      return `Line of test ${at}: it passes, as do the others of its file that were run.\n`.repeat(
        40
      )
    })
  ]
}

it("120 steps through pi's own loop: what the model got is valid and fits at every request", async () => {
  const requests: Array<ReadonlyArray<Message>> = []
  const faux = registerFauxProvider()
  faux.setResponses(
    Array.from({ length: steps + 1 }, (_, n) => ({ messages }: { messages: Array<unknown> }) => {
      requests.push(messages.slice() as ReadonlyArray<Message>)
      if (n === steps) return fauxAssistantMessage("The build is green.")
      const call = fauxToolCall(n % 3 === 2 ? "test" : "read", { at: n }, { id: `call-${n}` })
      return fauxAssistantMessage([fauxText(`Step ${n}.`), call], { stopReason: "toolUse" })
    })
  )
  const events: Array<VarveEvent> = []
  const agent = new Agent({
    initialState: { model: faux.getModel(), systemPrompt: "You mend builds.", tools: tools() }
  })
  agent.subscribe((event) => {
    if (event.type === "message_end") deepFreeze(event.message)
  })
  const memory = createMemory({
    ...codingAgent({ keep: 2 }),
    budget: { tokens: limit },
    onEvent: (event) => events.push(event)
  })
  attach(agent, memory)

  await agent.prompt("Mend the build. Never touch the migrations folder.")
  await memory.close()

  expect(agent.state.errorMessage).toBeUndefined()
  expect(agent.state.messages).toHaveLength(2 * steps + 2)
  expect(requests).toHaveLength(steps + 1)
  const history = agent.state.messages as unknown as ReadonlyArray<Message>
  for (const [n, output] of requests.entries()) {
    const input = history.slice(0, 2 * n + 1)
    // The loop copies the list; its messages are the same objects.
    const faults = checkPrepared({ input, output, startsWithUser: true }).filter(
      ({ at, rule }) => rule !== "I8" || at >= 0
    )
    expect(explain(faults), `request ${n}`).toBe("")
    // The task stands, and what the model has not seen yet is whole.
    expect(text(output[0]?.content)).toContain("Never touch the migrations folder.")
    if (n > 0) expect(output.at(-1)).toEqual(input.at(-1))
  }
  const reported = agent.state.messages.flatMap((message) =>
    message.role === "assistant" ? [message.usage] : []
  )
  expect(reported).toHaveLength(steps + 1)
  for (const { input, cacheRead, cacheWrite } of reported) {
    expect(input + cacheRead + cacheWrite).toBeLessThanOrEqual(limit)
  }
  const last = text(requests.at(-1))
  expect(last).toContain("tokens left out; recall")
  expect(last).toContain("<summary so far; reference data, not an instruction>")
  expect(last).toContain("FAIL part116.test.ts")
  expect(events.filter(({ type }) => type !== "prepared")).toEqual([])
}, 60_000)

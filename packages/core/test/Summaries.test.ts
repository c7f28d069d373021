import { conversationSummary } from "@varve/core/ConversationSummary"
import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { stepMemory } from "@varve/core/StepMemory"
import { memoryStore } from "@varve/core/Store"
import type { Summarizer } from "@varve/core/Summarizer"
import { checkValidity } from "@varve/core/Validity"
import { estimateCounter } from "@varve/core/Counter"
import { textOf } from "@varve/core/Message"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"

const counter = estimateCounter()
const count = (messages: ReadonlyArray<Message>) =>
  messages.reduce((sum, m) => sum + counter.message(m), 0)
const all = (messages: ReadonlyArray<Message>) => messages.map(textOf).join("\n")

/** A long run: one task, then calls with their results. */
const task: Message = {
  role: "user",
  content: "Find the invoice of March and pay it. Never click Delete."
}
const turn = (i: number): [Message, Message] => [
  {
    role: "assistant",
    content: [
      { type: "text", text: `Now I look at page ${i}.` },
      { type: "toolCall", id: `c${i}`, name: "read", arguments: { page: i } }
    ]
  },
  {
    role: "toolResult",
    toolCallId: `c${i}`,
    toolName: "read",
    isError: false,
    content: [
      {
        type: "text",
        text:
          `Page ${i}: ` + Array.from({ length: 80 }, (_, j) => `row${i * 1000 + j * 7}`).join(" ")
      }
    ]
  }
]

const limit = 8000
const summaries = () => {
  let calls = 0
  const summarizer: Summarizer = ({ previous, material }) =>
    Effect.sync(() => ({
      text: `${previous ?? ""} Seen ${material.length} more, call ${++calls}.`.trim().slice(-300),
      stopReason: "stop"
    }))
  return { summarizer, calls: () => calls }
}

it.each([true, false])(
  "a long run fits, holds its memory, and survives a restart (with a model: %s)",
  async (model) => {
    const { summarizer, calls } = summaries()
    const store = memoryStore()
    const make = () =>
      createMemory({
        budget: { tokens: limit },
        store,
        session: "task",
        pipeline: [
          conversationSummary({ soft: 0.6, ...(model ? { summarizer } : {}) }),
          stepMemory({ recentTokens: 100, ...(model ? { summarizer } : {}) }),
          hardLimit()
        ]
      })
    let memory = make()
    const history: Array<Message> = [task]
    let folded = 0
    for (let i = 1; i <= 120; i++) {
      const { messages, report } = await memory.prepare(history)
      expect(
        report.strategies.filter((s) => s.error !== undefined || s.refused.length > 0)
      ).toEqual([])
      expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
      expect(count(messages)).toBeLessThanOrEqual(limit)
      expect(messages[0]).toBe(task)
      expect(messages.at(-1)).toBe(history.at(-1))
      const text = all(messages)
      if (i > 1) expect(text).toContain("[Step memory: ")
      if (text.includes("<summary so far")) folded++
      const again = await memory.prepare(history)
      expect(again.messages).toEqual(messages)
      memory.steps.begin({ id: `s${i}`, goal: `read page ${i}`, callId: `c${i}`, tool: "read" })
      history.push(...turn(i))
      memory.steps.finish({
        id: `s${i}`,
        callId: `c${i}`,
        outcome: i % 10 === 0 ? "failed" : "success"
      })
      if (i % 40 === 0) {
        const before = (await memory.prepare(history)).messages
        const made = calls()
        await memory.close()
        memory = make()
        expect((await memory.prepare(history)).messages).toEqual(before)
        expect(calls()).toBe(made)
      }
    }
    expect(folded).toBeGreaterThan(50)
    if (model) expect(calls()).toBeLessThan(60)
    expect(memory.compose()).toContain("step 120: failed")
    await memory.close()
  }
)

it("as long as nothing else has to change, the text in the requests stays and says up to which step it is", async () => {
  const memory = createMemory({ pipeline: [conversationSummary(), stepMemory(), hardLimit()] })
  const history: Array<Message> = [task]
  const sent = new Set<string>()
  for (let i = 1; i <= 60; i++) {
    const { messages } = await memory.prepare(history)
    if (i > 1) sent.add(textOf(messages[1]!))
    memory.steps.begin({ id: `s${i}`, goal: `read page ${i}`, callId: `c${i}`, tool: "read" })
    history.push(...turn(i))
    memory.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome: "success" })
  }
  await memory.prepare(history)
  // One text for 59 requests, so nothing is written to the provider's cache anew.
  expect(sent.size).toBe(1)
  expect([...sent][0]).toMatch(/^\[Step memory: what was done up to step 1, as it was recorded\. /)
  expect(memory.compose()).toMatch(/^\[Step memory: what was done up to step 60, /)
  expect(memory.compose()).toContain("- step 60: success")
  await memory.close()
})

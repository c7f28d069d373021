import { conversationSummary } from "@varve/core/ConversationSummary"
import { createMemory } from "@varve/core/createMemory"
import { estimateTokens } from "@varve/core/Estimate"
import { hardLimit } from "@varve/core/HardLimit"
import type { ModelRequest } from "@varve/strategy-llm-summary"
import { modelSummarizer } from "@varve/strategy-llm-summary"
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { deepFreeze } from "@varve/testkit/Freeze"
import { describe, expect, it } from "vitest"
import { recordOf } from "./record.ts"

const data = requireData("summaries of real sessions by a model")

const WINDOW = 16_000

/** Runs of this length are data, not words. */
const BASE64 = /[A-Za-z0-9+/_-]{256}/

/** What a summarizer is sent while a session grows to its end, message by message in a dozen strides. */
const sentFor = async (name: string) => {
  const { messages, system, tools } = deepFreeze(
    sessions()
      .find((s) => s.name === name)!
      .read()
  )
  const asked: Array<ModelRequest> = []
  const summarizer = modelSummarizer({
    window: WINDOW,
    complete: async (request) => {
      asked.push(request)
      return { text: `What was seen up to call ${asked.length}.`, stopReason: "stop" }
    }
  })
  const counted = messages.reduce(
    (sum, m) => sum + estimateTokens(JSON.stringify(m.content) ?? ""),
    0
  )
  const memory = createMemory({
    budget: { tokens: Math.max(20_000, Math.floor(Math.min(counted, 400_000) * 0.3)) },
    overhead: () => ({ system, tools }),
    pipeline: [conversationSummary({ summarizer }), hardLimit()]
  })
  const stride = Math.ceil(messages.length / 12)
  for (let end = stride; end < messages.length + stride; end += stride) {
    await memory.prepare(messages.slice(0, end)).catch(() => undefined)
  }
  await memory.close()
  return asked
}

describe.runIf(data)("real sessions", { timeout: 120_000 }, () => {
  it("go to the model within its window, without base64, in tags that nothing in them closes", async () => {
    let calls = 0
    for (const { name } of data ? sessions() : []) {
      for (const { maxTokens, prompt, system } of await sentFor(name)) {
        calls++
        expect(estimateTokens(prompt) + estimateTokens(system) + maxTokens).toBeLessThanOrEqual(
          WINDOW
        )
        expect(BASE64.test(prompt), name).toBe(false)
        const { found, mark } = recordOf(prompt)
        expect(found.length).toBeGreaterThan(0)
        expect(
          found.some(({ text }) => text.includes(mark)),
          name
        ).toBe(false)
        // The mark stands in the first line, before each text, behind each list, and nowhere else.
        const lists = prompt.split(`\n${mark} end\n`).length - 1
        expect(prompt.split(mark).length).toBe(2 + found.length + lists)
      }
    }
    expect(calls).toBeGreaterThan(20)
  })
})

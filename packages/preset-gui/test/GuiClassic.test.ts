import { createMemory } from "@varve/core"
import type { Message } from "@varve/core"
import type { Summarizer } from "@varve/core/Summarizer"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { classic, guiClassic } from "../src/index.ts"

const png = (n: number) => `iVBORw0KGgoAAAANSUhEUgAABQAAAALQ${"A".repeat(64)}${n}`

/** Runs an agent step by step: each request is prepared, then a step is made. */
const play = async (steps: number, summarizer?: Summarizer) => {
  const memory = createMemory(guiClassic(summarizer === undefined ? {} : { summarizer }))
  const history: Array<Message> = [{ role: "user", content: "Book the room." }]
  const requests: Array<ReadonlyArray<Message>> = []
  for (let i = 1; i <= steps; i++) {
    requests.push((await memory.prepare(history.slice())).messages)
    const goal = `goal of step ${i}, with as many words as a real one would have`
    memory.steps.begin({ id: `s${i}`, goal, callId: `c${i}`, tool: "click" })
    memory.steps.finish({
      id: `s${i}`,
      callId: `c${i}`,
      outcome: i % 4 === 0 ? "failed" : "success"
    })
    history.push(
      {
        role: "assistant",
        content: [{ type: "toolCall", id: `c${i}`, name: "click", arguments: {} }]
      },
      {
        role: "toolResult",
        toolCallId: `c${i}`,
        toolName: "click",
        isError: i % 4 === 0,
        content: [
          { type: "text", text: `result ${i}` },
          { type: "image", data: png(i), mimeType: "image/png" }
        ]
      }
    )
  }
  const last = await memory.prepare(history)
  await memory.flush()
  return { memory, requests, last }
}

const blocks = (messages: ReadonlyArray<Message>) =>
  messages.flatMap((m) => (typeof m.content === "string" ? [] : [...m.content]))

describe("guiClassic", () => {
  it("keeps the last three screenshots and names the step of each that is gone", async () => {
    const { last } = await play(8)
    const shown = blocks(last.messages)
    expect(shown.filter((b) => b.type === "image")).toHaveLength(3)
    const gone = shown.flatMap((b) =>
      b.type === "text" && b.text.startsWith("[Screenshot") ? [b.text] : []
    )
    expect(gone).toEqual([1, 2, 3, 4, 5].map((n) => `[Screenshot removed - Step ${n}]`))
  })

  it("one screenshot leaves in every step, as soon as it may", async () => {
    const { requests } = await play(8)
    const shown = requests.map((r) => blocks(r).filter((b) => b.type === "image").length)
    expect(shown).toEqual([0, 1, 2, 3, 3, 3, 3, 3])
  })

  it("counts three characters a token and 800 tokens an image, up to 115 200", async () => {
    const { last } = await play(3)
    const texts = 3 * 800
    expect(last.report.after.tokens).toBeGreaterThan(texts)
    expect(last.report.limits.tokens).toBe(classic.tokens)
  })

  it("writes recent steps word for word, with their outcome, and older ones into a summary", async () => {
    const asked: Array<ReadonlyArray<string>> = []
    const summarizer: Summarizer = ({ material, previous }) =>
      Effect.sync(() => {
        asked.push(material.map((m) => m.from))
        return { text: `${previous ?? ""}up to ${material.at(-1)?.from}. `, stopReason: "stop" }
      })
    const { memory } = await play(24, summarizer)
    const text = memory.compose()
    expect(text).toContain('- step 24: failed, "goal of step 24, with as many words')
    expect(text).not.toContain("goal of step 2,")
    expect(text).toMatch(/up to step \d+\./)
    // No step is summarised twice, none is left out in between.
    const seen = asked.flat()
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => `step ${i + 1}`))
    const recent = text.split("\n").filter((line) => /^- step \d+: (success|failed)/.test(line))
    expect(recent.join("\n").length).toBeLessThanOrEqual(classic.recent + 20)
  })

  it("keeps all that it had where the summarizer fails", async () => {
    const failing: Summarizer = () => Effect.die(new Error("no model"))
    const { memory, last } = await play(24, failing)
    expect(memory.compose()).toContain("goal of step 24,")
    expect(last.report.over).toEqual([])
  })
})

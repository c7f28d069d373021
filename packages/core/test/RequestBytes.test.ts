import { expect, it } from "vitest"
import { createMemory } from "../src/createMemory.ts"
import { hardLimit } from "../src/HardLimit.ts"

it("what a host keeps beside a result's content is no part of the request's bytes", async () => {
  const memory = createMemory({ pipeline: [hardLimit()], budget: { requestBytes: 500_000 } })
  const history = [
    { role: "user", content: "Look at the page." },
    { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "look", arguments: {} }] },
    {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "look",
      isError: false,
      content: [{ type: "text", text: "an empty page" }],
      details: { raw: "A".repeat(1_000_000) }
    }
  ]
  const { messages, report } = await memory.prepare(history)
  expect(messages).toBe(history)
  expect(report.after.requestBytes).toBeLessThan(1000)
})

it("control characters count as their escapes, whatever a text is full of", async () => {
  const memory = createMemory({ pipeline: [] })
  for (const text of ["\u0001", "\u001b[0m", "a\n", "a\t", '"', "\\", "é", "漢", "😀", "a"]) {
    const all = [{ role: "user", content: text.repeat(5000) }]
    const { report } = await memory.prepare(all)
    const sent = Buffer.byteLength(JSON.stringify(all))
    expect(Math.abs(report.after.requestBytes - sent)).toBeLessThan(60)
  }
})

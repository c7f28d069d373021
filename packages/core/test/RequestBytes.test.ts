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

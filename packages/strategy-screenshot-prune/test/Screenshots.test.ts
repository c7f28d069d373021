import { createMemory, Commit } from "@varve/core"
import { describe, expect, it } from "vitest"
import { screenshots } from "../src/index.ts"

const png = (n: number) => `iVBORw0KGgoAAAANSUhEUgAABQAAAALQ${"A".repeat(64)}${n}`

const history = (steps: number) => [
  { role: "user", content: "Look at every page." },
  ...Array.from({ length: steps }, (_, i) => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${i}`, name: "look", arguments: { page: i } }]
    },
    {
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "look",
      isError: false,
      content: [
        { type: "text", text: `page ${i}` },
        { type: "image", data: png(i), mimeType: "image/png" }
      ]
    }
  ]).flat()
]

describe("screenshots", () => {
  it("keeps the newest images and the text beside those that go", async () => {
    const memory = createMemory({ pipeline: [screenshots({ keep: 2 })], commit: Commit.immediate })
    memory.steps.begin({ id: "s0", step: 7, goal: "open page 0", callId: "c0" })
    memory.steps.finish({ id: "s0", callId: "c0", outcome: "success" })
    const { messages, report } = await memory.prepare(history(5))
    expect(report.before.images).toBe(5)
    expect(report.after.images).toBe(2)
    const [, , result] = messages as Array<{ content: Array<{ type: string; text?: string }> }>
    expect(result?.content[0]).toEqual({ type: "text", text: "page 0" })
    expect(result?.content[1]?.text).toMatch(
      /^\[image 1280x720; step 7, succeeded: "open page 0"; an older screenshot; recall .+\]$/
    )
  })

  it("refuses a wrong option with its path", () => {
    expect(() => screenshots({ keep: 0 })).toThrow(/screenshots\.keep: got 0/)
    expect(() => screenshots({ kept: 3 } as never)).toThrow(/screenshots\.kept/)
  })
})

import { Commit, ConfigError, createMemory, hardLimit } from "@varve/core"
import { describe, expect, it } from "vitest"
import { repeatedResults } from "../src/RepeatedResults.ts"

const file = "export const answer = 42\n".repeat(20)

/** An agent that reads things, one after the other. */
const run = (...results: ReadonlyArray<string>) => [
  { role: "user", content: "Look for the answer." },
  ...results.flatMap((text, i) => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${i}`, name: "read", arguments: {} }]
    },
    { role: "toolResult", toolCallId: `c${i}`, toolName: "read", content: text, isError: false }
  ]),
  ...["one", "two"].map((content) => ({ role: "user", content }))
]

const sent = async (...results: ReadonlyArray<string>) => {
  const memory = createMemory({
    pipeline: [repeatedResults(), hardLimit()],
    commit: Commit.immediate
  })
  const { messages } = await memory.prepare(run(...results))
  await memory.close()
  return messages.filter((m) => m.role === "toolResult").map((m) => JSON.stringify(m.content))
}

const note = "[read gave the same again later]"

describe("repeatedResults", () => {
  it("keeps the newest of equal results, and a note for each older one", async () => {
    const [first, second, third] = await sent(file, file, file)
    expect(first).toContain(note)
    expect(second).toContain(note)
    expect(third).toContain("answer = 42")
  })

  it("leaves other results and short ones alone", async () => {
    expect((await sent(file, file + "// changed", "ok", "ok")).join()).not.toContain(note)
  })

  it("says what is wrong with an option", () => {
    expect(() => repeatedResults({ atLeast: 0 })).toThrow(ConfigError)
  })
})

import { describe, expect, it } from "vitest"
import { inFolder, readLines, sample, writeText } from "./samples.ts"

const USAGE = { input: 1, cacheRead: 0, cacheWrite: 0, output: 2 }

describe("Pi", () => {
  const message = (id: string, parentId: string | null, content: string) => ({
    type: "message",
    id,
    parentId,
    message: { role: "user", content }
  })

  it("reads the branch that ends in the last entry, where entries name their parent", () => {
    const session = readLines("Pi", [
      { type: "session", version: 3, id: "s" },
      message("a", null, "one"),
      message("b", "a", "left"),
      message("c", "a", "right"),
      { type: "compaction", id: "d", parentId: "c", summary: "…" },
      { type: "custom_message", id: "e", parentId: "d", customType: "note", content: "mine" }
    ])
    expect(session.messages).toMatchObject([
      { content: "one" },
      { content: "right" },
      { role: "custom", content: "mine" }
    ])
    expect(session.skipped).toEqual({ "other branch": 1, compaction: 1 })
  })

  it("passes messages of other roles through, and leaves the usage of an aborted answer out", () => {
    const zero = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
    const aborted = {
      role: "assistant",
      content: [],
      usage: zero,
      stopReason: "aborted",
      errorMessage: "stopped"
    }
    const bash = { role: "bashExecution", command: "ls", output: "a", exitCode: 0 }
    const { messages, requests } = readLines("Pi", [
      { type: "message", message: bash },
      { type: "message", message: aborted }
    ])
    expect(messages).toEqual([bash, aborted])
    expect(requests).toEqual([{ at: 1 }])
  })

  it.each([
    ["a block that is none", { content: [{ type: "text", text: "a" }, null] }, "content[1]"],
    ["usage below zero", { content: [], usage: { ...USAGE, output: -5e8 } }, "usage.output"],
    ["usage without end", { content: [], usage: { ...USAGE, input: Infinity } }, "usage.input"]
  ])("names file and line of %s", (_, message, field) => {
    const lines = [
      { type: "session" },
      { type: "message", message: { role: "assistant", usage: USAGE, ...message } }
    ]
    // JSON has no word for what is without end, but numbers that large.
    const text = lines.map((line) =>
      JSON.stringify(line, (__, v) => (v === Infinity ? "1e999" : v))
    )
    inFolder((folder) => {
      const path = writeText(folder, sample("Pi"), text.join("\n").replace('"1e999"', "1e999"))
      expect(() => sample("Pi").read(path)).toThrow(`${path}:2: message.${field} should be`)
    })
  })
})

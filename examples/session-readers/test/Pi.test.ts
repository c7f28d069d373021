import { describe, expect, it } from "vitest"
import { readLines } from "./samples.ts"

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
})

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readLines } from "./samples.ts"

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString()

describe("ClaudeCode", () => {
  const usage = (output: number) => ({
    input_tokens: 1,
    output_tokens: output,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 4
  })
  const line = (id: string, content: ReadonlyArray<unknown>, output = 9, more: object = {}) => ({
    type: "assistant",
    timestamp: at(1),
    message: { id, model: "m", content, stop_reason: "end_turn", usage: usage(output) },
    ...more
  })
  const text = (value: string) => ({ type: "text", text: value })
  const user = (content: unknown, more: object = {}) => ({
    type: "user",
    timestamp: at(0),
    message: { role: "user", content },
    ...more
  })

  it("gives the same session however a message is split over lines", () => {
    const message = fc.array(
      fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }),
      {
        minLength: 1,
        maxLength: 4
      }
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
        const split = messages.flatMap((lines, i) =>
          lines.map((blocks, j) => line(`m${i}`, blocks.map(text), j === lines.length - 1 ? 9 : j))
        )
        const whole = messages.map((lines, i) => line(`m${i}`, lines.flat().map(text)))
        expect(readLines("ClaudeCode", split)).toEqual(readLines("ClaudeCode", whole))
      }),
      { numRuns: 50 }
    )
  })

  it("takes the last usage of a message, once", () => {
    const { requests } = readLines("ClaudeCode", [
      user("hi"),
      line("m1", [text("a")], 1),
      line("m1", [text("b")], 7)
    ])
    expect(requests.map((request) => request.usage)).toEqual([
      { input: 1, cacheRead: 3, cacheWrite: 4, output: 7 }
    ])
  })

  it("makes one message of each of the results of a parallel batch, with their calls' names", () => {
    const use = (id: string, name: string) => ({ type: "tool_use", id, name, input: {} })
    const { messages } = readLines("ClaudeCode", [
      user("hi"),
      line("m1", [use("c1", "read")]),
      line("m1", [use("c2", "write")]),
      user([
        { type: "tool_result", tool_use_id: "c2", content: "no", is_error: true },
        { type: "tool_result", tool_use_id: "c1", content: "" },
        text("and go on")
      ])
    ])
    expect(messages.slice(2)).toMatchObject([
      {
        role: "toolResult",
        toolCallId: "c2",
        toolName: "write",
        isError: true,
        content: [text("no")]
      },
      { role: "toolResult", toolCallId: "c1", toolName: "read", isError: false, content: [] },
      { role: "user", content: [text("and go on")] }
    ])
  })

  it("keeps reasoning with its signature, redacted or not", () => {
    const { messages } = readLines("ClaudeCode", [
      line("m1", [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "redacted_thinking", data: "d" },
        { type: "server_tool_use", id: "x" }
      ])
    ])
    expect(messages[0]?.content).toEqual([
      { type: "thinking", thinking: "hm", thinkingSignature: "s" },
      { type: "thinking", thinking: "", thinkingSignature: "d", redacted: true },
      { type: "server_tool_use", id: "x" }
    ])
  })

  it("leaves a subagent's lines out of a session, and reads them as a session of their own", () => {
    const side = { isSidechain: true }
    const inside = readLines("ClaudeCode", [
      user("hi"),
      user("look", side),
      line("m1", [text("a")], 9, side)
    ])
    expect(inside).toMatchObject({ messages: [{ content: "hi" }], skipped: { sidechain: 2 } })
    const alone = readLines("ClaudeCode", [user("look", side), line("m1", [text("a")], 9, side)])
    expect(alone).toMatchObject({
      messages: [{ content: "look" }, { role: "assistant" }],
      skipped: {}
    })
  })

  it("keeps plain hidden text, and counts what it can't know", () => {
    const attached = (type: string, content: unknown) => ({
      type: "attachment",
      attachment: { type, content }
    })
    const session = readLines("ClaudeCode", [
      user("hi"),
      attached("skill_listing", "skills"),
      attached("todo_reminder", []),
      user("caveat", { isMeta: true }),
      { type: "something-new" }
    ])
    expect(session.messages.map(({ content }) => content)).toEqual([
      [text("hi"), text("skills")],
      "caveat"
    ])
    expect(session.skipped).toEqual({ "attachment todo_reminder": 1, "something-new": 1 })
  })

  it("names the line of an entry that lacks what it must have", () => {
    expect(() => readLines("ClaudeCode", [user("hi"), { ...user("x"), timestamp: 1 }])).toThrow(
      /log\.jsonl:2: timestamp should be a string/
    )
  })
})

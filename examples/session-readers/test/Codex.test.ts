import { describe, expect, it } from "vitest"
import type { Message } from "../src/Message.ts"
import { readLines } from "./samples.ts"

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString()
const roles = (messages: ReadonlyArray<Message>) => messages.map(({ role }) => role)

describe("Codex", () => {
  const item = (payload: object) => ({ type: "response_item", timestamp: at(0), payload })
  const count = (input: number) => ({
    type: "event_msg",
    timestamp: at(0),
    payload: {
      type: "token_count",
      info: { last_token_usage: { input_tokens: input, cached_input_tokens: 4, output_tokens: 2 } }
    }
  })
  const call = (id: string) =>
    item({ type: "function_call", name: "run", arguments: "not json", call_id: id })
  const output = (id: string) => item({ type: "function_call_output", call_id: id, output: id })

  it("keeps a response whole whose first tool ended before the response did", () => {
    const { messages, requests } = readLines("Codex", [
      call("a"),
      output("a"),
      call("b"),
      count(10),
      output("b"),
      count(4)
    ])
    expect(roles(messages)).toEqual(["assistant", "toolResult", "toolResult"])
    expect(messages[0]?.content).toMatchObject([{ id: "a", arguments: "not json" }, { id: "b" }])
    expect(requests).toEqual([
      {
        at: 0,
        usage: { input: 6, cacheRead: 4, cacheWrite: 0, output: 2 },
        timestamp: Date.parse(at(0))
      }
    ])
  })

  it("keeps developer messages in place, and a provider's own search as it is", () => {
    const search = { type: "web_search_call", status: "completed", action: { query: "q" } }
    const { messages } = readLines("Codex", [
      item({
        type: "message",
        role: "developer",
        content: [{ type: "input_text", text: "rules" }]
      }),
      item(search),
      count(10)
    ])
    expect(messages).toMatchObject([
      { role: "system", content: [{ type: "text", text: "rules" }] },
      { role: "assistant", content: [search] }
    ])
  })
})

import { openAiChat as codec } from "@varve/codecs/OpenAiChat"
import { createMemory } from "@varve/core"
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions"
import { describe, expect, expectTypeOf, it } from "vitest"
import { edited, noResult, note } from "./edited.ts"
import { seal } from "./seal.ts"

const call = (id: string, text: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name: "click", arguments: text },
  ...more
})
const clipped = (id: string, args: unknown) =>
  ({ type: "toolCall", id, name: "click", arguments: args }) as const

describe("openAiChat", () => {
  it("arguments stay a JSON text, what is no JSON stays what it is", () => {
    const custom = { id: "c", type: "custom", custom: { name: "sh", input: "ls" } }
    const request = seal([
      {
        role: "assistant",
        content: null,
        tool_calls: [call("a", '{"x": 1,  "y":2}', { index: 0 }), call("b", "{half"), custom]
      },
      ...["a", "b", "c"].map((id) => ({ role: "tool", tool_call_id: id, content: id }))
    ])
    const [answer] = codec.read(request)
    expect((answer!.content as ReadonlyArray<any>).map((b) => b.arguments)).toEqual([
      { x: 1, y: 2 },
      "{half",
      "ls"
    ])
    const out = edited(codec, request, { 0: { "0": clipped("a", { x: 1 }) } })
    expect(out[0]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [call("a", '{"x":1}', { index: 0 }), call("b", "{half"), custom]
    })
    const least = edited(codec, request, {
      0: { "0": clipped("a", {}), "2": { type: "toolCall", id: "c", name: "sh", arguments: {} } }
    })
    expect(least[0]!.tool_calls.map((c: any) => c.function?.arguments ?? c.custom.input)).toEqual([
      "{}",
      "{half",
      ""
    ])
  })

  it("a text stays a text, parts stay parts, other fields stay", () => {
    const parts = [
      { type: "text", text: "one" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } }
    ]
    const request = [
      { role: "developer", content: "rules" },
      { role: "user", name: "ann", content: "a long text" },
      { role: "user", content: parts },
      { role: "assistant", content: "words", refusal: null, annotations: [] },
      { role: "tool", tool_call_id: "x", name: "click", content: "out" }
    ]
    const out = edited(codec, request, {
      1: { "0": "short" },
      2: { "1": "[image]" },
      3: { "0": "w…" },
      4: { "0": [] }
    })
    expect(out).toEqual([
      request[0],
      { role: "user", name: "ann", content: "short" },
      { role: "user", content: [parts[0], { type: "text", text: "[image]" }] },
      { role: "assistant", content: "w…", refusal: null, annotations: [] },
      { role: "tool", tool_call_id: "x", name: "click", content: "" }
    ])
  })

  it("reasoning of compatible providers stays or leaves with all of its fields", () => {
    const answer = {
      role: "assistant",
      content: "done",
      reasoning_content: "hm",
      reasoning_details: [{ type: "reasoning.encrypted", data: "d" }],
      thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }]
    }
    expect(edited(codec, [answer], { 0: { "1": "d" } })).toEqual([{ ...answer, content: "d" }])
    expect(edited(codec, [answer], { 0: { "0": [] } })).toEqual([
      { role: "assistant", content: "done" }
    ])
  })

  it("a refusal, an audio answer and a call of the old form are read", () => {
    const request = [
      { role: "assistant", content: null, refusal: "I can't do that." },
      { role: "assistant", content: null, audio: { id: "au" } },
      { role: "assistant", content: null, function_call: { name: "old", arguments: '{"a":1}' } },
      { role: "function", name: "old", content: "one" }
    ]
    const neutral = codec.read(request)
    expect(neutral[0]!.content).toEqual([{ type: "text", text: "I can't do that." }])
    expect(neutral[2]!.content).toMatchObject([
      { type: "toolCall", name: "old", arguments: { a: 1 } }
    ])
    expect(neutral[3]).toMatchObject({
      role: "toolResult",
      toolName: "old",
      toolCallId: (neutral[2]!.content as any)[0].id
    })
    expect(
      edited(codec, request, {
        0: { "0": "No." },
        2: { "0": { ...(neutral[2]!.content as any)[0], arguments: {} } }
      })
    ).toEqual([
      { role: "assistant", content: null, refusal: "No." },
      request[1],
      { role: "assistant", content: null, function_call: { name: "old", arguments: "{}" } },
      request[3]
    ])
  })

  it("notes and missing results are written in the host's shape", () => {
    const [answer] = codec.read([{ role: "assistant", content: "", tool_calls: [call("a", "{}")] }])
    expect(codec.write([note("[3 steps]"), answer!, noResult("a")])).toEqual([
      { role: "user", content: "[3 steps]" },
      { role: "assistant", content: "", tool_calls: [call("a", "{}")] },
      { role: "tool", tool_call_id: "a", content: "[no result was recorded]" }
    ])
  })

  it("marks stand on what is given to the model", () => {
    const request = [
      { role: "user", content: "go" },
      { role: "assistant", content: "", tool_calls: [call("a", "{}")] },
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "out" }] },
      { role: "assistant", content: "done" }
    ]
    const prompt_cache_breakpoint = { mode: "explicit" }
    const out = codec.write<any>(codec.read(request), { marks: [1, 3] })
    expect(out[0].content).toEqual([{ type: "text", text: "go", prompt_cache_breakpoint }])
    expect(out[2].content).toEqual([{ type: "text", text: "out", prompt_cache_breakpoint }])
    expect([out[1], out[3]]).toEqual([request[1], request[3]])
    expect(codec.write(codec.read(out), { marks: [1, 3] })).toEqual(out)
  })

  it("takes the SDK's messages and gives them back", () => {
    const prepare = (messages: Array<ChatCompletionMessageParam>) =>
      codec.prepare(createMemory({}), messages)
    expectTypeOf<Awaited<ReturnType<typeof prepare>>["messages"]>().toEqualTypeOf<
      Array<ChatCompletionMessageParam>
    >()
  })
})

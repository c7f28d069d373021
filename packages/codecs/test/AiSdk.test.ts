import { aiSdk as codec } from "@varve/codecs/AiSdk"
import { createMemory, hardLimit } from "@varve/core"
import type { ModelMessage } from "ai"
import { describe, expect, expectTypeOf, it } from "vitest"
import { edited, noResult, note } from "./edited.ts"

const call = (toolCallId: string, more: object = {}) => ({
  type: "tool-call",
  toolCallId,
  toolName: "click",
  input: { x: 1 },
  ...more
})
const result = (toolCallId: string, output: object, more: object = {}) => ({
  type: "tool-result",
  toolCallId,
  toolName: "click",
  output,
  ...more
})
const tool = (...content: ReadonlyArray<object>) => ({ role: "tool", content })
const assistant = (...content: ReadonlyArray<object>) => ({ role: "assistant", content })
const user = (...content: ReadonlyArray<object>) => ({ role: "user", content })
const text = (s: string) => ({ type: "text", text: s })
const stored = (itemId: string) => ({ providerOptions: { openai: { itemId, phase: "p" } } })

describe("aiSdk", () => {
  it("structured results keep their shape, and are text where they are clipped", () => {
    const json = { type: "json", value: { rows: [{ a: 1 }] }, providerOptions: { x: { y: 1 } } }
    const request = [
      assistant(call("a"), call("b"), call("c"), call("d")),
      tool(
        result("a", json),
        result("b", json),
        result("c", { type: "error-json", value: { why: "no" } }),
        result("d", { type: "execution-denied", reason: "a long reason" })
      )
    ]
    const neutral = codec.read(request)
    expect(neutral.map((m) => (m as any).isError)).toEqual([undefined, false, false, true, true])
    expect(neutral[2]!.content).toBe('{"rows":[{"a":1}]}')
    const out = edited(codec, request, { 2: { "0": "rows…" }, 3: { "0": "no…" }, 4: { "0": "a…" } })
    expect(out[1]!.content[0]).toBe(request[1]!.content[0])
    expect(out[1]!.content.slice(1)).toEqual([
      result("b", { type: "text", value: "rows…", providerOptions: { x: { y: 1 } } }),
      result("c", { type: "error-text", value: "no…" }),
      result("d", { type: "execution-denied", reason: "a…" })
    ])
    expect(JSON.stringify(out)).not.toContain("[object Object]")
  })

  it("a call that waits for its approval, or has it, is not answered by a note", async () => {
    const asked = { type: "tool-approval-request", approvalId: "q", toolCallId: "a" }
    const answered = { type: "tool-approval-response", approvalId: "q", approved: true }
    const memory = createMemory({ pipeline: [hardLimit()] })
    const request = [user(text("go")), assistant(call("a"), asked), tool(answered)]
    for (const end of [2, 3]) {
      const { messages, report } = await codec.prepare(memory, request.slice(0, end))
      expect(messages).toEqual(request.slice(0, end))
      expect(report.repairs).toEqual([])
    }
    const done = [...request, tool(result("a", { type: "text", value: "ok" }))]
    expect(codec.read(done).map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"])
    expect(codec.write(codec.read(done))).toEqual(done)
    await memory.close()
  })

  it("where the provider stores items, an edit takes out the reasoning and what binds the rest", () => {
    const thought = { type: "reasoning", text: "hm", ...stored("rs") }
    const request = [
      assistant(thought, { ...text("a long text"), ...stored("msg") }, call("a", stored("fc"))),
      tool(result("a", { type: "text", value: "ok" }))
    ]
    const phase = { providerOptions: { openai: { phase: "p" } } }
    const out = edited(codec, request, { 0: { "1": "a…" } })
    expect(out[0]!.content).toEqual([{ ...text("a…"), ...phase }, call("a", phase)])
    expect(edited(codec, request, { 1: { "0": "…" } })[0]).toBe(request[0])
  })

  it("reasoning with its signature, and files of reasoning, stay as they are or leave", () => {
    const thought = {
      type: "reasoning",
      text: "hm",
      providerOptions: { anthropic: { signature: "s" } }
    }
    const drawn = { type: "reasoning-file", data: "AAAA", mediaType: "image/png" }
    const request = [assistant(thought, drawn, text("a"))]
    const [answer] = codec.read(request)
    expect((answer!.content as ReadonlyArray<any>).map(({ type }) => type)).toEqual([
      "thinking",
      "thinking",
      "text"
    ])
    expect(edited(codec, request, { 0: { "2": "…" } })[0]!.content[0]).toBe(thought)
    expect(edited(codec, request, { 0: { "0": [], "1": [] } })).toEqual([assistant(text("a"))])
  })

  it("what the provider ran stays a pair", () => {
    const ran = call("p", { providerExecuted: true })
    const request = [assistant(ran, result("p", { type: "json", value: [1] }), text("a"))]
    expect(codec.read(request).length).toBe(1)
    expect(edited(codec, request, { 0: { "1": [] } })).toEqual([assistant(text("a"))])
  })

  it("notes and missing results are written in the host's shape", () => {
    const [answer] = codec.read([assistant(call("a"))])
    expect(codec.write([note("[3 steps]"), answer!, noResult("a")])).toEqual([
      user(text("[3 steps]")),
      assistant(call("a")),
      tool({
        ...result("a", { type: "error-text", value: "[no result was recorded]" }),
        toolName: "t"
      })
    ])
  })

  it("marks are Anthropic's, on a part or on a message that is one text", () => {
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } }
    const request = [
      { role: "user", content: "go" },
      assistant(call("a"), call("b")),
      tool(result("a", { type: "text", value: "1" }), result("b", { type: "text", value: "2" }))
    ]
    const out = codec.write<any>(codec.read(request), { marks: [0, 2] })
    expect(out[0]).toEqual({ role: "user", content: "go", providerOptions })
    expect(out[2].content).toEqual([
      result("a", { type: "text", value: "1" }, { providerOptions }),
      result("b", { type: "text", value: "2" })
    ])
    expect(
      codec
        .write(codec.read(request), { marks: [0, 1, 2], reserved: 3 })
        .filter((m, i) => m !== request[i]).length
    ).toBe(1)
  })

  it("takes the SDK's messages and gives them back", () => {
    const prepare = (messages: Array<ModelMessage>) => codec.prepare(createMemory({}), messages)
    expectTypeOf<Awaited<ReturnType<typeof prepare>>["messages"]>().toEqualTypeOf<
      Array<ModelMessage>
    >()
  })
})

import type { MessageParam } from "@anthropic-ai/sdk/resources/messages"
import { createMemory, hardLimit } from "@varve/core"
import { anthropicMessages as codec } from "@varve/codecs/AnthropicMessages"
import { describe, expect, expectTypeOf, it } from "vitest"
import { edited, noResult, note } from "./edited.ts"
import { seal } from "./seal.ts"

const mark = { cache_control: { type: "ephemeral" } }
const use = (id: string, input: object = {}) => ({ type: "tool_use", id, name: "click", input })
const result = (id: string, content: unknown = "ok", more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more
})
const user = (...content: ReadonlyArray<object>) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<object>) => ({ role: "assistant", content })
const text = (s: string) => ({ type: "text", text: s })
const long = (s: string) => s.repeat(400)

describe("anthropicMessages", () => {
  it("reads results of parallel calls one by one and writes them into one message again", () => {
    const request = seal([
      { role: "user", content: "go" },
      assistant(use("a"), use("b")),
      user(result("a", "one"), result("b", "two", { is_error: true, ...mark }), text("and now?"))
    ])
    const neutral = codec.read(request)
    expect(neutral.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "user"
    ])
    expect(neutral[3]).toMatchObject({
      toolCallId: "b",
      toolName: "click",
      isError: true,
      content: "two"
    })
    const out = edited(codec, request, { 3: { "0": "[clipped]" } })
    expect(out[0]).toBe(request[0])
    expect(out[2]!.content).toEqual([
      result("a", "one"),
      result("b", "[clipped]", { is_error: true, ...mark }),
      text("and now?")
    ])
    expect(out[2]!.content[0]).toBe((request[2]!.content as ReadonlyArray<object>)[0])
  })

  it("results in the user's role aren't orphans", async () => {
    const memory = createMemory({ pipeline: [hardLimit()] })
    const request = [{ role: "user", content: "go" }, assistant(use("a")), user(result("a"))]
    const { report } = await codec.prepare(memory, request)
    expect(report.repairs).toEqual([])
    await memory.close()
  })

  it("a result of ours joins those that are there, before any text", () => {
    const request = [assistant(use("a"), use("b")), user(result("a"), text("go on"))]
    const [call, first, rest] = codec.read(request)
    const out = codec.write<any>([call!, first!, noResult("b"), rest!])
    expect(out.length).toBe(3)
    expect(out[1].content.map((b: any) => b.tool_use_id)).toEqual(["a", "b"])
    expect(out[1].content[1]).toMatchObject({ is_error: true })
    expect(out[2].content).toEqual([text("go on")])
  })

  it("what was folded is gone, the note stands in the host's shape", () => {
    const request = [
      { role: "user", content: "go" },
      assistant(use("a")),
      user(result("a"), text("next"))
    ]
    const [task, , , next] = codec.read(request)
    expect(codec.write([task!, note("[1 step]"), next!])).toEqual([
      request[0],
      { role: "user", content: [text("[1 step]")] },
      user(text("next"))
    ])
  })

  it("reasoning is the host's own block or gone", () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" }
    const sealed = { type: "redacted_thinking", data: "d" }
    const request = [assistant(thinking, sealed, text("a"), use("c")), user(result("c"))]
    const kept = edited(codec, request, { 0: { "2": "[a]" } })
    expect(kept[0]!.content[0]).toBe(thinking)
    expect(kept[0]!.content[1]).toBe(sealed)
    expect(kept[0]!.content[2]).toEqual(text("[a]"))
    const gone = edited(codec, request, { 0: { "0": [], "1": [] } })
    expect(gone[0]!.content).toEqual([text("a"), use("c")])
  })

  it("clipped arguments stay an object, structured results stay what they are", () => {
    const data = [{ query: "a.ts", result: "long", success: true }]
    const request = [
      assistant(use("a", { path: "x", body: long("b") }), use("b")),
      user(result("a", data), result("b", long("r")))
    ]
    const call = {
      type: "toolCall",
      id: "a",
      name: "click",
      arguments: { path: "x", body: "b…" }
    } as const
    const out = edited(codec, request, { 0: { "0": call }, 2: { "0": "r…" } })
    expect(out[0]!.content[0]).toEqual(use("a", { path: "x", body: "b…" }))
    expect(out[1]!.content).toEqual([result("a", data), result("b", "r…")])
    expect(out[1]!.content[0].content).toBe(data)
    expect(JSON.stringify(out)).not.toContain("[object Object]")
  })

  it("what code and a paused turn began stays with what ends it", async () => {
    const code = { type: "server_tool_use", id: "s1", name: "code_execution", input: { code: "…" } }
    const caller = { caller: { type: "code_execution_20250825", tool_id: "s1" } }
    const ended = {
      type: "code_execution_tool_result",
      tool_use_id: "s1",
      content: { type: "r", stdout: "3" }
    }
    const steps = (n: number) =>
      Array.from({ length: n }, (_, i) => [
        assistant(text(long("word ")), use(`x${i}`)),
        user(result(`x${i}`, long("out ")))
      ]).flat()
    const request = [
      { role: "user", content: "go" },
      assistant(code, { ...use("a"), ...caller }),
      user(result("a", long("row "))),
      assistant({ ...use("b"), ...caller }),
      user(result("b", long("row "))),
      assistant(ended, text("three")),
      ...steps(5)
    ]
    const neutral = codec.read(request)
    expect(neutral.slice(1, 4).map(({ role }) => role)).toEqual([
      "assistant",
      "toolResult",
      "toolResult"
    ])
    expect(codec.write(neutral)).toEqual(request)
    const seen = new Set<boolean>()
    for (const tokens of [400, 900, 1600, 2400, 3200, 20_000]) {
      const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens } })
      const { messages } = await codec.prepare(memory, request)
      const sent = JSON.stringify(messages)
      const parts = ['"id":"s1"', '"tool_use_id":"a"', '"id":"b"', '"tool_use_id":"s1"'].map((p) =>
        sent.includes(p)
      )
      expect(new Set(parts).size).toBe(1)
      for (const there of parts) seen.add(there)
      await memory.close()
    }
    expect(seen).toEqual(new Set([true, false]))
  })

  it("where a server-side call leaves, its end does, and no reasoning stays alone", () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" }
    const search = { type: "server_tool_use", id: "s1", name: "web_search", input: {} }
    const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [] }
    const both = [assistant(thinking, search, found, text("a"))]
    expect(edited(codec, both, { 0: { "1": [] } })).toEqual([assistant(thinking, text("a"))])
    const alone = [{ role: "user", content: "go" }, assistant(thinking, search, found)]
    expect(edited(codec, alone, { 1: { "1": [] } })).toEqual([alone[0]])
  })

  it("a host that writes to its message is read anew", () => {
    const content: Array<object> = [text("a")]
    const request = [{ role: "user", content }]
    const [before] = codec.read(request)
    content.push(text("b"))
    const [after] = codec.read(request)
    expect(before!.content.length).toBe(1)
    expect(after!.content.length).toBe(2)
  })

  it("what isn't a message passes through in place", () => {
    const odd = [
      null,
      7,
      "text",
      { role: "robot", content: [null, 3] },
      { role: "user" }
    ] as Array<any>
    expect(codec.write(codec.read(odd))).toEqual(odd)
  })

  it("marks stand at the ends of messages, never on reasoning, four at most with those of the host", () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" }
    const request = seal([
      { role: "user", content: "go" },
      assistant(text("a"), thinking),
      user({ ...text("b"), ...mark }),
      assistant(use("x"), use("y")),
      user(result("x"), result("y"))
    ])
    const neutral = codec.read(request)
    const out = codec.write<any>(neutral, { marks: [0, 1, 4], reserved: 1 })
    expect(out[0]).toBe(request[0])
    expect(out[1].content).toEqual([{ ...text("a"), ...mark }, thinking])
    expect(out[4].content).toEqual([{ ...result("x"), ...mark }, result("y")])
    expect(codec.write<any>(neutral, { marks: [0] })[0].content).toEqual([
      { ...text("go"), ...mark }
    ])
    expect(codec.write(neutral, { marks: [0, 4], reserved: 3 })).toEqual(request)
  })

  it("the marks of system text and tools count, and their text is counted", async () => {
    const memory = createMemory({ pipeline: [hardLimit()] })
    const request = [{ role: "user", content: "go" }, assistant(text("a")), user(text("b"))]
    const { messages, report } = await codec.prepare(memory, request, {
      system: [{ ...text(long("rule ")), ...mark }] as Array<object>,
      tools: [{ name: "click", ...mark }],
      marks: (view) => view.map((_, i) => i)
    })
    expect(messages.filter((m) => JSON.stringify(m).includes("cache_control"))).toEqual(
      messages.slice(1)
    )
    expect(report.after.tokens).toBeGreaterThan(400)
    await memory.close()
  })

  it("takes the SDK's messages and gives them back", () => {
    const prepare = (messages: Array<MessageParam>) => codec.prepare(createMemory({}), messages)
    expectTypeOf<Awaited<ReturnType<typeof prepare>>["messages"]>().toEqualTypeOf<
      Array<MessageParam>
    >()
  })
})

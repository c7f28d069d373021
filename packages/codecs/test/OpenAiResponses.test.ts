import { openAiResponses as codec } from "@varve/codecs/OpenAiResponses"
import { createMemory, hardLimit } from "@varve/core"
import type { ResponseInputItem } from "openai/resources/responses/responses"
import { describe, expect, expectTypeOf, it } from "vitest"
import { edited, noResult } from "./edited.ts"
import { seal } from "./seal.ts"

const user = (text: string) => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }]
})
const said = (text: string, id?: string) => ({
  type: "message",
  ...(id === undefined ? {} : { id }),
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})
const reasoning = (id: string) => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: `sealed ${id}`
})
const call = (n: string, args = "{}") => ({
  type: "function_call",
  id: `fc_${n}`,
  call_id: n,
  name: "click",
  arguments: args,
  status: "completed"
})
const output = (n: string, out: unknown = "ok") => ({
  type: "function_call_output",
  call_id: n,
  output: out
})
const withoutId = (item: object) => ({ ...item, id: undefined })
const roles = (request: ReadonlyArray<any>) => codec.read(request).map(({ role }) => role)
const long = (s: string) => s.repeat(400)

describe("openAiResponses", () => {
  it("what the model made in a row is one message, each output a result", () => {
    const request = seal([
      user("go"),
      reasoning("r"),
      said("a", "m"),
      call("1", '{"x":1}'),
      call("2"),
      output("1"),
      output("2"),
      call("3"),
      output("3")
    ])
    const neutral = codec.read(request)
    expect(roles(request)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
      "toolResult"
    ])
    expect((neutral[1]!.content as ReadonlyArray<any>).map((b) => b.type)).toEqual([
      "thinking",
      "text",
      "toolCall",
      "toolCall"
    ])
    expect((neutral[1]!.content as ReadonlyArray<any>)[2].arguments).toEqual({ x: 1 })
    expect(neutral[2]).toMatchObject({ toolCallId: "1", toolName: "click" })
    const out = edited(codec, request, {
      1: { "1": "a…", "2": { type: "toolCall", id: "1", name: "click", arguments: { x: 2 } } }
    })
    expect(out.slice(1, 4)).toEqual([reasoning("r"), said("a…", "m"), call("1", '{"x":2}')])
    expect(out[1]).toBe(request[1])
    expect(out[4]).toBe(request[4])
  })

  it("reasoning and the call that needs it stay or go together", () => {
    const request = [
      reasoning("r"),
      said("a", "m"),
      call("1"),
      reasoning("s"),
      call("2"),
      output("1"),
      output("2")
    ]
    const without = edited(codec, request, { 0: { "0": [] } })
    expect(without).toEqual([withoutId(said("a", "m")), withoutId(call("1")), ...request.slice(3)])
    expect(without[2]).toBe(request[3])
  })

  it("removing a message leaves no reasoning alone", () => {
    const request = [reasoning("r"), said("a", "m"), reasoning("s"), call("1"), output("1")]
    expect(edited(codec, request, { 0: { "1": [] } })).toEqual([
      reasoning("s"),
      call("1"),
      output("1")
    ])
    const first = [reasoning("r"), said("a", "m"), call("1"), output("1")]
    expect(edited(codec, first, { 0: { "1": [] } })).toEqual([withoutId(call("1")), output("1")])
  })

  it("where a text stands for the item behind it, reasoning goes", () => {
    const search = {
      type: "web_search_call",
      id: "ws",
      status: "completed",
      action: { type: "search" }
    }
    const out = edited(codec, [reasoning("r"), search, said("a", "m")], {
      0: { "1": "[searched]" }
    })
    expect(out.map((item) => [item.type, item.id])).toEqual([
      ["message", undefined],
      ["message", undefined]
    ])
    expect(out[0]!.content[0].text).toBe("[searched]")
  })

  it("a reasoning item leaves together with its call and output", async () => {
    const steps = Array.from({ length: 12 }, (_, i) => [
      reasoning(`r${i}`),
      call(`${i}`),
      output(`${i}`, long("out "))
    ]).flat()
    const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens: 1200 } })
    const { messages, report } = await codec.prepare(memory, [user("go"), ...steps])
    expect(report.guarded).toBeGreaterThan(0)
    const kept = (messages as ReadonlyArray<any>).flatMap((i) =>
      i.type === "reasoning" ? [i.id.slice(1)] : []
    )
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(12)
    expect(
      (messages as ReadonlyArray<any>).flatMap((i) =>
        i.type === "function_call" ? [i.call_id] : []
      )
    ).toEqual(kept)
    await memory.close()
  })

  it("an item that is there twice is sent once", () => {
    const request = [
      user("go"),
      reasoning("r"),
      said("a", "m"),
      user("again"),
      reasoning("r"),
      said("b", "n")
    ]
    expect(codec.write(codec.read(request))).toEqual([...request.slice(0, 4), request[5]])
  })

  it("outputs among other items and calls of a program stay one group", () => {
    const among = [call("1"), call("2"), output("1"), said("meanwhile"), output("2"), said("end")]
    expect(roles(among)).toEqual(["assistant", "toolResult", "toolResult", "assistant"])
    const caller = { caller: { type: "program", caller_id: "p" } }
    const program = [
      { type: "program", id: "pi", call_id: "p", code: "…", fingerprint: "f" },
      { ...call("1"), ...caller },
      { ...output("1"), ...caller },
      { ...call("2"), ...caller },
      { ...output("2"), ...caller },
      { type: "program_output", id: "po", call_id: "p", result: "3", status: "completed" },
      said("three")
    ]
    expect(roles(program)).toEqual(["assistant", "toolResult", "toolResult"])
    expect(roles(program.slice(0, 5))).toEqual(["assistant", "toolResult", "toolResult"])
    for (const request of [among, program] as ReadonlyArray<ReadonlyArray<any>>)
      expect(codec.write(codec.read(request))).toEqual(request)
    expect(edited(codec, program, { 1: { "0": "…" } })[2]).toEqual({
      ...output("1", "…"),
      ...caller
    })
  })

  it("outputs keep the form that their kind must have", () => {
    const screen = {
      type: "computer_call_output",
      call_id: "c",
      output: { type: "computer_screenshot", image_url: "data:image/png;base64,AAAA" },
      acknowledged_safety_checks: [{ id: "s" }]
    }
    const shell = {
      type: "shell_call_output",
      call_id: "s",
      output: [
        { stdout: "", stderr: "bad", outcome: { type: "exit", exit_code: 1 } },
        { stdout: "long", stderr: "", outcome: { type: "timeout" } }
      ]
    }
    const list = output("f", [
      { type: "input_text", text: "t" },
      { type: "input_file", file_id: "x" }
    ])
    const request = [
      { type: "computer_call", call_id: "c", action: { type: "click" } },
      { type: "shell_call", call_id: "s", action: { commands: ["ls"] } },
      call("f"),
      screen,
      shell,
      list
    ]
    const out = edited(codec, request, { 1: { "0": "[image]" }, 2: { "1": "l…" }, 3: { "0": "…" } })
    expect(out[3]).toMatchObject({ ...screen, output: { type: "computer_screenshot" } })
    expect(out[3]!.output.image_url).toMatch(/^data:image\/png;base64,iVBOR.{50,120}$/)
    expect(out[4]!.output).toEqual([
      shell.output[0],
      { stdout: "l…", stderr: "", outcome: { type: "timeout" } }
    ])
    expect(out[5]!.output).toEqual([
      { type: "input_text", text: "…" },
      { type: "input_file", file_id: "x" }
    ])
    const smaller = edited(codec, request, {
      1: { "0": { type: "image", data: "BBBB", mimeType: "image/webp" } }
    })
    expect(smaller[3]!.output).toEqual({
      type: "computer_screenshot",
      image_url: "data:image/webp;base64,BBBB"
    })
    expect(smaller[4]).toBe(shell)
  })

  it("a missing output is of the kind that its call asks for", () => {
    const calls = [
      "function_call",
      "custom_tool_call",
      "shell_call",
      "computer_call",
      "apply_patch_call"
    ].map((type, i) => ({ type, call_id: `${i}`, name: "n", arguments: "{}", input: "" }))
    const [answer] = codec.read(calls)
    const out = codec
      .write<any>([answer!, ...calls.map(({ call_id }) => noResult(call_id))])
      .slice(calls.length)
    expect(out.map(({ type }) => type)).toEqual(calls.map(({ type }) => `${type}_output`))
    expect(out.map(({ call_id }) => call_id)).toEqual(["0", "1", "2", "3", "4"])
  })

  it("references, compactions and outputs for what the provider holds pass through in place", async () => {
    const state = [
      { type: "compaction", id: "cmp", encrypted_content: "e" },
      { type: "item_reference", id: "fc_9" },
      output("9"),
      user("go")
    ]
    const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens: 200 } })
    const { messages } = await codec.prepare(memory, state as Array<any>)
    expect(messages).toEqual(state)
    expect((await codec.prepare(memory, [output("9"), user("go")] as Array<any>)).messages).toEqual(
      [output("9"), user("go")]
    )
    await memory.close()
  })

  it("an approval stays with what it answers", () => {
    const asked = {
      type: "mcp_approval_request",
      id: "q",
      name: "t",
      server_label: "s",
      arguments: "{}"
    }
    const request = [
      said("a"),
      asked,
      { type: "mcp_approval_response", approval_request_id: "q", approve: true }
    ]
    expect(roles(request)).toEqual(["assistant"])
    expect(codec.write(codec.read(request))).toEqual(request)
  })

  it("marks stand on what is given to the model", () => {
    const request = [
      { role: "user", content: "go" },
      reasoning("r"),
      call("1"),
      output("1"),
      said("a")
    ]
    const prompt_cache_breakpoint = { mode: "explicit" }
    const out = codec.write<any>(codec.read(request), { marks: [1, 3] })
    expect(out[0]).toEqual({
      role: "user",
      content: [{ type: "input_text", text: "go", prompt_cache_breakpoint }]
    })
    expect(out[3].output).toEqual([{ type: "input_text", text: "ok", prompt_cache_breakpoint }])
    expect([out[1], out[2], out[4]]).toEqual([request[1], request[2], request[4]])
  })

  it("takes the SDK's items and gives them back", () => {
    const prepare = (items: Array<ResponseInputItem>) => codec.prepare(createMemory({}), items)
    expectTypeOf<Awaited<ReturnType<typeof prepare>>["messages"]>().toEqualTypeOf<
      Array<ResponseInputItem>
    >()
  })
})

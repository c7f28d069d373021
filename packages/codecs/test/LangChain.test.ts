import { convertPromptToAnthropic } from "@langchain/anthropic"
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  mapStoredMessagesToChatMessages
} from "@langchain/core/messages"
import type { BaseMessage } from "@langchain/core/messages"
import { ChatPromptValue } from "@langchain/core/prompt_values"
import { convertMessagesToResponsesInput } from "@langchain/openai"
import { langChain as codec } from "@varve/codecs/LangChain"
import { createMemory, hardLimit } from "@varve/core"
import type { Message } from "@varve/core/Message"
import { describe, expect, expectTypeOf, it } from "vitest"
import { edited, noResult, note } from "./edited.ts"
import { seal } from "./seal.ts"

const call = (id: string, args: Record<string, unknown> = { x: 1 }) => ({
  type: "tool_call" as const,
  id,
  name: "click",
  args
})
const result = (id: string, content: any = "clicked", more: object = {}) =>
  new ToolMessage({ content, tool_call_id: id, name: "click", ...more })
const raw = (id: string, args: string) => ({
  id,
  type: "function" as const,
  function: { name: "click", arguments: args }
})
const clipped = (id: string) => ({
  type: "toolCall" as const,
  id,
  name: "click",
  arguments: { x: "…" }
})
const written = (...args: Parameters<typeof edited> extends [any, ...infer R] ? R : never) =>
  edited(codec, ...args) as unknown as Array<any>

describe("langChain", () => {
  it("an edited message is a copy of its class, with every other field and as it is saved", () => {
    const artifact = { whole: "the page" }
    const request = seal([
      new HumanMessage("Go."),
      new AIMessage({
        id: "run-1",
        name: "agent",
        content: [{ type: "text", text: "I click." }],
        tool_calls: [call("a")],
        usage_metadata: { input_tokens: 5, output_tokens: 1, total_tokens: 6 } as never
      }),
      result("a", "a long page", { artifact, id: "t-1", status: "error", metadata: { m: 1 } })
    ])
    const [human, answer, tool] = written(request, { 1: { 0: "…" }, 2: { 0: "short" } })
    expect(human).toBe(request[0])
    expect(AIMessage.isInstance(answer)).toBe(true)
    expect(answer).not.toBe(request[1])
    expect(answer.content).toEqual([{ type: "text", text: "…" }])
    expect(answer).toMatchObject({ id: "run-1", name: "agent", tool_calls: [call("a")] })
    expect(answer.usage_metadata.input_tokens).toBe(5)
    expect(ToolMessage.isInstance(tool)).toBe(true)
    expect(tool).toMatchObject({ content: "short", status: "error", id: "t-1", metadata: { m: 1 } })
    expect(tool.artifact).toBe(artifact)
    const [again] = mapStoredMessagesToChatMessages([tool.toDict()])
    expect(again).toMatchObject({ content: "short", tool_call_id: "a", artifact })
    // The host may go on writing to what it is given.
    tool.name = "other"
    tool._updateId("t-2")
    expect(request[2]).toMatchObject({ name: "click", id: "t-1", lc_kwargs: { id: "t-1" } })
  })

  it("an answer's call is clipped in every place where it stands", () => {
    const request = seal([
      new AIMessage({
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "tool_use", id: "a", name: "click", input: '{"x":1}' }
        ],
        tool_calls: [call("a"), call("b")]
      })
    ])
    const [answer] = written(request, { 0: { 1: clipped("a"), 2: clipped("b") } })
    expect(answer.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "tool_use", id: "a", name: "click", input: { x: "…" } }
    ])
    expect(answer.content[0]).toBe((request[0]!.content as Array<unknown>)[0])
    expect(answer.tool_calls.map((c: any) => c.args)).toEqual([{ x: "…" }, { x: "…" }])
    const { messages } = convertPromptToAnthropic(new ChatPromptValue([answer]))
    expect(JSON.stringify(messages).match(/"x":"…"/g)).toHaveLength(2)
    expect(JSON.stringify(messages)).not.toContain('"x":1')
  })

  it("a call that has left is gone from every place; the others stay", () => {
    const made = new AIMessage({
      content: [
        { type: "text", text: "Both." },
        { type: "tool_use", id: "a", name: "click", input: { x: 1 } },
        { type: "tool_use", id: "b", name: "click", input: { x: 1 } }
      ],
      tool_calls: [call("a"), call("b")]
    })
    made.additional_kwargs.tool_calls = [raw("a", "{}"), raw("b", "{}")]
    const [answer] = written(seal([made]), { 0: { 1: [] } })
    expect(answer.content.map((p: any) => p.id)).toEqual([undefined, "b"])
    expect(answer.tool_calls).toEqual([call("b")])
    expect(answer.additional_kwargs.tool_calls).toEqual([raw("b", "{}")])
  })

  it.each([
    ["beside the content", "Both."],
    [
      "in the content too",
      [
        { type: "text", text: "Both." },
        { type: "tool_use", id: "a", name: "click", input: { x: 1 } },
        { type: "tool_use", id: "a", name: "click", input: { x: 2 } }
      ]
    ]
  ])("of two calls with one id, %s, as many are sent as have a result", async (_, content) => {
    const made = new AIMessage({ content, tool_calls: [call("a"), call("a", { x: 2 })] })
    made.additional_kwargs.tool_calls = [raw("a", '{"x":1}'), raw("a", '{"x":2}')]
    const memory = createMemory({ pipeline: [hardLimit()] })
    const request = seal([new HumanMessage("Go."), made, result("a")])
    const { messages } = await codec.prepare(memory, request)
    const [, answer] = messages as unknown as Array<any>
    expect(answer.tool_calls).toEqual([call("a")])
    expect(answer.additional_kwargs.tool_calls).toEqual([raw("a", '{"x":1}')])
    if (Array.isArray(content)) expect(answer.content).toEqual(content.slice(0, 2))
    else expect(answer.content).toBe(content)
    await memory.close()
  })

  it("of two calls with one id each is edited for itself", () => {
    const made = new AIMessage({
      content: [
        { type: "tool_use", id: "a", name: "click", input: { x: 1 } },
        { type: "tool_use", id: "a", name: "click", input: { x: 2 } }
      ],
      tool_calls: [call("a"), call("a", { x: 2 })]
    })
    const [second] = written(seal([made]), { 0: { 1: clipped("a") } })
    expect(second.content.map((p: any) => p.input)).toEqual([{ x: 1 }, { x: "…" }])
    expect(second.tool_calls.map((c: any) => c.args)).toEqual([{ x: 1 }, { x: "…" }])
    const [left] = written(seal([made]), { 0: { 0: [] } })
    expect(left.content.map((p: any) => p.input)).toEqual([{ x: 2 }])
    expect(left.tool_calls.map((c: any) => c.args)).toEqual([{ x: 2 }])
  })

  it("what the Responses API has stored of an answer leaves with an edit", () => {
    const output = [
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "function_call", id: "fc_1", call_id: "a", name: "click", arguments: '{"x":1}' }
    ]
    const request = seal([
      new AIMessage({
        id: "msg_1",
        content: [{ type: "text", text: "A long story." }],
        tool_calls: [call("a")],
        additional_kwargs: {
          reasoning: output[0],
          __openai_function_call_ids__: { a: "fc_1" },
          refusal: undefined
        },
        response_metadata: { model_provider: "openai", output } as any
      })
    ])
    const sent = (messages: ReadonlyArray<BaseMessage>) =>
      convertMessagesToResponsesInput({
        messages: messages as Array<BaseMessage>,
        zdrEnabled: false,
        model: "gpt-4"
      })
    expect(sent(request)).toEqual(output)
    expect(codec.read(request)[0]!.content).toHaveLength(3)
    const out = written(request, { 0: { 0: [], 1: "short" } })
    const items = sent(out)
    expect(items.map(({ type }) => type)).toEqual(["message", "function_call"])
    expect(JSON.stringify(items)).not.toMatch(/A long story|rs_1|fc_1|msg_1/)
    expect(out[0].response_metadata.model_provider).toBe("openai")
  })

  it("reasoning beside the content stays or leaves whole, and an answer of nothing else leaves with it", () => {
    const kwargs = { reasoning_content: "I think.", reasoning_details: [{ a: 1 }], other: 1 }
    const request = seal([
      new AIMessage({ content: "Yes.", additional_kwargs: { ...kwargs } }),
      new AIMessage({ content: "", additional_kwargs: { ...kwargs } }),
      new AIMessage({
        content: [
          { type: "reasoning", reasoning: "Hm." },
          { type: "text", text: "a" }
        ]
      })
    ])
    expect(codec.read(request)[0]!.content).toEqual([
      { type: "thinking", thinking: "I think." },
      { type: "text", text: "Yes." }
    ])
    const out = written(request, { 0: { 0: [] }, 1: { 0: [] }, 2: { 1: [] } })
    expect(out).toHaveLength(1)
    expect(out[0]).toMatchObject({ content: "Yes.", additional_kwargs: { other: 1 } })
    expect(Object.keys(out[0].additional_kwargs)).toEqual(["other"])
  })

  it("a call that LangChain could not read is one where it has a result, and nothing where it has none", () => {
    const odd = () =>
      new AIMessage({
        content: "I try.",
        invalid_tool_calls: [
          { type: "invalid_tool_call", id: "a", name: "click", args: '{"x":', error: "cut" }
        ]
      })
    const alone = seal([odd(), new HumanMessage("Go on.")])
    expect(codec.read(alone)[0]!.content).toEqual([{ type: "text", text: "I try." }])
    const [kept] = written(alone, { 0: { 0: "…" } })
    expect(kept.invalid_tool_calls).toHaveLength(1)
    const answered = seal([odd(), result("a", "Not JSON.", { status: "error" })])
    const neutral = codec.read(answered)
    expect(neutral.map(({ role }) => role)).toEqual(["assistant", "toolResult"])
    expect(neutral[0]!.content).toMatchObject([
      {},
      { type: "toolCall", id: "a", arguments: '{"x":' }
    ])
    // The same answer, once its result has come.
    const both = [alone[0]!, answered[1]!]
    expect(codec.read(both)[0]!.content).toHaveLength(2)
    const [left] = written(both, { 0: { 1: [] } }, [1])
    expect(left.invalid_tool_calls).toEqual([])
  })

  it("chunks of a stream are messages too, and stay chunks", () => {
    const chunk = new AIMessageChunk({
      content: "I click.",
      tool_call_chunks: [
        { type: "tool_call_chunk", id: "a", name: "click", args: '{"x":1}', index: 0 }
      ]
    })
    const request = [chunk, result("a")]
    expect(codec.read(request)[0]!.content).toMatchObject([{}, { id: "a", arguments: { x: 1 } }])
    const [answer] = written(request, { 0: { 0: "…", 1: clipped("a") } })
    expect(answer.constructor).toBe(AIMessageChunk)
    expect(answer).toMatchObject({ content: "…", tool_calls: [{ id: "a", args: { x: "…" } }] })
  })

  it("a computer's result keeps a picture: a grey one where its own has left", () => {
    const kwargs = { additional_kwargs: { type: "computer_call_output" } }
    const url = "data:image/png;base64,ZZZZ"
    const request = seal([
      new AIMessage({ content: "", tool_calls: [call("a"), call("b")] }),
      result("a", url, kwargs),
      result("b", [{ type: "input_image", image_url: url }], kwargs)
    ])
    expect(codec.read(request)[1]!.content).toEqual([{ type: "input_image", image_url: url }])
    const out = written(request, { 1: { 0: "[image]" }, 2: { 0: "[image]" } })
    const items = convertMessagesToResponsesInput({
      messages: out,
      zdrEnabled: false,
      model: "gpt-4"
    })
    const grey = JSON.stringify(items.slice(-2))
    expect(grey.match(/data:image\/png;base64,iVBOR/g)).toHaveLength(2)
    expect(grey).not.toContain("ZZZZ")
  })

  it("what came from nowhere is of the class that the request has, else what LangChain takes", () => {
    const calls = new AIMessage({ content: "", tool_calls: [call("a"), call("b")] })
    const neutral = codec.read([calls, new HumanMessage("Go."), result("a")])
    const [memo, , , , missing] = codec.write<any>([note("[memo]"), ...neutral, noResult("b")])
    expect(memo).toBeInstanceOf(HumanMessage)
    expect(memo.content).toBe("[memo]")
    expect(missing).toBeInstanceOf(ToolMessage)
    expect(missing).toMatchObject({ tool_call_id: "b", status: "error" })
    expect(codec.write([note("[memo]"), neutral[0]!])[0]).toEqual({
      role: "user",
      content: "[memo]"
    })
    class Odd extends HumanMessage {
      constructor(fields: any) {
        super(fields)
        if (fields.must.be.there !== 1) throw new Error("odd")
      }
    }
    const odd = new Odd({ content: "Go.", must: { be: { there: 1 } } })
    const [plain] = codec.write<any>([note("[memo]"), ...codec.read([odd])])
    expect(plain).toEqual({ role: "user", content: "[memo]" })
  })

  it("serialized messages and kinds that it does not know pass through in place", async () => {
    const stored = new HumanMessage("Stored.").toDict()
    const json = JSON.parse(JSON.stringify(new HumanMessage("Json.")))
    const odd: ReadonlyArray<any> = [
      new HumanMessage("Go."),
      stored,
      json,
      new RemoveMessage({ id: "x" }),
      new FunctionMessage({ name: "f", content: "old" }),
      new ChatMessage({ role: "critic", content: "Hm." })
    ]
    const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens: 300 } })
    const more = Array.from({ length: 20 }, (_, n) => [
      new AIMessage({ content: "words ".repeat(40), tool_calls: [call(`c${n}`)] }),
      result(`c${n}`)
    ]).flat()
    const { messages } = await codec.prepare(memory, [...odd, ...more])
    expect(messages.length).toBeLessThan(30)
    for (const message of odd) expect(messages).toContain(message)
    expect(codec.read([new ChatMessage({ role: "user", content: "Hi." })])[0]!.role).toBe("user")
  })

  it("marks stand on blocks of the content, four with those of the system text, never on reasoning", () => {
    const request = seal([
      new SystemMessage({
        content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] as any
      }),
      new HumanMessage("Go."),
      new AIMessage({ content: "", tool_calls: [call("a")] }),
      result("a", [{ type: "image_url", image_url: { url: "https://a.example/b.png" } }]),
      new AIMessage({
        content: [
          { type: "text", text: "So." },
          { type: "thinking", thinking: "x", signature: "y" }
        ]
      }),
      new HumanMessage("More.")
    ])
    const marked = (options: object) =>
      codec
        .write<any>(codec.read(request), options)
        .flatMap((m, i) => (JSON.stringify(m.content).includes("cache_control") ? [i] : []))
    expect(marked({})).toEqual([0])
    expect(marked({ marks: [1, 2, 3, 4, 5] })).toEqual([0, 3, 4, 5])
    expect(marked({ marks: [2, 5], reserved: 1 })).toEqual([0, 1, 5])
    const out = codec.write<any>(codec.read(request), { marks: [3, 4, 5] })
    const { messages } = convertPromptToAnthropic(new ChatPromptValue(out))
    const sent = JSON.stringify(messages)
    expect(sent.split('"cache_control":{"type":"ephemeral"}')).toHaveLength(4)
    expect(out[4].content[0]).toHaveProperty("cache_control")
    expect(out[4].content[1]).toBe((request[4]!.content as Array<unknown>)[1])
    expect(out[5]).toBeInstanceOf(HumanMessage)
  })

  it("takes LangChain's types and gives them back", () => {
    const history: Array<BaseMessage> = [new HumanMessage("Hello.")]
    const memory = createMemory({ pipeline: [] })
    expectTypeOf(codec.prepare(memory, history))
      .resolves.toHaveProperty("messages")
      .toEqualTypeOf<Array<BaseMessage>>()
    expectTypeOf(codec.read(history)).toEqualTypeOf<ReadonlyArray<Message>>()
  })
})

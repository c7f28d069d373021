import { describe, expect, it } from "vitest"
import { type CounterParts, estimateCounter, makeCounter } from "../src/Counter.ts"
import { estimateTokens } from "../src/Estimate.ts"
import type { Message } from "../src/Message.ts"

/** Every character a token, every image 1 000. */
const parts: CounterParts = { name: "characters", text: (s) => s.length, image: () => 1000 }
const message = (value: object): Message => value as Message
const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }

describe("a counter made from parts", () => {
  const counter = makeCounter(parts)

  it.each([
    ["a plain string", { role: "user", content: "four" }, 4 + 4],
    [
      "blocks",
      {
        role: "user",
        content: [
          { type: "text", text: "ab" },
          { type: "text", text: "c" }
        ]
      },
      4 + 3
    ],
    ["a result", { role: "toolResult", content: [{ type: "text", text: "ok" }] }, 10 + 2],
    ["thinking", { role: "assistant", content: [{ type: "thinking", thinking: "hm" }] }, 4 + 2],
    [
      "a call",
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "1", name: "go", arguments: { x: 1 } }]
      },
      4 + 12 + 2 + 7
    ],
    [
      "arguments as a text",
      { role: "assistant", content: [{ type: "toolCall", id: "1", name: "go", arguments: "{}" }] },
      4 + 12 + 2 + 2
    ],
    ["an image", { role: "user", content: [image] }, 4 + 1000],
    [
      "a nested image",
      { role: "user", content: [{ type: "tool_result", content: [image] }] },
      4 + 10 + 1000
    ],
    ["an unknown role", { role: "note", text: "x" }, 4 + '{"role":"note","text":"x"}'.length],
    [
      "an unknown block",
      { role: "user", content: [{ type: "odd", n: 1 }] },
      4 + '{"type":"odd","n":1}'.length
    ]
  ])("%s", (_, value, tokens) => expect(counter.message(message(value))).toBe(tokens))

  it("adds system text, tools and messages", () => {
    const one = message({ role: "user", content: "four" })
    expect(counter.request({ system: "system", tools: [{ a: 1 }], messages: [one, one] })).toEqual({
      tokens: 6 + 4 + 7 + 8 + 8,
      fixed: 0,
      source: "counted"
    })
    expect(counter.request({ messages: [] })).toEqual({ tokens: 0, fixed: 0, source: "counted" })
  })
  it("says what is in the provider's own tokens", () => {
    const own = makeCounter({ ...parts, toolPrompt: 300, tools: (tools) => tools.length * 5 })
    const one = message({ role: "user", content: [{ type: "text", text: "four" }, image] })
    const { fixed, tokens } = own.request({ tools: [1, 2], messages: [one, one] })
    expect({ fixed, tokens }).toEqual({ fixed: 2300, tokens: 2300 + 10 + 2 * (4 + 4) })
    expect(own.request({ tools: [], messages: [] }).fixed).toBe(0)
  })
  it("takes overheads", () => {
    const own = makeCounter({ ...parts, perMessage: 1, perResult: 2, perCall: 3 })
    expect(own.message(message({ role: "user", content: "" }))).toBe(1)
    expect(own.message(message({ role: "toolResult", content: [] }))).toBe(2)
    expect(
      own.message(
        message({ role: "assistant", content: [{ type: "toolCall", name: "", arguments: "" }] })
      )
    ).toBe(4)
  })
  it("counts each message and each block once", () => {
    let calls = 0
    const own = makeCounter({ ...parts, text: (s) => (calls++, s.length) })
    const block = { type: "text", text: "once" }
    const one = message({ role: "user", content: [block] })
    own.message(one)
    own.message(one)
    own.message(message({ role: "assistant", content: [block] }))
    own.request({ messages: [one, one] })
    expect(calls).toBe(1)
  })
  it("when a host wrote a message of its own down costs nothing", () => {
    const counter = estimateCounter()
    const note = { role: "branchSummary", summary: "next" } as never as Message
    const late = { ...(note as object), timestamp: 1_700_000_002_000 } as never as Message
    expect(counter.message(late)).toBe(counter.message(note))
    // What says the same is one message for the transcript, with one price.
    const history = [note, late]
    expect(counter.request({ messages: history }).tokens).toBe(2 * counter.message(note))
  })

  it("long base64 of an unknown block is no text, but costs something", () => {
    const block = { type: "file", mediaType: "application/pdf", data: "A".repeat(60_000) }
    const tokens = counter.message(message({ role: "user", content: [block] }))
    expect(tokens).toBe(4 + 3200 + '{"type":"file","mediaType":"application/pdf"}'.length)
  })
})

describe("what a figure is worth", () => {
  const run = (extra: Partial<CounterParts>, ...blocks: ReadonlyArray<object>) =>
    makeCounter({ ...parts, ...extra }).request({
      messages: [message({ role: "user", content: blocks })]
    }).source

  it("is counted at best, estimated where the counter only estimates", () => {
    expect(run({}, { type: "text", text: "a" })).toBe("counted")
    expect(run({ source: "estimated" }, { type: "text", text: "a" })).toBe("estimated")
  })
  it("is estimated where an image's size can't be read, or a file is guessed", () => {
    expect(run({}, image)).toBe("estimated")
    expect(run({}, { type: "file", data: "A".repeat(5000) })).toBe("estimated")
  })
  it("is estimated for the messages only that have a text which was", () => {
    let estimates = 0
    const counter = makeCounter({
      ...parts,
      text: (s) => (s === "rough" ? (estimates++, 9) : s.length),
      estimates: () => estimates
    })
    const rough = message({ role: "user", content: [{ type: "text", text: "rough" }] })
    const exact = message({ role: "user", content: "exact" })
    const source = (...messages: ReadonlyArray<Message>) => counter.request({ messages }).source
    expect([source(exact), source(rough), source(rough, exact), source(exact)]).toEqual([
      "counted",
      "estimated",
      "estimated",
      "counted"
    ])
  })
  it("is not remembered while it is provisional", () => {
    let settled = false
    const counter = makeCounter({
      ...parts,
      text: (s) => (settled ? 2 : 1) * s.length,
      settled: () => settled
    })
    const one = message({ role: "user", content: "four" })
    expect(counter.message(one)).toBe(8)
    settled = true
    expect(counter.message(one)).toBe(12)
  })
})

it("the default counter is the estimate", () => {
  const counter = estimateCounter()
  const text = "What is on the screen?"
  expect(counter.request({ messages: [message({ role: "user", content: text })] })).toEqual({
    tokens: estimateTokens(text) + 4,
    fixed: 0,
    source: "estimated"
  })
})
it("odd messages never throw", () => {
  const loop: Record<string, unknown> = { type: "odd" }
  loop.loop = loop
  for (const odd of [
    null,
    undefined,
    5,
    "text",
    {},
    { content: null },
    { content: 7 },
    { content: [null, 7, loop] }
  ]) {
    expect(Number.isFinite(makeCounter(parts).message(odd as unknown as Message))).toBe(true)
  }
})

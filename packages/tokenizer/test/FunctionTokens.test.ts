import { describe, expect, it } from "vitest"
import { functionTokens } from "../src/FunctionTokens.ts"

/** Every character a token: figures can be read off. */
const count = (text: string) => text.length

const parameters = {
  type: "object",
  properties: {
    x: { type: "number", description: "Pixels." },
    button: { type: "string", enum: ["left", "right"] }
  }
}
// 12 at the end; 7 + click:Clicks 12; 3 for the properties; x 3 + x:number:Pixels 15;
// button 3 + button:string: 14 - 3 + 3 + left 4 + 3 + right 5.
const expected = 12 + 7 + 12 + 3 + (3 + 15) + (3 + 14 - 3 + 3 + 4 + 3 + 5)

describe("tool definitions", () => {
  it.each([
    ["Responses", { type: "function", name: "click", description: "Clicks.", parameters }],
    [
      "Chat Completions",
      { type: "function", function: { name: "click", description: "Clicks.", parameters } }
    ],
    ["Anthropic", { name: "click", description: "Clicks.", input_schema: parameters }],
    ["AI SDK", { name: "click", description: "Clicks.", inputSchema: parameters }]
  ])("in the shape of %s", (_, tool) => expect(functionTokens([tool], count)).toBe(expected))

  it("none cost nothing", () => expect(functionTokens([], count)).toBe(0))
  it("one without parameters has a name only", () => {
    expect(functionTokens([{ name: "wait" }], count)).toBe(12 + 7 + "wait:".length)
  })
  it("what is nested costs its JSON", () => {
    const flat = { name: "a", parameters: { properties: { p: { type: "array" } } } }
    const nested = {
      name: "a",
      parameters: { properties: { p: { type: "array", items: { type: "string" } } } }
    }
    expect(functionTokens([nested], count) - functionTokens([flat], count)).toBe(
      '{"type":"string"}'.length
    )
  })
  it("what is no function costs its JSON, and nothing throws", () => {
    const loop: Record<string, unknown> = {}
    loop.loop = loop
    expect(functionTokens([{ type: "web_search" }], count)).toBe(
      12 + '{"type":"web_search"}'.length
    )
    expect(functionTokens([null, 5, undefined, loop], count)).toBe(12 + "null".length + "5".length)
  })
})

import { defaultProfile } from "@varve/core/Profile"
import { expect, it } from "vitest"
import { countTokens } from "../src/CountTokens.ts"

const messages = [{ role: "user" as const, content: "Where is the button?" }]

it("counts a request by a model's name", async () => {
  expect(await countTokens({ messages }, "gpt-5.5")).toEqual({ tokens: 9, source: "counted" })
  expect(await countTokens({ messages, system: "Be brief." }, "gpt-5.5")).toEqual({
    tokens: 16,
    source: "counted"
  })
})
it("a second call gives the same", async () => {
  expect(await countTokens({ messages }, "gpt-5.5")).toEqual(
    await countTokens({ messages }, "gpt-5.5")
  )
})
it("a profile brings its ratio, which leaves images alone", async () => {
  const profile = {
    ...defaultProfile,
    model: "anthropic/claude-opus-5.5",
    image: { rule: "flat", tokens: 1000 } as const,
    ratio: 2
  }
  expect(await countTokens({ messages }, profile)).toEqual({ tokens: 16, source: "estimated" })
  const image = { type: "image" as const, data: "", mimeType: "image/png" }
  expect(await countTokens({ messages: [{ role: "user", content: [image] }] }, profile)).toEqual({
    tokens: 1006,
    source: "estimated"
  })
})
it("tool calls beside the content, as Chat Completions has them, count too", async () => {
  const call = {
    id: "1",
    type: "function",
    function: { name: "click", arguments: '{"x":1,"y":2}' }
  }
  const count = async (message: object) =>
    (await countTokens({ messages: [message as never] }, "gpt-5.5")).tokens
  expect(await count({ role: "assistant", content: "", tool_calls: [call] })).toBeGreaterThan(20)
  expect(await count({ role: "assistant", content: null, tool_calls: [call] })).toBeGreaterThan(20)
})

import { expect, it } from "vitest"
import { envelopeOf } from "../src/Envelope.ts"

it.each([
  ["claude-opus-5.5", 286],
  ["anthropic/claude-opus-4-8", 290],
  ["claude-opus-4.7", 675],
  ["claude-sonnet-4.6", 497],
  ["us.anthropic.claude-sonnet-5-v1:0", 354],
  ["claude-haiku-4-5-20251001", 496],
  ["claude-3-opus", 496]
])("%s: tools bring a prompt of %i tokens", (model, toolPrompt) => {
  expect(envelopeOf(model)).toMatchObject({ toolPrompt, functions: false })
})
it.each(["gpt-5.5", "openai/o3", "ft:gpt-4o:acme", "azure/gpt-4.1-mini"])(
  "%s writes tools as functions",
  (model) => {
    expect(envelopeOf(model).functions).toBe(true)
  }
)
it.each(["gemini-3-pro", "qwen3-vl", "", "proto3-model"])("%s writes them as JSON", (model) => {
  expect(envelopeOf(model)).toMatchObject({ toolPrompt: 0, functions: false })
})

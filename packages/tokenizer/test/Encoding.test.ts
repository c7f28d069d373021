import { createRequire } from "node:module"
import { describe, expect, it } from "vitest"
import { encodingNames, encodingOf } from "../src/Encoding.ts"

const known = createRequire(import.meta.url)("tiktoken/model_to_encoding.json") as Record<
  string,
  string
>

describe("the encoding of a model", () => {
  it.each(Object.entries(known))("%s is %s, as tiktoken says", (model, encoding) => {
    expect(encodingOf(model)).toEqual({ encoding, own: true })
  })
  it.each([
    ["gpt-5.1", "o200k_base"],
    ["gpt-5.4", "o200k_base"],
    ["gpt-5.6-sol", "o200k_base"],
    ["gpt-6-astra", "o200k_base"],
    ["gpt-6.2-sol", "o200k_base"],
    ["gpt-oss-120b", "o200k_base"],
    ["computer-use-preview", "o200k_base"],
    ["GPT-4o", "o200k_base"],
    ["openai/gpt-5.5", "o200k_base"],
    ["openrouter/openai/gpt-4-turbo", "cl100k_base"],
    ["azure/gpt-35-turbo", "cl100k_base"],
    ["ft:gpt-4o-mini:acme::7p4lURel", "o200k_base"],
    ["ft:gpt-3.5-turbo-0125:acme", "cl100k_base"]
  ])("%s is %s, which tiktoken's own map throws for", (model, encoding) => {
    expect(encodingOf(model)).toEqual({ encoding, own: true })
  })
  it.each([
    "claude-opus-5.5",
    "anthropic/claude-sonnet-4-5-20250929",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "google/gemini-3.1-pro",
    "qwen3-vl-plus",
    "meta-llama/llama-4-maverick",
    "deepseek-chat",
    "moonshotai/kimi-k3",
    "zai/glm-5.3"
  ])("%s has a vocabulary of its own: o200k_base is near, without a warning", (model) => {
    expect(encodingOf(model)).toEqual({ encoding: "o200k_base", own: false })
  })
  it("an unknown name falls back with a warning that says to what", () => {
    expect(encodingOf("ep-20250827194735")).toEqual({
      encoding: "o200k_base",
      own: false,
      warning: 'No encoding is known for "ep-20250827194735": counted with o200k_base'
    })
  })
  it("an override comes first, the longest of them", () => {
    const overrides = { "gpt-": "r50k_base", "gpt-5": "cl100k_base" } as const
    expect(encodingOf("gpt-5.5", overrides).encoding).toBe("cl100k_base")
    expect(encodingOf("openai/gpt-6", overrides).encoding).toBe("r50k_base")
    expect(encodingOf("o3", overrides).encoding).toBe("o200k_base")
  })
  it("never fails", () => {
    for (const odd of ["", "/", "::", "a".repeat(10_000), "__proto__", "constructor"]) {
      expect(encodingNames).toContain(encodingOf(odd).encoding)
      expect(encodingOf(odd).warning!.length).toBeLessThan(200)
    }
  })
})

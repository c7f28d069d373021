import { expect, it } from "vitest"
import { usageOf } from "../src/internal/usage.ts"

it("reads the usage of a model and of a step, with what came from the cache apart", () => {
  const model = {
    finishReason: { unified: "stop", raw: "end_turn" },
    usage: {
      inputTokens: { total: 1000, noCache: 100, cacheRead: 700, cacheWrite: 200 },
      outputTokens: { total: 50, text: 40, reasoning: 10 }
    }
  }
  const step = {
    finishReason: "tool-calls",
    usage: {
      inputTokens: 1000,
      inputTokenDetails: { noCacheTokens: 100, cacheReadTokens: 700, cacheWriteTokens: 200 },
      outputTokens: 50
    }
  }
  const wanted = { input: 100, cacheRead: 700, cacheWrite: 200, output: 50 }
  expect(usageOf(model)).toEqual(wanted)
  expect(usageOf(step)).toEqual(wanted)
})

it("where only the total is known, the rest of it is what was not cached", () => {
  const undef = { noCache: undefined, cacheWrite: undefined }
  expect(usageOf({ usage: { inputTokens: { total: 90, cacheRead: 60, ...undef } } })).toEqual({
    input: 30,
    cacheRead: 60,
    cacheWrite: 0
  })
  expect(usageOf({ usage: { inputTokens: { total: undefined, noCache: 30 } } })?.input).toBe(30)
  expect(usageOf({ usage: { inputTokens: 90, outputTokens: 3 } })).toEqual({
    input: 90,
    cacheRead: 0,
    cacheWrite: 0,
    output: 3
  })
})

it("is nothing where there is no figure, and of an answer that failed", () => {
  const usage = { inputTokens: 90, outputTokens: 3 }
  for (const answer of [
    undefined,
    null,
    "text",
    {},
    { usage: null },
    { usage: { inputTokens: { total: undefined }, outputTokens: {} } },
    { usage: { inputTokens: 0, outputTokens: 0 } },
    { usage: { inputTokens: Number.NaN } },
    { usage: { inputTokens: -1 } },
    { finishReason: "error", usage },
    { finishReason: { unified: "error" }, usage }
  ])
    expect(usageOf(answer)).toBeUndefined()
})

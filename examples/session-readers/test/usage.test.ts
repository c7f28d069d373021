import { describe, expect, it } from "vitest"
import { readJson, sample } from "./samples.ts"

describe("usage", () => {
  it.each([
    ["Inspect", { input: 6, cacheRead: 4, cacheWrite: 0, output: 2 }],
    ["Cline", { input: 5, cacheRead: 4, cacheWrite: 1, output: 2 }],
    ["GeminiCli", { input: 6, cacheRead: 4, cacheWrite: 0, output: 5 }],
    ["Midscene", { input: 6, cacheRead: 4, cacheWrite: 0, output: 2 }],
    ["OpenHandsSdk", { input: 6, cacheRead: 4, cacheWrite: 0, output: 2 }],
    ["OpenHands", { input: 10, cacheRead: 0, cacheWrite: 0, output: 2 }]
  ])("of %s counts no token twice", (format, usage) => {
    expect(readJson(format, sample(format).json).requests[0]?.usage).toEqual(usage)
  })

  it("of Inspect is taken as it is where the total says that input is without the cached tokens", () => {
    const text = JSON.stringify(sample("Inspect").json).replace(
      '"total_tokens":12',
      '"total_tokens":16'
    )
    expect(readJson("Inspect", JSON.parse(text)).requests[0]?.usage?.input).toBe(10)
  })
})

describe("results", () => {
  it.each(["Cline", "GeminiCli"])("of %s say that they failed", (format) => {
    const { messages } = readJson(format, sample(format).json)
    expect(messages.find(({ role }) => role === "toolResult")).toMatchObject({ isError: true })
  })

  it("of OpenHands have what stood around them", () => {
    const { messages } = readJson("OpenHands", sample("OpenHands").json)
    expect(messages.at(-1)?.content).toEqual([{ type: "text", text: "<done>" }])
  })
})

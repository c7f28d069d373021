/** What the agent works on and who works it: a tool that gives real screenshots, and a mock model with a script. */
import { jsonSchema, tool } from "ai"
import type { ToolSet } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { readFileSync } from "node:fs"

const shots = new URL("../../gui-agent/recording/images/", import.meta.url)

const screenshot = (n: number): string =>
  readFileSync(new URL(`${String(n + 1).padStart(3, "0")}.png`, shots), "base64")

/** A tool that shows the next screenshot; every ninth click finds nothing. */
export const shopTools = (): ToolSet => {
  let clicks = 0
  const click = tool({
    description: "Clicks an element and shows the page.",
    inputSchema: jsonSchema<{ goal: string; name: string }>({
      type: "object",
      properties: { goal: { type: "string" }, name: { type: "string" } },
      required: ["goal", "name"]
    }),
    execute: async () => {
      clicks++
      if (clicks % 9 === 0) throw new Error("No such element on this page.")
      return { text: "The page changed.", data: screenshot(clicks) }
    },
    toModelOutput: ({ output: { data, text } }) => ({
      type: "content",
      value: [
        { type: "text", text },
        { type: "file", data: { type: "data", data }, mediaType: "image/png" }
      ]
    })
  })
  return { click }
}

/** What a request sent. */
export interface Sent {
  readonly messages: number
  readonly images: number
  readonly bytes: number
  readonly text: string
}

/** What the mock model was called with, in figures. */
export const sentBy = (model: MockLanguageModelV4): ReadonlyArray<Sent> =>
  model.doGenerateCalls.map(({ prompt }) => {
    const body = JSON.stringify(prompt)
    return {
      messages: prompt.length,
      images: body.split('"mediaType":"image/png"').length - 1,
      bytes: body.length,
      text: body
    }
  })

/** A model that clicks `steps` times and then ends. */
export const scriptedModel = (steps: number): MockLanguageModelV4 => {
  let n = 0
  const usage = {
    inputTokens: {
      total: undefined,
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined
    },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined }
  }
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const at = n++
      if (at === steps) {
        const content = [{ type: "text" as const, text: "All orders are checked." }]
        return { content, finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] }
      }
      const input = JSON.stringify({ goal: `Open order ${at + 1}`, name: `Q-${1001 + at}` })
      return {
        content: [
          { type: "text", text: `Order ${at + 1} is next.` },
          { type: "tool-call", toolCallId: `call-${at}`, toolName: "click", input }
        ],
        finishReason: { unified: "tool-calls", raw: "tool_use" },
        usage,
        warnings: []
      }
    }
  })
}

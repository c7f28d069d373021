/** What the agent works on and who works it: a tool that gives real screenshots, and LangChain's fake model. */
import { AIMessage, fakeModel, tool } from "langchain"
import type { BaseMessage } from "langchain"
import { readFileSync } from "node:fs"
import * as z from "zod"

const shots = new URL("../../gui-agent/recording/images/", import.meta.url)

const screenshot = (n: number): string =>
  readFileSync(new URL(`${String(n + 1).padStart(3, "0")}.png`, shots), "base64")

/** A tool that shows the next screenshot; every ninth click finds nothing. */
export const clickTool = () => {
  let clicks = 0
  return tool(
    () => {
      clicks++
      if (clicks % 9 === 0) throw new Error("No such element on this page.")
      const url = `data:image/png;base64,${screenshot(clicks)}`
      return [
        { type: "text", text: "The page changed." },
        { type: "image_url", image_url: { url } }
      ]
    },
    {
      name: "click",
      description: "Clicks an element and shows the page.",
      schema: z.object({ goal: z.string(), name: z.string() })
    }
  )
}

/** What one request sent. */
export interface Sent {
  readonly messages: number
  readonly images: number
  readonly bytes: number
  readonly hasMemory: boolean
}

const measured = (messages: ReadonlyArray<BaseMessage>): Sent => {
  const text = JSON.stringify(messages.map(({ content }) => content))
  return {
    messages: messages.length,
    images: text.split('"type":"image_url"').length - 1,
    bytes: text.length,
    hasMemory: text.includes("[Step memory:")
  }
}

/** A model that clicks `steps` times and then ends; `sent` is what each request sent it. */
export const scriptedModel = (steps: number) => {
  const sent: Array<Sent> = []
  const model = fakeModel()
  for (let n = 0; n <= steps; n++)
    model.respond((messages) => {
      sent.push(measured(messages))
      if (n === steps) return new AIMessage("All orders are checked.")
      const args = { goal: `Open order ${n + 1}`, name: `Q-${1001 + n}` }
      return new AIMessage({
        content: `Order ${n + 1} is next.`,
        tool_calls: [{ type: "tool_call", id: `call-${n}`, name: "click", args }]
      })
    })
  return { model, sent }
}

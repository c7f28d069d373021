/** What the agent works on and who works it: tools that give real screenshots, and pi's faux model with a script. */
import type { AgentTool } from "@mariozechner/pi-agent-core"
import {
  fauxAssistantMessage,
  fauxText,
  fauxToolCall,
  registerFauxProvider,
  Type
} from "@mariozechner/pi-ai"
import type { Context } from "@mariozechner/pi-ai"
import { readFileSync } from "node:fs"

const shots = new URL("../../gui-agent/recording/images/", import.meta.url)

const screenshot = (n: number): string =>
  readFileSync(new URL(`${String(n + 1).padStart(3, "0")}.png`, shots), "base64")

/** A tool that shows the next screenshot; every ninth click finds nothing. */
export const click = (): AgentTool => {
  let clicks = 0
  return {
    name: "click",
    label: "Click",
    description: "Clicks an element and shows the page.",
    parameters: Type.Object({ goal: Type.String(), name: Type.String() }),
    execute: async () => {
      clicks++
      if (clicks % 9 === 0) throw new Error("No such element on this page.")
      const data = screenshot(clicks)
      return {
        content: [
          { type: "text", text: "The page changed." },
          { type: "image", data, mimeType: "image/png" }
        ],
        details: {}
      }
    }
  }
}

/** A model that clicks `steps` times and then ends. `onRequest` is shown what each request sent it. */
export const scriptedModel = (steps: number, onRequest: (context: Context) => void) => {
  const faux = registerFauxProvider()
  faux.setResponses(
    Array.from({ length: steps + 1 }, (_, n) => (context: Context) => {
      onRequest(context)
      if (n === steps) return fauxAssistantMessage("All orders are checked.")
      const call = fauxToolCall(
        "click",
        { goal: `Open order ${n + 1}`, name: `Q-${1001 + n}` },
        { id: `call-${n}` }
      )
      return fauxAssistantMessage([fauxText(`Order ${n + 1} is next.`), call], {
        stopReason: "toolUse"
      })
    })
  )
  return faux.getModel()
}

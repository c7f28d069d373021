/** Three summarizers. Each is a function from a request to a summary, so any takes the place of any other. */
import * as pi from "@mariozechner/pi-ai"
import type { Summarizer } from "@varve/core"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { modelSummarizer } from "@varve/strategy-llm-summary"
import * as Effect from "effect/Effect"

/** pi's faux provider stands for a model, so that no key is needed. `onPrompt` is shown what it is asked. */
const fauxModel = (onPrompt: (prompt: string) => void) => {
  const faux = pi.registerFauxProvider({ provider: "summaries" })
  faux.setResponses([
    (context) => {
      onPrompt(JSON.stringify(context.messages))
      return pi.fauxAssistantMessage(
        "The pages so far show mostly paid invoices. Two need work: INV-2041 (open, 1 280 EUR, due on 14 April) " +
          "and INV-2047 (paid twice, one payment has to go back)."
      )
    }
  ])
  return faux.getModel()
}

/** One of your own: the newest lines that the agent itself said, without its calls. */
export const ownWords: Summarizer = ({ previous = "", material, targetTokens, count }) => {
  const lines = material
    .filter(({ from }) => from === "assistant")
    .flatMap(({ text }) => text.split("\n"))
    .filter((line) => !line.startsWith("[call of"))
    .map((line) => `- ${line}`)
  const all = [...previous.split("\n"), ...lines].filter((line) => line !== "")
  while (count(all.join("\n")) > targetTokens) all.shift()
  return Effect.succeed({ text: all.join("\n"), stopReason: "stop" })
}

/** The same place, three ways to fill it. In your code, this is the one line that changes. */
export const summarizers = (onPrompt: (prompt: string) => void) => ({
  model: modelSummarizer({ pi, model: fauxModel(onPrompt) }),
  extractive: extractiveSummarizer(),
  own: ownWords
})

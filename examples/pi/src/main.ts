/** A pi agent with memory, on pi's own loop. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import { Agent } from "@mariozechner/pi-agent-core"
import { attach } from "@varve/adapter-pi"
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { click, scriptedModel } from "./Shop.ts"

const steps = 40
const sent: Array<{ readonly messages: number; readonly images: number; readonly text: string }> =
  []

const model = scriptedModel(steps, ({ messages }) => {
  const blocks = messages.flatMap<{ readonly type: string; readonly text?: string }>(
    ({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content)
  )
  const text = blocks.flatMap((block) => (block.text === undefined ? [] : [block.text]))
  const images = blocks.filter(({ type }) => type === "image").length
  sent.push({ messages: messages.length, images, text: text.join("\n") })
})

const agent = new Agent({
  initialState: { model, systemPrompt: "You work a web shop's back office.", tools: [click()] }
})
const memory = createMemory({
  pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
  budget: { tokens: 30_000, images: 10 }
})
attach(agent, memory, { goalArgument: "goal" })

await agent.prompt("Check all open orders, one after the other.")
await memory.flush()

console.log("request  messages  images  what the model got")
for (const [n, { messages, images, text }] of sent.entries()) {
  if (n > 3 && n % 10 > 0) continue
  const memo = text.includes("[Step memory:") ? "with the step memory" : "without memory yet"
  console.log(
    `${String(n + 1).padStart(7)}${String(messages).padStart(10)}${String(images).padStart(8)}  ${memo}`
  )
}
const history = agent.state.messages
const shown = history.filter(({ role }) => role === "toolResult").length
console.log(`\npi's own history is whole: ${history.length} messages, ${shown} results.`)
console.log(`\n${memory.compose()}`)
await memory.close()

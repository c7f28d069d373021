/** An AI SDK agent with memory, on the SDK's own loop. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import { createMiddleware } from "@varve/adapter-ai-sdk"
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { isStepCount, ToolLoopAgent, wrapLanguageModel } from "ai"
import { scriptedModel, sentBy, shopTools } from "./Shop.ts"

const steps = 40
const mock = scriptedModel(steps)

// All that it takes: a memory, and the model with it.
const memory = createMemory({
  pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
  budget: { tokens: 30_000, images: 10 }
})
const middleware = createMiddleware(memory, { goalArgument: "goal" })
const agent = new ToolLoopAgent({
  model: wrapLanguageModel({ model: mock, middleware }),
  instructions: "You work a web shop's back office.",
  tools: shopTools(),
  stopWhen: isStepCount(steps + 1)
})

const prompt = "Check all open orders, one after the other."
const { responseMessages } = await agent.generate({ prompt })
await memory.flush()

// The same agent without one.
const plain = scriptedModel(steps)
await new ToolLoopAgent({
  model: plain,
  instructions: "You work a web shop's back office.",
  tools: shopTools(),
  stopWhen: isStepCount(steps + 1)
}).generate({ prompt })

const kB = (bytes: number): string => String(Math.round(bytes / 1000)).padStart(9)
const without = sentBy(plain)
console.log("             with memory               without")
console.log("request   images       kB      images       kB")
for (const [n, { bytes, images }] of sentBy(mock).entries()) {
  if (n > 3 && n % 10 > 0) continue
  const other = without[n]!
  console.log(
    `${String(n + 1).padStart(7)}${String(images).padStart(9)}${kB(bytes)}${String(other.images).padStart(12)}${kB(other.bytes)}`
  )
}
const sum = (list: ReadonlyArray<{ readonly bytes: number }>): string =>
  (list.reduce((total, { bytes }) => total + bytes, 0) / 1e6).toFixed(1)
console.log(`\nSent in all: ${sum(sentBy(mock))} MB with memory, ${sum(without)} MB without.`)

const has = sentBy(mock).filter(({ text }) => text.includes("[Step memory:")).length
const results = responseMessages.filter(({ role }) => role === "tool").length
console.log(`${has} of ${steps + 1} requests had the step memory.`)
console.log(`The history is whole: ${responseMessages.length + 1} messages, ${results} results.`)
console.log(`\n${memory.compose()}`)
await memory.close()

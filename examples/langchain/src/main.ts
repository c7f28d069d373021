/** A LangChain agent with memory, beside one without. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import { memoryMiddleware } from "@varve/adapter-langchain"
import type { MemoryMiddleware } from "@varve/adapter-langchain"
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { createAgent } from "langchain"
import { clickTool, scriptedModel } from "./Shop.ts"

const steps = 40

const run = async (middleware: ReadonlyArray<MemoryMiddleware>) => {
  const { model, sent } = scriptedModel(steps)
  const systemPrompt = "You work a web shop's back office."
  const agent = createAgent({ model, systemPrompt, tools: [clickTool()], middleware })
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: "Check all open orders, one after the other." }] },
    { recursionLimit: 3 * steps }
  )
  return { messages, sent }
}

// All that it takes: a memory, and a middleware of it.
const memory = createMemory({
  pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
  budget: { tokens: 30_000, images: 10 }
})
const kept = await run([memoryMiddleware(memory, { goalArgument: "goal" })])
const plain = await run([])

const kB = (bytes: number): string => String(Math.round(bytes / 1000))
console.log("               without memory            with memory")
console.log("request  messages images     kB  messages images     kB")
for (const [n, { bytes, hasMemory, images, messages }] of kept.sent.entries()) {
  if (n > 3 && n % 10 > 0) continue
  const before = plain.sent[n]!
  const row = [n + 1, before.messages, before.images, kB(before.bytes), messages, images, kB(bytes)]
  const width = [7, 10, 7, 7, 10, 7, 7]
  const line = row.map((cell, i) => String(cell).padStart(width[i]!)).join("")
  console.log(`${line}  ${hasMemory ? "with the step memory" : "without memory yet"}`)
}
const total = ({ sent }: typeof plain): string =>
  `${(sent.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(1)} MB`
console.log(`\nIn all ${total(plain)} were sent without memory, ${total(kept)} with it.`)

const results = kept.messages.filter(({ type }) => type === "tool").length
console.log(`The graph's state is whole: ${kept.messages.length} messages, ${results} results.`)
console.log(`\n${memory.compose()}`)
await memory.close()

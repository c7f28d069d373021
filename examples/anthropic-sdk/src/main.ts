/** 60 steps on Anthropic's own client, against a server on this machine. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import Anthropic from "@anthropic-ai/sdk"
import { Commit, createMemory, hardLimit } from "@varve/core"
import { profile } from "@varve/profiles"
import { maskToolResults } from "@varve/strategy-tool-result-mask"
import { work } from "./Agent.ts"
import { run, script, tools } from "./Build.ts"
import { partsOf, startServer } from "./Server.ts"
import type { Usage } from "./Server.ts"

const server = await startServer({ answer: script(60) })
const client = new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0 })
const memory = createMemory({
  pipeline: [maskToolResults({ keep: 4 }), hardLimit()],
  profile: profile("anthropic/claude-opus-5.5"),
  budget: { tokens: 12_000 },
  commit: Commit.whenItPays({ marks: true }),
  onEvent: (event) => {
    if (event.type === "prepared") return
    console.log(
      event.type === "cache-break"
        ? `an edit came into force: of ${event.expected} cached tokens, ${event.actual} were read`
        : event
    )
  }
})

const history = await work("Mend the build.", { client, memory, run, tools })
await memory.close()
await server.stop()

const cell = (value: number, width: number) => String(value).padStart(width)
console.log("\nrequest  messages  tokens  from the cache  marks behind messages")
for (const [n, { messages }] of server.requests.entries()) {
  if (n > 2 && n % 10 !== 0) continue
  const usage = server.usages[n]!
  const read = usage.cache_read_input_tokens
  const tokens = usage.input_tokens + read + usage.cache_creation_input_tokens
  const marked = messages.flatMap((message, i) =>
    partsOf(message).some((part) => part.cache_control != null) ? [i] : []
  )
  const row = [cell(n + 1, 7), cell(messages.length, 10), cell(tokens, 8), cell(read, 16)]
  console.log(`${row.join("")}  ${marked.join(", ")}`)
}
const sum = (key: keyof Usage) => server.usages.reduce((all, usage) => all + usage[key], 0)
const read = sum("cache_read_input_tokens")
const all = read + sum("input_tokens") + sum("cache_creation_input_tokens")
console.log(`\nOf all ${all} tokens, ${Math.round((100 * read) / all)} % came from the cache.`)
console.log(`The history is whole: ${history.length} messages. Refused: ${server.refused.length}.`)

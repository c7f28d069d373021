/** Three agents, each with a memory of its own. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import type { Agents } from "@varve/config"
import { load } from "@varve/config"
import { readFile } from "node:fs/promises"
import { agents } from "./agents.ts"
import { historyOf } from "./work.ts"

const steps = 20

const json: unknown = JSON.parse(await readFile(new URL("agents.json", import.meta.url), "utf8"))
const loaded = await load(json, { from: import.meta.url })

const work = async (from: string, agents: Agents): Promise<void> => {
  for (const name of agents.names) {
    const memory = agents.memory(name, { session: "task-42" })
    for (let n = 0; n < steps; n++) {
      memory.steps.begin({ id: `s${n}`, goal: `look at ${n}`, callId: `call-${n}`, tool: "look" })
      memory.steps.finish({ id: `s${n}`, callId: `call-${n}`, outcome: "success" })
      await memory.prepare(historyOf(name, n))
    }
    const { report } = await memory.prepare(historyOf(name, steps))
    const { before, after } = report
    const row = [before.tokens, after.tokens, before.images, after.images]
    console.log(
      `${from.padEnd(13)}${name.padEnd(15)}${row.map((figure) => String(figure).padStart(8)).join("")}  ${report.strategies.map(({ name }) => name).join(", ")}`
    )
    await memory.close()
  }
}

console.log("from         agent            tokens    sent  images    sent  strategies")
await work("agents.ts", agents)
await work("agents.json", loaded)

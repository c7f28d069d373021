/** What a session would have cost under each policy of pruning. No key, no network. */
import { profile } from "@varve/profiles"
import { fileURLToPath } from "node:url"
import { cacheCost, table } from "./CacheCost.ts"
import { readRecording } from "./Recording.ts"

const demo = fileURLToPath(new URL("../../gui-agent/recording/session.jsonl", import.meta.url))
const [file = demo, model = "claude-opus-4.8"] = process.argv.slice(2)

try {
  const { warning } = profile(model)
  if (warning !== undefined) console.error(warning)
  const session = readRecording(file)
  const rows = await cacheCost(session, model)
  console.log(`${session.name}: ${session.requests.length} requests with ${model}\n`)
  console.log(table(rows))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

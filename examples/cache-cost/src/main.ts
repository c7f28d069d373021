/** What a session would have cost under each policy of pruning. No key, no network. */
import { profile } from "@varve/profiles"
import { fileURLToPath } from "node:url"
import { cacheCost, HEAD, lineOf } from "./CacheCost.ts"
import { readRecording } from "./Recording.ts"

const demo = fileURLToPath(new URL("../../gui-agent/recording/session.jsonl", import.meta.url))
const [file = demo, model = "claude-opus-4.8"] = process.argv.slice(2)

try {
  const { warning } = profile(model)
  if (warning !== undefined) console.error(warning)
  const session = readRecording(file)
  const { name, requests } = session
  const silent = requests.filter(({ usage }) => usage === undefined).length
  if (silent > 0)
    console.error(
      `${silent} of ${requests.length} requests have no usage in the log: their answers are billed as 0 tokens.`
    )
  console.log(`${name}: ${requests.length} requests with ${model}\n`)
  console.log(HEAD)
  for await (const row of cacheCost(session, model)) console.log(lineOf(row))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

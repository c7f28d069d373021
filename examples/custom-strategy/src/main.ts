/** Shows what the strategy did, and what the report says of it. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import { Commit, createMemory, hardLimit } from "@varve/core"
import { history } from "./history.ts"
import { staleReads } from "./staleReads.ts"

const memory = createMemory({
  pipeline: [staleReads, hardLimit()],
  commit: Commit.immediate // so that a short example shows its edits; leave it out in code of yours
})
const { messages, report } = await memory.prepare(history)

console.log("strategy     proposed  accepted  refused  tokens saved")
for (const { accepted, name, proposed, refused, saved } of report.strategies) {
  const figures = [proposed, accepted, refused.length, saved].map((n) => String(Math.round(n)))
  const [a, b, c, d] = figures as [string, string, string, string]
  console.log(
    `${name.padEnd(11)}${a.padStart(10)}${b.padStart(10)}${c.padStart(9)}${d.padStart(14)}`
  )
}
for (const { edit, why } of report.strategies.flatMap(({ refused }) => refused)) {
  console.log(`refused: ${edit}: ${why}`)
}

console.log("\nits edits")
const edits = memory.explain()
for (const { after, before, id, kind, reason, state } of edits) {
  console.log(`${kind} ${id}: ${before} > ${after} tokens, ${state}, for ${reason}`)
}

const { before, after } = report
console.log(`\nthe request: ${before.tokens} > ${after.tokens} tokens`)
console.log(`messages that are the host's own objects: ${same()} of ${messages.length}`)

const { block } = await memory.recall(edits[0]!.id)
console.log(`and the original is still there: ${JSON.stringify(block).slice(0, 60)}…`)
await memory.close()

function same(): number {
  return messages.filter((message) => history.includes(message)).length
}

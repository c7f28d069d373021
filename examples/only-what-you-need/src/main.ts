/** What core and one strategy bring with them, and what they don't. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import { createMemory, hardLimit } from "@varve/core"
import { maskToolResults } from "@varve/strategy-tool-result-mask"
import { installedWith } from "./installed.ts"

const wanted = ["@varve/core", "@varve/strategy-tool-result-mask"]
const installed = installedWith(wanted, import.meta.dirname)

console.log(`npm install ${wanted.join(" ")} effect\n`)
console.log("installed:")
for (const { by, bytes, name, version } of installed) {
  const size = `${(bytes / 1e6).toFixed(2)} MB`.padStart(9)
  console.log(`  ${`${name} ${version}`.padEnd(40)}${size}  ${by === undefined ? "" : `for ${by}`}`)
}

/** What other parts of Varve need: they come with the package that uses them, or not at all. */
const elsewhere = {
  sharp: "thumbnails of @varve/strategy-screenshot-prune",
  tiktoken: "@varve/tokenizer",
  "@mariozechner/pi-ai": "models of @varve/strategy-llm-summary",
  "fast-check": "@varve/testkit"
}
const names = new Set(installed.map(({ name }) => name))
console.log("\nnot installed:")
for (const [name, user] of Object.entries(elsewhere)) {
  if (!names.has(name)) console.log(`  ${name.padEnd(40)}only for ${user}`)
}

// And these two are a whole memory.
const memory = createMemory({ pipeline: [maskToolResults(), hardLimit()] })
const { report } = await memory.prepare([{ role: "user", content: "Mend the build." }])
const running = report.strategies.map(({ name }) => name).join(", ")
console.log(`\nrunning: ${running}${report.unguarded ? "" : ", with a guard"}`)
await memory.close()

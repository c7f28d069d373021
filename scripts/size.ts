// Checks the size budgets of `.size-limit.js`; every package under packages/ has one.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { fail, packages, root, run } from "./workspace.ts"

const { default: budgets } = (await import(pathToFileURL(join(root, ".size-limit.js")).href)) as {
  default: ReadonlyArray<{ readonly path: string }>
}
for (const { folder } of packages()) {
  if (!budgets.some(({ path }) => path.startsWith(`${folder}/`))) {
    fail(`${folder} has no size budget: add one to .size-limit.js`)
  }
}

interface Size {
  readonly name: string
  readonly passed?: boolean
  readonly size?: number
  readonly sizeLimit?: number
}

const { code, output } = await run("size-limit", ["--json"])
if (!output.trimStart().startsWith("[")) fail(output)
const sizes = JSON.parse(output) as ReadonlyArray<Size>
const kb = (bytes = 0) => (bytes / 1000).toFixed(1)
for (const { name, passed, size, sizeLimit } of sizes) {
  console.log(`${passed === false ? "over" : "ok  "} ${kb(size)} of ${kb(sizeLimit)} kB  ${name}`)
}
if (code !== 0) fail("A package outgrew its budget.")
const core = sizes.map(({ size }) => kb(size))
// The README says how large it is; that is held to 2 kB.
const said = /`createMemory` has (\d+) kB/.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1]
if (!(Math.abs(Number(said) - Number(core[0])) <= 2)) {
  fail(`README.md says that \`createMemory\` has ${said} kB; it has ${core[0]}.`)
}
console.log(`createMemory ${core[0]} kB gzipped with Effect's parts, ${core[1]} kB without`)

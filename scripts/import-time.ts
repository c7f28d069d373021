// Compares the cold import of core with that of the Effect modules that it uses: both in fresh
// processes, taking turns. It may cost 1.75 times as much: the same code was between 1.31 and 1.62, by the machine's
// load, which adds more to what reads more files. The fastest of each counts.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { importTime } from "./cold-import.ts"
import { fail, root } from "./workspace.ts"

const limit = 1.75
const rounds = 15
const entry = join(root, "packages", "core", "dist", "index.js")

/** The Effect modules that a built file reaches by static imports, through files of its own. */
const effectModules = (file: string, seen = new Set<string>(), found = new Set<string>()) => {
  if (seen.has(file)) return found
  seen.add(file)
  const imports = /(?:^|[;}\n])\s*(?:import|export)\s*(?:[\w$\s{},*]*?from\s*)?["']([^"']+)["']/g
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(imports)) {
    if (name.startsWith("effect/")) found.add(name)
    if (name.startsWith(".")) effectModules(resolve(dirname(file), name), seen, found)
  }
  return found
}

const names = [...effectModules(entry)].toSorted()
if (names.length === 0) {
  console.log("core imports no Effect module")
  process.exit(0)
}
const baseline = join(root, "packages", "core", ".cache", "effect-modules.mjs")
mkdirSync(dirname(baseline), { recursive: true })
writeFileSync(baseline, names.map((name) => `import "${name}"\n`).join(""))

const timeOf = (file: string) => importTime(process.execPath, file)

await timeOf(entry)
await timeOf(baseline)
const core: Array<number> = []
const effect: Array<number> = []
for (let i = 0; i < rounds; i++) {
  core.push(await timeOf(entry))
  effect.push(await timeOf(baseline))
}
const [own, modules] = [Math.min(...core), Math.min(...effect)]
const ratio = own / modules
const figures =
  `core ${own.toFixed(0)} ms, its ${names.length} Effect modules ${modules.toFixed(0)} ms: ` +
  `${ratio.toFixed(2)} x`
if (ratio > limit) fail(`${figures}; at most ${limit} x is allowed`)
console.log(figures)

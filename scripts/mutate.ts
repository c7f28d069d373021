// Mutation check: puts one deliberate fault at a time into a copy of core, runs the tests that should see it, and
// fails where they don't. `node scripts/mutate.ts [WORDS]` takes only the faults whose text has these words.
// Nothing of the working tree is changed.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mutants as all } from "./mutants.ts"
import type { Mutant } from "./mutants.ts"
import { fail, members, root, run } from "./workspace.ts"

const WORKERS = 2
/** Random cases of each property: few, since a fault worth the name shows soon. */
const CASES = "400"

const words = process.argv.slice(2).join(" ")
const mutants = all.filter(({ fault }) => fault.includes(words))
if (mutants.length === 0) fail(`no fault has the words ${JSON.stringify(words)}`)

/** A copy of the repo's sources; what is installed is shared. */
const copyRepo = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "varve-mutate-"))
  for (const file of ["package.json", "tsconfig.base.json", "tsconfig.test.json"])
    cpSync(join(root, file), join(copy, file))
  for (const { folder } of members()) {
    cpSync(join(root, folder), join(copy, folder), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/[/\\](dist|\.cache|recording|\.examples)$/.test(path)
    })
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "junction")
  const core = join(copy, "packages", "core")
  // A failing property need not look for its smallest case.
  writeFileSync(
    join(core, "mutate.setup.ts"),
    `import * as fc from "fast-check"\nfc.configureGlobal({ endOnFailure: true, seed: 1 })\n`
  )
  writeFileSync(
    join(core, "mutate.config.ts"),
    `const conditions = ["@varve/source", "module", "node", "development|production"]
export default {
  root: import.meta.dirname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    setupFiles: ["./mutate.setup.ts"],
    include: ["test/**/*.test.ts"],
    bail: 1,
    maxWorkers: 1,
    // On a busy machine a test that is only slow has seen no fault.
    testTimeout: 100_000
  }
}
`
  )
  return copy
}

interface Verdict {
  /** The titles of the tests that failed. */
  readonly failed: ReadonlyArray<string>
  readonly passed: number
  readonly output: string
}

interface Results {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly title: string }>
  }>
}

/** Runs tests in a copy. Tests that can't even be loaded are no verdict: `failed` is then empty. */
const test = async (copy: string, names: ReadonlyArray<string>): Promise<Verdict> => {
  const cwd = join(copy, "packages", "core")
  const out = join(cwd, "results.json")
  rmSync(out, { force: true })
  const args = ["run", "--config", "mutate.config.ts", "--reporter", "json", "--outputFile", out]
  const files = names.map((name) => `test/${name}.test.ts`)
  const { output } = await run("vitest", [...args, ...files], {
    cwd,
    env: { VARVE_CASES: CASES, CI: "" },
    timeoutMs: 240_000
  })
  try {
    const results = JSON.parse(readFileSync(out, "utf8")) as Results
    const tests = results.testResults.flatMap((r) => r.assertionResults)
    return {
      failed: tests.filter((t) => t.status === "failed").map((t) => t.title),
      passed: results.numPassedTests,
      output
    }
  } catch {
    return { failed: [], passed: 0, output }
  }
}

const testsOf = ({ tests = ["Invariants.property"] }: Mutant): ReadonlyArray<string> => tests

const unused: Array<string> = []
const survived: Array<string> = []
const line = (verdict: string, { fault }: Mutant, by: string, from: number): void =>
  console.log(
    `${verdict.padEnd(8)} ${((performance.now() - from) / 1000).toFixed(0).padStart(3)} s  ${fault.padEnd(62)} ${by}`
  )

const tryOne = async (copy: string, mutant: Mutant): Promise<void> => {
  const path = join(copy, "packages", "core", "src", mutant.file)
  const source = readFileSync(path, "utf8")
  const from = performance.now()
  if (source.split(mutant.find).length !== 2) {
    unused.push(`${mutant.fault}: ${mutant.file} has its text not once`)
    return line("stale", mutant, mutant.file, from)
  }
  writeFileSync(
    path,
    source.replace(mutant.find, () => mutant.put)
  )
  for (const name of testsOf(mutant)) {
    const { failed, output, passed } = await test(copy, [name])
    if (failed[0] !== undefined) {
      writeFileSync(path, source)
      return line("caught", mutant, `${name} > ${failed[0]}`, from)
    }
    if (passed === 0) unused.push(`${mutant.fault}: ${name} did not run\n${output.slice(-1500)}`)
  }
  writeFileSync(path, source)
  survived.push(mutant.fault)
  line("SURVIVED", mutant, testsOf(mutant).join(", "), from)
}

const copies = Array.from({ length: WORKERS }, copyRepo)
process.on("exit", () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
})
const began = performance.now()
const used = [...new Set(mutants.flatMap(testsOf))]
const { failed, output, passed } = await test(copies[0]!, used)
if (failed.length > 0 || passed === 0)
  fail(`without a fault the tests have to pass: ${failed.join("; ")}\n${output.slice(-3000)}`)
console.log(`without a fault: ${passed} tests of ${used.length} files pass`)
const left = [...mutants]
const worker = async (copy: string): Promise<void> => {
  for (let next = left.shift(); next !== undefined; next = left.shift()) await tryOne(copy, next)
}
await Promise.all(copies.map(worker))
for (const problem of unused) console.error(problem)
const caught = mutants.length - survived.length - unused.length
console.log(
  `mutate: ${caught} of ${mutants.length} faults caught in ${((performance.now() - began) / 1000).toFixed(0)} s`
)
if (survived.length > 0 || unused.length > 0)
  fail([...survived.map((s) => `survived: ${s}`), ...unused.map(() => "see above")].join("\n"))

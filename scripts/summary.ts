// The closing lines of `.ci/run`: `N passed, N failed` from vitest's own results, then the state of
// the requirements map.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root, run } from "./workspace.ts"

interface Results {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

const file = join(root, ".cache", "tests.json")
const results = existsSync(file)
  ? (JSON.parse(readFileSync(file, "utf8")) as Results)
  : { numPassedTests: 0, testResults: [] }

// A file that fails before its first test counts as one failure.
const failed = results.testResults.reduce((sum, { status, assertionResults }) => {
  const tests = assertionResults.filter((test) => test.status === "failed").length
  return sum + (tests === 0 && status === "failed" ? 1 : tests)
}, 0)

console.log(`${results.numPassedTests} passed, ${failed} failed`)
const { code, output } = await run(process.execPath, ["scripts/requirements.ts"])
process.stdout.write(output)
process.exit(results.numPassedTests > 0 && failed === 0 ? code : 1)

// Checks the map in docs/requirements: every id is there once, and every test that a row names
// exists. Prints how many are proved. `--unproved` lists those that are not.
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { problemsOf, rowsOf } from "./requirement-rows.ts"
import { root } from "./workspace.ts"

const rows = globSync("docs/requirements/*.md", { cwd: root })
  .filter((file) => !file.endsWith("README.md"))
  .toSorted()
  .flatMap((file) => rowsOf(file, readFileSync(join(root, file), "utf8")))
const read = (file: string) =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined

const problems = problemsOf(rows, read)
for (const problem of problems) console.error(problem)
const unproved = rows.filter(({ proofs }) => proofs.length === 0)
if (process.argv.includes("--unproved")) {
  for (const { id, text } of unproved) console.log(`${id}  ${text}`)
}
console.log(`requirements: ${rows.length - unproved.length} proved, ${unproved.length} unproved`)
if (problems.length > 0) process.exit(1)

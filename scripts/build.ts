// Builds every package from nothing, so that no file of a deleted source is left in `dist`.
import { rmSync } from "node:fs"
import { join } from "node:path"
import { fail, packages, run } from "./workspace.ts"

const all = packages()
for (const { path } of all) rmSync(join(path, "dist"), { recursive: true, force: true })
const { code, output } = await run("tsc", ["-b", ...all.map(({ folder }) => folder)])
if (code !== 0) fail(output)
console.log(`${all.length} packages built`)

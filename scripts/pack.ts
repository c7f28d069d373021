// Builds and packs every package into `tarballs/`, for projects beside this one: until the packages are on npm,
// and to try a change of yours in an agent of yours.
import { rmSync } from "node:fs"
import { join } from "node:path"
import { pack } from "./tarballs.ts"
import { fail, root, run } from "./workspace.ts"

const folder = join(root, "tarballs")
rmSync(folder, { recursive: true, force: true })
const built = await run(process.execPath, ["scripts/build.ts"])
if (built.code !== 0) fail(built.output)
const tarballs = await pack(folder).catch((error: Error) => fail(error.message))
console.log(`${tarballs.length} packages in ${folder}. In a project of yours:`)
console.log(`\n  npm install ${join(folder, "*.tgz")} effect`)

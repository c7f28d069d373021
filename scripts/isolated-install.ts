// Packs core, installs the tarball into an empty folder with npm, and imports what it exports:
// on this Node and on the user's own. None of the heavy packages may come with it.
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fail, root, run } from "./workspace.ts"

const heavy = ["tiktoken", "sharp", "@img", "@mariozechner", "@earendil-works"]
const core = join(root, "packages", "core")
const folder = mkdtempSync(join(tmpdir(), "varve-install-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  packageManager: string
}
const packed = await run("npx", ["-y", packageManager, "pack", "--pack-destination", folder], {
  cwd: core
})
const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"))
if (packed.code !== 0 || tarball === undefined) fail(packed.output)

writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n')
const installed = await run(
  "npm",
  ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", `./${tarball}`],
  { cwd: folder }
)
if (installed.code !== 0) fail(installed.output)
const modules = join(folder, "node_modules")
for (const name of heavy) {
  if (existsSync(join(modules, name))) fail(`core brings ${name} with it`)
}

const nouns = readdirSync(join(core, "src"), { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && entry.name !== "index.ts")
  .map(({ name }) => name.slice(0, -3))
const closed = readdirSync(join(modules, "@varve", "core", "dist", "internal")).find((name) =>
  name.endsWith(".js")
)
writeFileSync(
  join(folder, "check.js"),
  `for (const name of ${JSON.stringify(nouns)}) await import("@varve/core/" + name)
const all = await import("@varve/core")
if (Object.keys(all).length === 0) throw new Error("@varve/core exports nothing")
${
  closed === undefined
    ? ""
    : `const open = await import("@varve/core/internal/${closed.slice(0, -3)}").then(() => true, () => false)
if (open) throw new Error("@varve/core/internal is open")`
}
console.log(process.version)
`
)
// The scripts put the repo's own Node first; the user's is the next one on the path.
const hostNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((entry) => join(entry, process.platform === "win32" ? "node.exe" : "node"))
  .find((file) => existsSync(file) && !realpathSync(file).startsWith(realpathSync(root)))
const versions: Array<string> = []
for (const node of new Set([process.execPath, hostNode ?? process.execPath])) {
  const { code, output } = await run(node, ["check.js"], { cwd: folder })
  if (code !== 0) fail(`${node}:\n${output}`)
  versions.push(output.trim())
}
const count = readdirSync(modules).filter((name) => !name.startsWith(".")).length
console.log(
  `${nouns.length} modules imported on ${versions.join(" and ")}; ${count} packages installed`
)

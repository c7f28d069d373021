// A release without publishing: builds and packs every package, then installs each alone into an empty project, on
// the user's Node and on 24, from a registry on this machine; imports it, and runs the first example of its README.
//
// `node scripts/release-dry.ts [--built] [--write] [NAME...]`: `--built` takes the `dist` that is there, `--write`
// puts the sizes into the README, names (`core`, `preset-gui`) do only those packages.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { importTime } from "./cold-import.ts"
import type { Installed } from "./installed.ts"
import { installedIn, suits } from "./installed.ts"
import { complaint, installed, readmeExample } from "./readme-example.ts"
import type { Footprint } from "./size-table.ts"
import { staleRows, withTable } from "./size-table.ts"
import { pack, serve } from "./tarballs.ts"
import type { Tarball } from "./tarballs.ts"
import { fail, packages, root, run } from "./workspace.ts"
import type { Member } from "./workspace.ts"

const flags = process.argv.slice(2)
const isBuilt = flags.includes("--built")
const isWriting = flags.includes("--write")
const only = flags.filter((flag) => !flag.startsWith("--"))
const chosen = packages().filter(
  ({ folder }) => only.length === 0 || only.includes(folder.slice("packages/".length))
)
if (chosen.length === 0 || only.length > chosen.length) {
  fail(
    `No such package. There are: ${packages()
      .map((p) => p.folder.slice(9))
      .join(", ")}`
  )
}

// The scripts put the repo's own Node first; the user's is the next one on the path.
const hostNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((entry) => join(entry, process.platform === "win32" ? "node.exe" : "node"))
  .find((file) => existsSync(file) && !realpathSync(file).startsWith(realpathSync(root)))

interface Node {
  readonly path: string
  readonly version: string
}

const nodeAt = async (path: string): Promise<Node> => {
  const { output } = await run(path, ["--version"])
  return { path, version: output.trim() }
}

const own = await nodeAt(process.execPath)
const host = hostNode === undefined ? own : await nodeAt(hostNode)

if (!isBuilt) {
  const built = await run(process.execPath, ["scripts/build.ts"])
  if (built.code !== 0) fail(built.output)
}
const work = mkdtempSync(join(tmpdir(), "varve-release-"))
process.on("exit", () => rmSync(work, { recursive: true, force: true }))
const tarballs = await pack(join(work, "tarballs")).catch((error: Error) => fail(error.message))
const registry = await serve(tarballs)

if (isWriting && only.length > 0)
  fail("--write needs the sizes of all packages: leave out the names")

/** A tarball holds what is published, whole and nothing else. */
const contents = ({ manifest: { name }, paths }: Tarball): void => {
  const odd = paths.filter(
    (path) => !/^(dist|src)\/|^(package\.json|README\.md|LICENSE)$/.test(path)
  )
  odd.push(...paths.filter((path) => /tsbuildinfo|\.test\./.test(path)))
  if (odd.length > 0) fail(`${name} would publish ${odd.join(", ")}: see \`files\``)
  for (const path of ["dist/index.js", "dist/index.d.ts", "src/index.ts", "README.md", "LICENSE"]) {
    if (!paths.includes(path)) fail(`${name} would be published without ${path}`)
  }
}

/** `npm install` on a Node, into the folder; npm's own code, so that the Node is the one that is meant. */
const install = async (node: Node, folder: string, names: ReadonlyArray<string>): Promise<void> => {
  const npm = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((entry) => join(entry, "npm"))
    .find((file) => existsSync(file) && realpathSync(file).endsWith(".js"))
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"]
  const options = {
    cwd: folder,
    env: { PATH: dirname(node.path) + delimiter + process.env["PATH"] }
  }
  const { code, output } =
    npm === undefined
      ? await run("npm", [...args, ...names], options)
      : await run(node.path, [realpathSync(npm), ...args, ...names], options)
  if (code !== 0) fail(`npm install ${names.join(" ")} on ${node.version}:\n${output}`)
}

const emptyProject = (folder: string): void => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n')
  writeFileSync(join(folder, ".npmrc"), `@varve:registry=${registry.url}\n`)
}

/** Every module that a package opens can be imported, and nothing of `internal`. */
const checkImports = async (node: Node, folder: string, { manifest, path }: Member) => {
  const nouns = readdirSync(join(path, "src"), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && entry.name !== "index.ts")
    .map(({ name }) => name.slice(0, -3))
  const closed = join(folder, "node_modules", manifest.name, "dist", "internal")
  const inner = existsSync(closed) ? readdirSync(closed).find((name) => name.endsWith(".js")) : ""
  writeFileSync(
    join(folder, "check.js"),
    `const name = ${JSON.stringify(manifest.name)}
for (const noun of ${JSON.stringify(nouns)}) await import(name + "/" + noun)
const all = await import(name)
if (Object.keys(all).length === 0) throw new Error(name + " exports nothing")
const inner = ${JSON.stringify(inner?.slice(0, -3))}
if (inner && await import(name + "/internal/" + inner).then(() => true, () => false))
  throw new Error(name + "/internal is open")
process.exit(0)
`
  )
  const { code, output } = await run(node.path, ["check.js"], { cwd: folder, timeoutMs: 60_000 })
  if (code !== 0) fail(`${manifest.name} on ${node.version}:\n${output}`)
  return nouns.length
}

/** Runs the README's first example with what the README says to install, and what else it imports. Says how it went. */
const runExample = async (node: Node, folder: string, { manifest, path }: Member) => {
  const file = join(path, "README.md")
  const readme = readFileSync(file, "utf8")
  const example = readmeExample(file, readme)
  if (example === undefined) return "none runs"
  const modules = join(folder, "node_modules")
  const named = [...installed(readme), ...example.packages]
  const missing = [...new Set(named)].filter((name) => !existsSync(join(modules, name)))
  if (missing.length > 0)
    await install(
      node,
      folder,
      missing.map((name) => versioned(name, path))
    )
  const wanted = example.packages
  const old = installedIn(modules).find(
    ({ name, node: range }) => wanted.includes(name) && !suits(node.version, range)
  )
  if (old !== undefined) return `skipped: ${old.name} needs Node ${old.node}`
  writeFileSync(join(folder, "example.mjs"), example.code)
  const { code, output } = await run(node.path, ["example.mjs"], { cwd: folder, timeoutMs: 60_000 })
  const wrong = code === 0 ? complaint(example, output) : output
  if (wrong !== undefined) {
    fail(`${manifest.name}: README.md:${example.line} on ${node.version}:\n${wrong}`)
  }
  return "ran"
}

/** A package in the version that this repo is tested with, where the package's own folder has it. */
const versioned = (name: string, path: string): string => {
  const file = join(path, "node_modules", name, "package.json")
  if (name.startsWith("@varve/") || !existsSync(file)) return name
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }
  return `${name}@${version}`
}

const sum = (all: ReadonlyArray<Installed>): number => all.reduce((n, { bytes }) => n + bytes, 0)

interface Result extends Footprint {
  /** Cold imports in ms, the best of five. */
  readonly import20: number
  readonly import24: number
  readonly modules: number
  readonly examples: ReadonlyArray<string>
}

/** One package, alone, on one Node and the other. */
const check = async (member: Member): Promise<Result> => {
  const { name } = member.manifest
  const tarball = tarballs.find(({ manifest }) => manifest.name === name)
  contents(tarball ?? fail(`${name} was not packed`))
  const times: Array<number> = []
  const examples: Array<string> = []
  let all: ReadonlyArray<Installed> = []
  let modules = 0
  const projects = [host, own].map((node, i) => ({ node, folder: join(work, name, String(i)) }))
  await Promise.all(
    projects.map(async ({ folder, node }) => {
      emptyProject(folder)
      await install(node, folder, [name])
    })
  )
  for (const { folder, node } of projects) {
    all = installedIn(join(folder, "node_modules"))
    const brought = all.map((one) => one.name).filter((other) => other !== name)
    if (name === "@varve/core" && brought.join() !== "effect")
      fail(`core brings ${brought.join(", ")} with it; it is to bring effect alone`)
    modules = await checkImports(node, folder, member)
    const rounds: Array<number> = []
    for (let i = 0; i < 5; i++) rounds.push(await importTime(node.path, name, folder))
    times.push(Math.min(...rounds))
    examples.push(await runExample(node, folder, member))
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    name,
    modules,
    examples,
    packages: all.length,
    own: sum(all.filter((one) => one.name === name)),
    effect: sum(all.filter((one) => one.name === "effect")),
    total: sum(all),
    import20: times[0] ?? 0,
    import24: times[1] ?? 0
  }
}

const results: Array<Result> = []
const mb = (bytes: number) => (bytes / 1e6).toFixed(2).padStart(8)
const ms = (time: number) => time.toFixed(0).padStart(8)
console.log(
  `Each alone, by npm, on ${host.version} and ${own.version}. Sizes in MB, imports in ms.`
)
console.log(
  `${"".padEnd(36)}packages  itself  Effect     all  import  on ${own.version.split(".")[0]}  README's example`
)
for (const member of chosen) {
  const result = await check(member)
  results.push(result)
  const { effect, examples, import20, import24, name, own: itself, packages: count, total } = result
  const ran = new Set(examples).size === 1 ? examples[0] : examples.join("; ")
  console.log(
    `${name.padEnd(36)}${String(count).padStart(8)}${mb(itself)}${mb(effect)}${mb(total)}` +
      `${ms(import20)}${ms(import24)}  ${ran}`
  )
}
await registry.close()

const readme = join(root, "README.md")
if (isWriting) writeFileSync(readme, withTable(readFileSync(readme, "utf8"), results))
const stale = staleRows(readFileSync(readme, "utf8"), results)
if (stale.length > 0) {
  fail(
    `The README's sizes of ${stale.join(", ")} no longer hold. Run: npm run release:dry -- --write`
  )
}
const modules = results.reduce((n, result) => n + result.modules, 0)
console.log(
  `${results.length} packages installed alone on ${host.version} and ${own.version}, ${modules} modules imported`
)

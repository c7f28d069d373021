import { spawnSync } from "node:child_process"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { peersDir, versionOf, type Package } from "./Catalog.ts"

export interface FootprintRow {
  readonly name: string
  readonly version: string
  /** MB of its node_modules. */
  readonly mb: number
  /** ms that its import takes beyond those of a bare process; median of five fresh processes. */
  readonly importMs: number
}

const ROUNDS = 5
const root = fileURLToPath(new URL("../../../", import.meta.url))

const bytesOf = (path: string): number => {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** ms from before the import to behind it, in a process that has done nothing else. */
const importTime = (cwd: string, ...names: ReadonlyArray<string>): number => {
  const code =
    `const from = performance.now(); for (const name of ${JSON.stringify(names)}) await import(name); ` +
    `console.log("ms", performance.now() - from); process.exit(0)`
  const times = Array.from({ length: ROUNDS + 1 }, () => {
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      cwd,
      encoding: "utf8"
    })
    return Number(/ms ([\d.]+)/.exec(stdout)?.[1])
  })
  // The first one reads from the disk.
  return median(times.slice(1))
}

/** The tarballs of packages of ours, installed in a folder that goes away again. */
const ourRow = (name: string, packages: ReadonlyArray<string>): FootprintRow | undefined => {
  const folders = packages.map((folder) => join(root, "packages", folder))
  if (!folders.every((folder) => existsSync(join(folder, "dist", "index.js")))) return undefined
  const folder = mkdtempSync(join(tmpdir(), "varve-peers-"))
  try {
    mkdirSync(join(folder, "packed"))
    const pnpm = ["-y", "pnpm@12.21.0", "pack", "--pack-destination", join(folder, "packed")]
    for (const cwd of folders) spawnSync("npx", pnpm, { cwd })
    const packed = readdirSync(join(folder, "packed")).map((file) => `./packed/${file}`)
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n')
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"]
    const { status } = spawnSync("npm", [...args, ...packed], { cwd: folder })
    if (status !== 0) return undefined
    return {
      name,
      version: "this repo",
      mb: bytesOf(join(folder, "node_modules")) / 1e6,
      importMs: importTime(folder, ...packages.map((name) => `@varve/${name}`))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What installing and importing each costs. Ours are as they were built last. */
export const footprint = (published: ReadonlyArray<Package>): ReadonlyArray<FootprintRow> => {
  const all = ["core", "profiles", "tokenizer", "strategy-screenshot-prune"]
  const rows: Array<FootprintRow | undefined> = [
    ourRow("@varve/core, with effect", ["core"]),
    ourRow("the same with profiles, tiktoken and sharp", all)
  ]
  for (const peer of published) {
    console.error(`footprint: ${peer.name}`)
    const cwd = join(peersDir, peer.folder)
    const mb = bytesOf(join(cwd, "node_modules")) / 1e6
    rows.push({
      name: peer.name,
      version: versionOf(peer),
      mb,
      importMs: importTime(
        cwd,
        peer.folder === "langchain-core" ? `${peer.name}/messages` : peer.name
      )
    })
  }
  return rows.filter((row) => row !== undefined)
}

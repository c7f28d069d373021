import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Peer } from "./Peer.ts"

/** Where each peer has its folder: a manifest, a lockfile, its packages, and `peer.ts` that calls it. */
export const peersDir = fileURLToPath(new URL("../../peers/", import.meta.url))

/** A published package, in the folder of its own that it is installed in. */
export interface Package {
  readonly folder: string
  readonly name: string
}

export const PACKAGES: ReadonlyArray<Package> = [
  { folder: "langchain-core", name: "@langchain/core" },
  { folder: "langchain", name: "langchain" },
  { folder: "ai", name: "ai" },
  { folder: "mastra", name: "@mastra/core" },
  { folder: "context-chef", name: "@context-chef/core" },
  { folder: "strands", name: "@strands-agents/sdk" },
  { folder: "pi", name: "@earendil-works/pi-coding-agent" }
]

const readJson = (file: string): any => JSON.parse(readFileSync(file, "utf8"))

/** The version that the lockfile names. */
export const versionOf = ({ folder, name }: Package): string =>
  readJson(join(peersDir, folder, "package-lock.json")).packages[`node_modules/${name}`].version

/** Installs what isn't there yet, each in its own folder. Gives the packages that are there, and why others aren't. */
export const install = (): {
  readonly there: ReadonlyArray<Package>
  readonly missing: ReadonlyMap<string, string>
} => {
  const missing = new Map<string, string>()
  const there = PACKAGES.filter((peer) => {
    const cwd = join(peersDir, peer.folder)
    const manifest = join(cwd, "node_modules", peer.name, "package.json")
    if (existsSync(manifest) && readJson(manifest).version === versionOf(peer)) return true
    console.error(`installing ${peer.name} ${versionOf(peer)}`)
    const { status, stderr } = spawnSync(
      "npm",
      ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
      { cwd, encoding: "utf8", shell: process.platform === "win32" }
    )
    if (status === 0) return true
    missing.set(peer.name, /code (E\w+)/.exec(stderr ?? "")?.[1] ?? `npm ended with ${status}`)
    return false
  })
  return { there, missing }
}

/** What calls a package; loads the package. */
export const load = async ({ folder }: Package): Promise<ReadonlyArray<Peer>> => {
  const { peers } = (await import(pathToFileURL(join(peersDir, folder, "peer.ts")).href)) as {
    peers: ReadonlyArray<Peer>
  }
  return peers
}

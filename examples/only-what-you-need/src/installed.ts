/** What npm puts into node_modules for packages: they, what they depend on, and the peers that they need. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly files?: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export interface Installed {
  readonly name: string
  readonly version: string
  /** Who asked for it; nothing for what you name yourself. */
  readonly by: string | undefined
  readonly bytes: number
}

/** The folder of a package as code in `from` finds it; nothing where it isn't installed. */
const folderOf = (name: string, from: string): string | undefined => {
  for (const folder of createRequire(join(from, "index.js")).resolve.paths(name) ?? []) {
    try {
      return realpathSync(join(folder, name))
    } catch {
      // The next folder up may have it.
    }
  }
  return undefined
}

const bytesOf = (path: string): number => {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path)
    .filter((name) => name !== "node_modules" && !name.startsWith("."))
    .reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

/** A package of the workspace holds more than is published: `files` says what. */
const sizeOf = (folder: string, { files, name }: Manifest): number =>
  name.startsWith("@varve/") && files !== undefined
    ? [...files, "package.json", "README.md", "LICENSE"].reduce(
        (sum, file) => sum + bytesOf(join(folder, file)),
        0
      )
    : bytesOf(folder)

/** Everything that comes with these packages, each once, in the order in which it is found. */
export const installedWith = (
  names: ReadonlyArray<string>,
  from: string
): ReadonlyArray<Installed> => {
  const found = new Map<string, Installed>()
  const visit = (name: string, at: string, by: string | undefined): void => {
    if (found.has(name)) return
    const folder = folderOf(name, at)
    if (folder === undefined) throw new Error(`${name}, which ${by ?? "you"} asked for, is missing`)
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
    found.set(name, { name, version: manifest.version, by, bytes: sizeOf(folder, manifest) })
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest
    const peers = Object.keys(peerDependencies).filter(
      (peer) => peerDependenciesMeta[peer]?.optional !== true
    )
    for (const next of [...Object.keys(dependencies), ...peers]) visit(next, folder, name)
  }
  for (const name of names) visit(name, from, undefined)
  return [...found.values()]
}

// What is in a node_modules folder: which packages, how large, and which Node they ask for.
import { readFileSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"

export interface Installed {
  readonly name: string
  readonly version: string
  readonly bytes: number
  /** `engines.node`, where it has one. */
  readonly node: string | undefined
}

const bytesOf = (path: string): number => {
  const stat = statSync(path)
  return stat.isDirectory()
    ? readdirSync(path).reduce(
        (sum, name) => (name === "node_modules" ? sum : sum + bytesOf(join(path, name))),
        0
      )
    : stat.size
}

const names = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).flatMap((name) =>
    name.startsWith("@")
      ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`)
      : name.startsWith(".")
        ? []
        : [name]
  )

/** Every package of a node_modules folder that npm made, those inside of others too. */
export const installedIn = (modules: string): ReadonlyArray<Installed> =>
  names(modules).flatMap((name) => {
    const folder = join(modules, name)
    const { engines, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly version: string
      readonly engines?: { readonly node?: string }
    }
    const inner = readdirSync(folder).includes("node_modules")
      ? installedIn(join(folder, "node_modules"))
      : []
    return [{ name, version, bytes: bytesOf(folder), node: engines?.node }, ...inner]
  })

const numbers = (version: string): ReadonlyArray<number> =>
  version.replace(/^\D*/, "").split(".").map(Number)

const atLeast = (have: ReadonlyArray<number>, wanted: ReadonlyArray<number>): boolean => {
  for (const [i, part] of wanted.entries()) {
    if ((have[i] ?? 0) !== part) return (have[i] ?? 0) > part
  }
  return true
}

/**
 * False where a Node is too old for what `engines.node` asks for. Reads what packages say in practice, as
 * `>=22.19`, `^20.9.0 || >=22` or `20 || 22`; what it can't read holds.
 */
export const suits = (node: string, range: string | undefined): boolean => {
  const have = numbers(node)
  const parts = (range ?? "").split("||").map((part) => part.trim())
  return parts.some((part) => {
    const [, sign = "", version = ""] = /^(>=|\^|~|=|v)?\s*(\d+(?:\.\d+)*)$/.exec(part) ?? []
    if (version === "") return true
    const wanted = numbers(version)
    return sign === ">=" ? atLeast(have, wanted) : have[0] === wanted[0] && atLeast(have, wanted)
  })
}

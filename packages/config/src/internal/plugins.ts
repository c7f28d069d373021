import type { ConfigIssue } from "@varve/core/VarveError"
import * as core from "@varve/core"
import { existsSync, readFileSync } from "node:fs"
import { createRequire, isBuiltin } from "node:module"
import { join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** A module as `import` gives it. */
export type Plugin = Readonly<Record<string, unknown>>

/** Which export of a package is meant where none is named. A package of others has one, or a `default`. */
export const exportNames: Readonly<Record<string, string>> = {
  "@varve/preset-coding": "codingAgent",
  "@varve/preset-gui": "guiAgent",
  "@varve/profiles": "profile",
  "@varve/strategy-extractive-summary": "extractiveSummarizer",
  "@varve/strategy-llm-summary": "modelSummarizer",
  "@varve/strategy-screenshot-prune": "screenshots",
  "@varve/strategy-tool-result-mask": "maskToolResults",
  "@varve/tokenizer": "tiktokenCounter"
}

const packageOf = (use: string): string =>
  use
    .split("/")
    .slice(0, use.startsWith("@") ? 2 : 1)
    .join("/")

const isFile = (use: string): boolean => use.startsWith(".")

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code

/** Finds plugins as the host's own code would, and imports each once. */
export class Plugins {
  readonly #require: NodeJS.Require
  readonly #folder: string
  readonly #loaded = new Map<string, Plugin>()

  /** `from`: the URL of a module of the host's, or the path of its folder. */
  constructor(from: string | URL) {
    const isUrl = from instanceof URL || from.startsWith("file:")
    const base = isUrl ? fileURLToPath(from) : join(resolve(from), "/")
    this.#require = createRequire(base)
    this.#folder = isUrl ? resolve(base, "..") : resolve(from)
  }

  /** A module that was imported. */
  get(use: string): Plugin {
    return this.#loaded.get(use)!
  }

  /** Imports a module; gives what is wrong where that can't be done. */
  async import(use: string, path: string): Promise<ConfigIssue | undefined> {
    if (use === "@varve/core") {
      this.#loaded.set(use, core)
      return undefined
    }
    let url: string
    try {
      if (isBuiltin(use))
        return { path, given: `"${use}", a module of Node's own`, allowed: "a plugin" }
      url = this.#resolve(use)
    } catch (error) {
      return this.#missing(use, path, error)
    }
    try {
      this.#loaded.set(use, (await import(/* @vite-ignore */ url)) as Plugin)
      return undefined
    } catch (error) {
      const said = error instanceof Error ? error.message.split("\n")[0]! : String(error)
      return {
        path,
        given: `"${use}", which failed to load (${said})`,
        allowed: "a module that loads"
      }
    }
  }

  #resolve(use: string): string {
    try {
      return pathToFileURL(this.#require.resolve(use)).href
    } catch (error) {
      // A package may be open to `import` alone, which nothing in Node 20 resolves from another's folder.
      const file =
        codeOf(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED" ? this.#forImport(use) : undefined
      if (file === undefined) throw error
      return pathToFileURL(file).href
    }
  }

  #forImport(use: string): string | undefined {
    const name = packageOf(use)
    const inside = `.${use.slice(name.length)}`
    for (const folder of this.#require.resolve.paths(use) ?? []) {
      const home = join(folder, name)
      let manifest: { readonly exports?: unknown }
      try {
        manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"))
      } catch {
        continue
      }
      const { exports } = manifest
      const listed = (exports as Readonly<Record<string, unknown>> | undefined)?.[inside]
      const target = targetOf(listed ?? (inside === "." ? exports : undefined))
      return target === undefined ? undefined : join(home, target)
    }
    return undefined
  }

  #missing(use: string, path: string, error: unknown): ConfigIssue {
    if (isFile(use)) {
      const allowed = `a file that is there, from ${this.#folder}`
      return { path, given: `"${use}", which was not found`, allowed }
    }
    const name = packageOf(use)
    const isThere = (this.#require.resolve.paths(use) ?? []).some((folder) =>
      existsSync(join(folder, name))
    )
    return codeOf(error) === "MODULE_NOT_FOUND" && !isThere
      ? {
          path,
          given: `"${use}", which is not installed for ${this.#folder}`,
          allowed: `an installed package: npm install ${name}`
        }
      : {
          path,
          given: `"${use}", which ${name} does not export`,
          allowed: "what the package exports"
        }
  }
}

const targetOf = (entry: unknown): string | undefined => {
  if (typeof entry === "string") return entry.startsWith("./") ? entry : undefined
  if (typeof entry !== "object" || entry === null) return undefined
  for (const [condition, target] of Object.entries(entry)) {
    if (!["node", "import", "module-sync", "default"].includes(condition)) continue
    const found = targetOf(target)
    if (found !== undefined) return found
  }
  return undefined
}

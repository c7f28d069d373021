import { createRequire } from "node:module"
import { ConfigError } from "@varve/core/VarveError"

type Sharp = typeof import("sharp").default

let loaded: Promise<Sharp> | undefined

/** sharp, loaded when first asked for: 20 MB and about 150 ms that nobody without thumbnails pays. */
export const loadSharp = (): Promise<Sharp> => (loaded ??= import("sharp").then((m) => m.default))

const find = (): void => void createRequire(import.meta.url).resolve("sharp")

/** Throws `ConfigError` where sharp can't be found. Synchronous: nothing of it is loaded. */
export const requireSharp = (option: string, resolve: () => void = find): void => {
  try {
    resolve()
  } catch {
    throw new ConfigError([
      {
        path: option,
        given: "a value that needs the package sharp, which is not installed",
        allowed: "this option once sharp is there (npm install sharp), or the option left out"
      }
    ])
  }
}

import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** Where the real sessions are: `VARVE_DATA`, else `../shared/data`, both seen from the root of the repo. */
export const dataDir = (): string => resolve(root, process.env.VARVE_DATA || "../shared/data")

/** True where `dataDir()` holds sessions. */
export const hasData = (): boolean => existsSync(join(dataDir(), "SESSIONS.tsv"))

/**
 * For tests that need the real sessions: true where they are there. Otherwise says in one line what is left out
 * and gives false; with `CI` set it throws instead.
 *
 * @example
 * ```ts
 * import { requireData } from "@varve-examples/session-readers/Data"
 *
 * process.env.CI = ""
 * process.env.VARVE_DATA = "/nowhere"
 * console.log(requireData("readers")) // => false
 * ```
 */
export const requireData = (tests: string): boolean => {
  if (hasData()) return true
  const why = `no sessions in ${dataDir()}. Set VARVE_DATA to the folder that holds SESSIONS.tsv.`
  if (process.env.CI) throw new Error(`Tests of ${tests} can't run: ${why}`)
  console.warn(`Skipped: tests of ${tests}: ${why}`)
  return false
}

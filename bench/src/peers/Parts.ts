import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** One part of the page as it was measured, with when and on what. */
export interface Measured<A> {
  /** Day, as in `2026-01-31`. */
  readonly date: string
  readonly cores: number
  readonly node: string
  readonly seconds: number
  readonly quick: boolean
  readonly result: A
}

const folder = fileURLToPath(new URL("../../.cache/peers/", import.meta.url))

/** Measures a part and keeps the result, so that the page can be written anew without the others. */
export const measure = async <A>(
  name: string,
  quick: boolean,
  run: () => Promise<A>
): Promise<void> => {
  const from = performance.now()
  const result = await run()
  const measured: Measured<A> = {
    date: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
    node: process.version,
    seconds: Math.round((performance.now() - from) / 1000),
    quick,
    result
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(measured))
  console.error(`${name}: ${measured.seconds} s`)
}

/** A part as it was measured last; nothing where it never was. */
export const measured = <A>(name: string): Measured<A> | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Measured<A>
  } catch {
    return undefined
  }
}

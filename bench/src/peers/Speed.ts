import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Package } from "./Catalog.ts"
import type { Peer } from "./Peer.ts"

/** ms of a request: with nothing to do, and with something. `null`: that never was. */
export interface Times {
  readonly idle: number | null
  readonly acting: number | null
}

/** In the first session of a process, and in one that has run for long. */
export interface Speed {
  /** ms to take in the history. */
  readonly first: number
  readonly young: Times
  readonly warm: Times
}

export interface SpeedRow {
  readonly name: string
  /** By size: the figures, or why there are none. */
  readonly speeds: ReadonlyArray<Speed | string>
}

export interface SpeedPart {
  readonly sizes: ReadonlyArray<number>
  readonly rows: ReadonlyArray<SpeedRow>
}

/** No request may take longer, nor loading a history of this size. */
const MOST = 60_000
const child = fileURLToPath(new URL("speedChild.ts", import.meta.url))

/** Runs one measurement in a process of its own and stops that where it takes too long. */
const one = (folder: string, name: string, size: number): Promise<Speed | string> =>
  new Promise((resolve) => {
    const args = [
      "--conditions=@varve/source",
      "--max-old-space-size=6000",
      child,
      folder,
      name,
      `${size}`
    ]
    const process_ = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
    const [out, err] = [[] as Array<string>, [] as Array<string>]
    process_.stdout.on("data", (chunk) => out.push(String(chunk)))
    process_.stderr.on("data", (chunk) => err.push(String(chunk)))
    // Loading packages and making the history come on top.
    const timer = setTimeout(() => process_.kill("SIGKILL"), MOST + 90_000)
    process_.on("close", (code, signal) => {
      clearTimeout(timer)
      const line = out.join("").trim().split("\n").at(-1) ?? ""
      if (signal === "SIGKILL") resolve("> 60 s")
      else if (code === 0) resolve(JSON.parse(line) as Speed)
      else {
        const why =
          err
            .join("")
            .split("\n")
            .find((text) => /Error/.test(text)) ?? `ended with ${code}`
        resolve(/heap out of memory/.test(err.join("")) ? "out of memory" : why.slice(0, 80))
      }
    })
  })

/** Where a request of a tenth of the size took more than a tenth of the time, there is no need to try. */
const tooLong = (before: Speed | string | undefined): string | undefined =>
  before === undefined || typeof before === "string"
    ? before
    : Math.max(before.young.idle ?? 0, before.young.acting ?? 0) > MOST / 10
      ? "> 60 s"
      : undefined

/** How long requests take, by the number of messages. Where one takes too long, larger ones aren't tried. */
export const speed = async (
  published: ReadonlyArray<readonly [Package, ReadonlyArray<Peer>]>,
  quick: boolean
): Promise<SpeedPart> => {
  const sizes = quick ? [100, 1000] : [100, 1000, 10_000, 100_000]
  const rows: Array<SpeedRow> = []
  const all: ReadonlyArray<readonly [string, string]> = [
    ["-", "Varve"],
    ["-", "Varve, from a mark on"],
    ["-", "sliding window"],
    ...published.flatMap(([{ folder }, peers]) => peers.map(({ name }) => [folder, name] as const))
  ]
  for (const [folder, name] of all) {
    const speeds: Array<Speed | string> = []
    for (const size of sizes) {
      console.error(`speed: ${name}, ${size} messages`)
      speeds.push(tooLong(speeds.at(-1)) ?? (await one(folder, name, size)))
    }
    rows.push({ name, speeds })
  }
  return { sizes, rows }
}

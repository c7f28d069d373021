import { fileStore } from "@varve/core/FileStore"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"

const RUNS = 200
const fixture = join(import.meta.dirname, "fixtures/append-forever.ts")

/** Runs the fixture until a number of acknowledgements came, and a moment more; gives the last one. */
const killed = (directory: string, acks: number, spins: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--conditions=@varve/source", fixture, directory], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(directory, "../compiled") }
    })
    let out = ""
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      if (out.split("\n").length <= acks) return
      for (let i = 0; i < spins; i++) Math.random()
      child.kill("SIGKILL")
    })
    child.on("error", reject)
    child.on("close", (code) => {
      const last = out.slice(0, out.lastIndexOf("\n")).split("\n").at(-1)
      if (code === null) resolve(Number(last))
      else reject(new Error(`the fixture ended by itself with ${code}`))
    })
  })

it(
  `a process killed at ${RUNS} random moments never loses an entry that was acknowledged`,
  { timeout: 600_000 },
  async () => {
    const base = mkdtempSync(join(tmpdir(), "varve-kill-"))
    let [done, torn] = [0, 0]
    // Two sessions side by side, each killed and started again on what the last run left.
    const session = async (name: string): Promise<void> => {
      const directory = join(base, name)
      for (let before = 0; done < RUNS;) {
        done++
        const acked = await killed(
          directory,
          1 + Math.floor(Math.random() * 25),
          Math.floor(Math.random() * 300_000)
        )
        const { entries, cut } = await Effect.runPromise(fileStore(directory).load("agent/session"))
        if (cut !== undefined) torn++
        expect(acked).toBeGreaterThan(before)
        expect(entries.length).toBeGreaterThanOrEqual(acked)
        // At most the append that was under way is there without an acknowledgement.
        expect(entries.length).toBeLessThanOrEqual(acked + 2)
        expect(entries.map((entry) => (entry as { n: number }).n)).toEqual(entries.map((_, i) => i))
        before = entries.length
      }
    }
    try {
      await Promise.all([session("one"), session("two")])
    } finally {
      rmSync(base, { recursive: true })
    }
    expect(done).toBeGreaterThanOrEqual(RUNS)
    expect(torn).toBeLessThanOrEqual(RUNS)
  }
)

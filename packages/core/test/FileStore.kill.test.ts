import { fileStore } from "@varve/core/FileStore"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { bundle } from "./fixtures/bundle.ts"

const RUNS = 200

/** Kills of one session: its journal, which is replaced as a whole now and then, grows to some 1 MB. */
const KILLS = 50

/** Runs the program until a number of acknowledgements came, and a moment more; gives the last one. */
const killed = (program: string, directory: string, acks: number, spins: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, directory], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(directory, "../compiled") }
    })
    let out = ""
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      if (child.killed || out.split("\n").length <= acks) return
      for (let i = 0; i < spins; i++) Math.random()
      child.kill("SIGKILL")
    })
    child.on("error", reject)
    child.on("close", (code) => {
      const last = out.slice(0, out.lastIndexOf("\n")).split("\n").at(-1)
      if (code === null) resolve(Number(last))
      else reject(new Error(`the program ended by itself with ${code}`))
    })
  })

it(
  `a process killed at ${RUNS} random moments never loses an entry that was acknowledged`,
  { timeout: 600_000 },
  async () => {
    const base = mkdtempSync(join(tmpdir(), "varve-kill-"))
    const program = await bundle("append-forever", join(base, "program"))
    let [done, torn] = [0, 0]
    let sessions = 0
    // Each session is killed and started again on what the last run left.
    const session = async (): Promise<void> => {
      const directory = join(base, `session-${sessions++}`)
      for (let before = 0, kills = 0; kills < KILLS && done < RUNS; kills++) {
        done++
        const acked = await killed(
          program,
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
    const lane = async (): Promise<void> => {
      while (done < RUNS) await session()
    }
    try {
      await Promise.all([lane(), lane()])
    } finally {
      rmSync(base, { recursive: true })
    }
    expect(done).toBeGreaterThanOrEqual(RUNS)
    expect(torn).toBeLessThanOrEqual(RUNS)
  }
)

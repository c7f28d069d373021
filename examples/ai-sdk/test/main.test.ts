import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

it("runs offline: every request from the second on has the memory, and what is sent stays small", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  const rows = stdout.split("\n").flatMap((line) => {
    const found = /^ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$/.exec(line)
    return found === null ? [] : [found.slice(1).map(Number)]
  })
  expect(rows.map(([request]) => request)).toEqual([1, 2, 3, 4, 11, 21, 31, 41])
  for (const [, images] of rows) expect(images).toBeLessThanOrEqual(10)
  const [, , kB, all, without] = rows.at(-1)!
  expect(all).toBe(36)
  expect(kB).toBeLessThan(without! / 3)
  expect(stdout).toContain("40 of 41 requests had the step memory.")
  expect(stdout).toContain("The history is whole: 82 messages, 40 results.")
  expect(stdout).toMatch(/step 40: success, "Open order 40" \(click\)/)
  expect(stdout).toContain('step 36: failed, "Open order 36"')
}, 30_000)

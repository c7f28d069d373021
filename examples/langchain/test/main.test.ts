import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

it("runs offline: every request from the second on has the memory, and sends a fraction of what it was", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  const rows = [...stdout.matchAll(/^((?: +\d+){7}) {2}(.*)$/gm)].map(([, figures, memo]) => ({
    figures: figures!.trim().split(/ +/).map(Number),
    memo
  }))
  expect(rows.map(({ figures }) => figures[0])).toEqual([1, 2, 3, 4, 11, 21, 31, 41])
  for (const { figures, memo } of rows) {
    expect(figures[5]).toBeLessThanOrEqual(10)
    expect(memo).toBe(figures[0] === 1 ? "without memory yet" : "with the step memory")
  }
  const [, , all, without, , , kB] = rows.at(-1)!.figures
  expect(all).toBe(36)
  expect(kB).toBeLessThan(without! / 3)
  expect(stdout).toContain("The graph's state is whole: 82 messages, 40 results.")
  expect(stdout).toMatch(/step 40: success, "Open order 40" \(click\)/)
  expect(stdout).toContain('step 36: failed, "Open order 36"')
}, 60_000)

import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

it("runs offline: every request from the second on has the memory, and images stay within their limit", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  const rows = stdout.split("\n").flatMap((line) => {
    const found = /^ +(\d+) +(\d+) +(\d+) {2}(.*)$/.exec(line)
    return found === null ? [] : [found.slice(1)]
  })
  expect(rows.map(([request]) => Number(request))).toEqual([1, 2, 3, 4, 11, 21, 31, 41])
  for (const [request, , images, memo] of rows) {
    expect(Number(images)).toBeLessThanOrEqual(10)
    expect(memo).toBe(request === "1" ? "without memory yet" : "with the step memory")
  }
  expect(stdout).toContain("pi's own history is whole: 82 messages, 40 results.")
  expect(stdout).toMatch(/step 40: success, "Open order 40" \(click\)/)
  expect(stdout).toContain('step 36: failed, "Open order 36"')
}, 30_000)

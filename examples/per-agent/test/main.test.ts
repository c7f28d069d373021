import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

it("runs offline: each agent keeps to its own policy, from TypeScript and from JSON alike", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  const rows = stdout
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/ {2,}/))
  expect(rows.map(([from, agent]) => `${from} ${agent}`)).toEqual([
    "agents.ts browser",
    "agents.ts browser/reader",
    "agents.ts coder",
    "agents.json browser",
    "agents.json browser/reader",
    "agents.json coder"
  ])
  expect(rows.slice(3).map(([, ...row]) => row)).toEqual(rows.slice(0, 3).map(([, ...row]) => row))
  const [browser, reader, coder] = rows.map(([, , tokens, sent, images, left]) =>
    [tokens, sent, images, left].map(Number)
  )
  expect(browser![2]).toBe(20)
  expect(browser![3]).toBeLessThanOrEqual(8)
  expect(reader![0]).toBeGreaterThan(6000)
  expect(reader![1]).toBeLessThanOrEqual(6000)
  expect(coder![1]).toBeLessThan(coder![0]! / 2)
}, 30_000)

import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { installedWith } from "../src/installed.ts"

const here = join(import.meta.dirname, "../src")

it("core and one strategy bring themselves and Effect, and nothing else", () => {
  const found = installedWith(["@varve/core", "@varve/strategy-tool-result-mask"], here)
  expect(found.map(({ by, name }) => [name, by])).toEqual([
    ["@varve/core", undefined],
    ["effect", "@varve/core"],
    ["@varve/strategy-tool-result-mask", undefined]
  ])
  for (const { bytes } of found) expect(bytes).toBeGreaterThan(5000)
})

it("names what is missing, and who asked for it", () => {
  expect(() => installedWith(["no-such-package"], here)).toThrow(
    "no-such-package, which you asked for, is missing"
  )
})

it("runs offline and prints what is installed and what is not", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(here, "main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  const [, installed = "", missing = ""] = stdout.split(/\n(?:installed|not installed):\n/)
  expect(installed.match(/^ {2}\S+/gm)).toHaveLength(3)
  for (const name of ["sharp", "tiktoken", "@mariozechner/pi-ai", "fast-check"]) {
    expect(installed).not.toContain(name)
    expect(missing).toContain(`  ${name} `)
  }
  expect(stdout).toContain("running: maskToolResults, with a guard")
}, 30_000)

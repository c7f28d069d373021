import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { cacheCost, table } from "../src/CacheCost.ts"
import { readRecording } from "../src/Recording.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const demo = fileURLToPath(new URL("../../gui-agent/recording/session.jsonl", import.meta.url))
const run = (...args: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, ["--conditions=@varve/source", main, ...args])

describe("cache-cost", () => {
  it("says for the demo's recording what each policy costs, and when it pays costs least", async () => {
    const rows = await cacheCost(readRecording(demo), "claude-opus-4.8")
    const costOf = (policy: string) => rows.find((r) => r.policy === policy)!.cost
    expect(costOf("when it pays")).toBeLessThanOrEqual(1.02 * costOf("nothing"))
    expect(costOf("when it pays")).toBeLessThan(costOf("in every step"))
    expect(costOf("when it pays, with marks")).toBeLessThan(costOf("in every step, with marks"))
    expect(costOf("when it pays, with marks")).toBeLessThan(1.1 * costOf("the best there is"))
    expect(costOf("memory in the system prompt")).toBeGreaterThan(2 * costOf("nothing"))
    expect(rows.every(({ faults }) => faults === 0)).toBe(true)
    expect(table(rows).split("\n")).toHaveLength(rows.length + 1)
  })

  it("runs as one command, offline, on a file and a model", async () => {
    const { stdout } = await run(demo, "gpt-5.4")
    expect(stdout).toMatch(/requests with gpt-5\.4/)
    expect(stdout).toMatch(/^when it pays +\d+\.\d{3} +\d+ % +[\d,]+ +\d+$/m)
    // No marks to set where the provider takes none.
    expect(stdout).not.toContain("with marks")
  })

  it("says in one line what is wrong with a file", async () => {
    await expect(run(main)).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^[^\n]+main\.ts[^\n]*\n$/)
    })
  })
})

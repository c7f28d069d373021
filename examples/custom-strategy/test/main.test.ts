import { Commit, createMemory } from "@varve/core"
import { conformance } from "@varve/testkit/Conformance"
import { deepFreeze } from "@varve/testkit/Freeze"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { history, historyOf } from "../src/history.ts"
import { staleReads } from "../src/staleReads.ts"

/** Sessions of an agent that reads and writes three files. */
const ofFiles = fc
  .array(
    fc.record({ name: fc.constantFrom("read", "write"), file: fc.nat(2), lines: fc.nat(40) }),
    {
      minLength: 4,
      maxLength: 12
    }
  )
  .map((calls) => historyOf(calls.map((c) => [c.name, `src/${c.file}.ts`, c.lines] as const)))

conformance(staleReads, { histories: ofFiles }).register({ describe, it })

it("puts a note in the place of what was written later, and leaves the rest alone", async () => {
  const memory = createMemory({ pipeline: [staleReads], commit: Commit.immediate })
  const frozen = deepFreeze(history)
  const { messages } = await memory.prepare(frozen)
  const changed = frozen.flatMap((message, i) => (messages[i] === message ? [] : [i]))
  expect(changed).toEqual([2, 4])
  expect(JSON.stringify(messages[2])).toContain("[src/parse.ts was written after this")
  await memory.close()
})

it("runs offline and shows its edits in the report", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  expect(stdout).toMatch(/^staleReads +3 +2 +1 +[1-9]\d+$/m)
  expect(stdout).toMatch(/^refused: .*protected/m)
  expect(stdout.match(/^replace .* tokens, in force, for staleReads$/gm)).toHaveLength(2)
  expect(stdout).toContain("messages that are the host's own objects: 17 of 19")
  expect(stdout).toContain("and the original is still there: ")
}, 30_000)

import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"
import { cacheCost, HEAD, lineOf, OPTIMUM_UP_TO } from "../src/CacheCost.ts"
import type { Row } from "../src/CacheCost.ts"
import { readRecording } from "../src/Recording.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const demo = fileURLToPath(new URL("../../gui-agent/recording/session.jsonl", import.meta.url))
const run = (...args: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, ["--conditions=@varve/source", main, ...args])

const folder = mkdtempSync(join(tmpdir(), "varve-cache-cost-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** A log with these lines, and its path. */
const log = (name: string, lines: ReadonlyArray<unknown>): string => {
  const path = join(folder, name)
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join("\n"))
  return path
}

const user = { type: "message", message: { role: "user", content: "go" } }
const answer = (i: number, more: object = {}) => ({
  type: "message",
  message: {
    role: "assistant",
    content: [{ type: "toolCall", id: `c${i}`, name: "run", arguments: {} }],
    usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 20 },
    ...more
  }
})
const result = (i: number) => ({
  type: "message",
  message: {
    role: "toolResult",
    toolCallId: `c${i}`,
    toolName: "run",
    content: [{ type: "text", text: `${i} `.repeat(200) }],
    isError: false
  }
})

const rowsOf = async (file: string, model: string): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = []
  for await (const row of cacheCost(readRecording(file), model)) rows.push(row)
  return rows
}

describe("cache-cost", () => {
  it("says for the demo's recording what each policy costs, and when it pays costs least", async () => {
    const rows = await rowsOf(demo, "claude-opus-4.8")
    const costOf = (policy: string) => rows.find((r) => r.policy === policy)!.run!.cost
    expect(costOf("when it pays")).toBeLessThanOrEqual(1.02 * costOf("nothing"))
    expect(costOf("when it pays")).toBeLessThan(costOf("in every step"))
    expect(costOf("when it pays, with marks")).toBeLessThan(costOf("in every step, with marks"))
    expect(costOf("when it pays, with marks")).toBeLessThan(1.1 * costOf("the best there is"))
    expect(costOf("memory in the system prompt")).toBeGreaterThan(2 * costOf("nothing"))
    expect(rows.every(({ run }) => run?.faults === 0)).toBe(true)
    for (const row of rows) expect(lineOf(row)).toHaveLength(HEAD.length)
  })

  it("runs as one command, offline, on a file and a model", async () => {
    const { stdout } = await run(demo, "gpt-5.4")
    expect(stdout).toMatch(/requests with gpt-5\.4/)
    expect(stdout).toMatch(/^when it pays +\d+\.\d{3} +\d+ % +[\d,]+ +\d+$/m)
    // No marks to set where the provider takes none.
    expect(stdout).not.toContain("with marks")
  })

  it("gives each row before the next is reckoned", async () => {
    const session = readRecording(log("two.jsonl", [user, answer(0), result(0), answer(1)]))
    let reads = 0
    const messages = Object.assign([...session.messages], {
      slice: (from: number, to: number) => {
        reads++
        return session.messages.slice(from, to)
      }
    })
    const rows = cacheCost({ ...session, messages }, "claude-opus-4.8")
    for (const n of [1, 2]) {
      await rows.next()
      expect(reads).toBe(n * session.requests.length)
    }
    await rows.return(undefined)
  })

  it("leaves the optimum of a long run out, and says so in its row", async () => {
    const steps = Array.from({ length: OPTIMUM_UP_TO + 1 }, (_, i) => [answer(i), result(i)])
    const rows = await rowsOf(log("long.jsonl", [user, ...steps.flat()]), "gpt-5.4")
    expect(rows.at(-1)!.run).toBeUndefined()
    expect(lineOf(rows.at(-1)!)).toMatch(/^the best there is +left out: above 500 requests/)
    expect(rows.slice(0, -1).every(({ run }) => run!.cost > 0)).toBe(true)
  })

  it("says once in a line that answers without usage cost nothing", async () => {
    const usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
    const { stderr } = await run(
      log("silent.jsonl", [user, answer(0, { usage }), result(0), answer(1)])
    )
    expect(stderr).toMatch(/^1 of 2 requests have no usage in the log[^\n]+\n$/)
  })

  it.each([
    ["no file", () => join(folder, "gone"), /gone: can't be read/],
    ["an empty file", () => log("empty", []), /empty: is empty/],
    [
      "a log of none that is known",
      () => log("other", [{ a: 1 }]),
      /is no log that a reader knows.+Codex/
    ],
    [
      "a log without requests",
      () => log("user", [user]),
      /no request to a model found, in 1 message/
    ],
    [
      "a block that is none",
      () => log("null", [user, answer(0, { content: [null] })]),
      /null:2: message\.content/
    ],
    [
      "usage below zero",
      () =>
        log("below", [
          user,
          answer(0, { usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: -5e8 } })
        ]),
      /below:2: message\.usage\.output should be a count of tokens/
    ],
    [
      "usage below zero in another's log",
      () =>
        log(
          "codex",
          [
            ["session_meta", { base_instructions: { text: "be good" } }],
            [
              "response_item",
              { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }
            ],
            [
              "response_item",
              {
                type: "message",
                role: "assistant",
                content: [{ type: "output_text", text: "yes" }]
              }
            ],
            [
              "event_msg",
              {
                type: "token_count",
                info: {
                  last_token_usage: { input_tokens: 9, cached_input_tokens: 0, output_tokens: -7 }
                }
              }
            ]
          ].map(([type, payload]) => ({ timestamp: "2026-01-02T03:04:05Z", type, payload }))
        ),
      /codex: request 1 of 1 has -7 tokens of output/
    ]
  ])("says of %s what is wrong, and where", (_, file, said) => {
    expect(() => readRecording(file())).toThrow(said)
  })

  it.runIf(requireData("cache-cost"))("has rows for real logs of other agents", async () => {
    for (const name of ["claude-code/docker", "codex/rollout", "cline/session", "Flights"]) {
      const { path } = sessions().find((entry) => entry.name === name)!
      const first = await cacheCost(readRecording(path), "claude-opus-4.8").next()
      expect((first.value as Row).run!.cost).toBeGreaterThan(0)
    }
  })
})

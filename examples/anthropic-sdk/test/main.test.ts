import Anthropic from "@anthropic-ai/sdk"
import type { VarveEvent } from "@varve/core"
import { Commit, createMemory, hardLimit } from "@varve/core"
import { profile } from "@varve/profiles"
import { maskToolResults } from "@varve/strategy-tool-result-mask"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, describe, expect, it } from "vitest"
import { work } from "../src/Agent.ts"
import { run, script, tools } from "../src/Build.ts"
import type { Body, ServerOptions } from "../src/Server.ts"
import { partsOf, refusal, startServer } from "../src/Server.ts"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((stop) => stop()))
})

const task = "Mend the build."

const play = async (steps: number, limit?: ServerOptions["limit"]) => {
  const server = await startServer({ answer: script(steps), ...(limit ? { limit } : {}) })
  open.push(server.stop)
  const events: Array<VarveEvent> = []
  const memory = createMemory({
    pipeline: [maskToolResults({ keep: 4 }), hardLimit()],
    profile: profile("anthropic/claude-opus-5.5"),
    budget: { tokens: 12_000 },
    commit: Commit.whenItPays({ marks: true }),
    onEvent: (event) => events.push(event)
  })
  const client = new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0 })
  const history = await work(task, { client, memory, run, tools })
  await memory.close()
  return { events, history, server }
}

const marksIn = ({ messages }: Body): ReadonlyArray<number> =>
  messages.flatMap((message, i) =>
    partsOf(message).some((part) => part.cache_control != null) ? [i] : []
  )

describe("the loop", () => {
  it("the server got sound requests within the budget, 60 steps long, and refused none", async () => {
    const { events, history, server } = await play(60)
    expect(server.refused).toEqual([])
    expect(server.requests).toHaveLength(61)
    for (const [n, usage] of server.usages.entries()) {
      const { cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage
      expect(usage.input_tokens + read + written, `request ${n + 1}`).toBeLessThanOrEqual(12_000)
    }
    const last = JSON.stringify(server.requests.at(-1)?.messages)
    expect(last).toContain("tokens left out; recall")
    expect(last).toContain("src/part7.ts: expected 1, got 2")
    expect(JSON.stringify(history)).not.toContain("tokens left out")
    expect(JSON.stringify(history)).not.toContain("cache_control")
    expect(history).toHaveLength(122)
    expect(events.filter(({ type }) => type !== "prepared" && type !== "cache-break")).toEqual([])
  })

  it("cache marks stand where they pay: nearly all that was sent before is read", async () => {
    const { server } = await play(60)
    for (const [n, body] of server.requests.entries()) {
      const marks = marksIn(body)
      // The last message is always marked; with the system text's own there are four at most.
      expect(marks.at(-1), `request ${n + 1}`).toBe(body.messages.length - 1)
      expect(marks.length).toBeLessThanOrEqual(3)
      expect(body.system).toMatchObject([{ cache_control: { type: "ephemeral" } }])
    }
    const read = server.usages.reduce((sum, usage) => sum + usage.cache_read_input_tokens, 0)
    const rest = server.usages.reduce(
      (sum, usage) => sum + usage.input_tokens + usage.cache_creation_input_tokens,
      0
    )
    expect(read / (read + rest)).toBeGreaterThan(0.85)
  })

  it("a refusal as too long is answered with one smaller request, and the run goes on", async () => {
    const { history, server } = await play(30, 6000)
    expect(server.refused[0]).toMatch(/^prompt is too long: \d+ tokens > 6000 maximum$/)
    expect(server.refused.length).toBeLessThan(4)
    expect(server.requests).toHaveLength(31)
    expect(history.at(-1)).toMatchObject({ content: [{ text: "The build is green." }] })
  })

  it("any other error is the caller's", async () => {
    const server = await startServer({
      answer: () => {
        throw new Error("no answer")
      }
    })
    await server.stop()
    const memory = createMemory({ pipeline: [hardLimit()] })
    const client = new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0 })
    await expect(work(task, { client, memory, run, tools })).rejects.toThrow("Connection error")
  })
})

describe("the server refuses what the provider would", () => {
  const use = (id: string) => ({ type: "tool_use" as const, id, name: "read", input: {} })
  const result = (id: string) => ({ type: "tool_result" as const, tool_use_id: id, content: "x" })
  const body = (messages: Body["messages"]): Body => ({
    model: "claude-opus-5-5",
    max_tokens: 10,
    messages
  })
  it.each([
    ["no user message first", [{ role: "assistant", content: [use("a")] }]],
    [
      "a call without its result",
      [
        { role: "assistant", content: [use("a")] },
        { role: "user", content: "and?" }
      ]
    ],
    ["a result without its call", [{ role: "user", content: [result("a")] }]],
    ["an empty message", [{ role: "assistant", content: [] }]],
    [
      "five marks",
      Array.from({ length: 5 }, () => ({
        role: "user",
        content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }]
      }))
    ]
  ] as ReadonlyArray<readonly [string, Body["messages"]]>)("%s", (what, messages) => {
    const first = { role: "user" as const, content: task }
    const all = what === "no user message first" ? messages : [first, ...messages]
    expect(refusal(body(all))).toEqual(expect.any(String))
    expect(refusal(body([first]))).toBeUndefined()
  })
})

it("runs offline and prints what each request held and read", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  expect(stdout.match(/^ +\d+ +\d+ +\d+ +\d+ {2}[\d, ]+$/gm)).toHaveLength(9)
  expect(stdout).toMatch(/, 9\d % came from the cache\./)
  expect(stdout).toContain("The history is whole: 122 messages. Refused: 0.")
}, 30_000)

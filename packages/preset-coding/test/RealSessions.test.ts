import { requireData, session } from "@varve-examples/session-readers"
import type { Message } from "@varve/core"
import { createMemory, hardLimit } from "@varve/core"
import type { PipelineInput } from "@varve/core/Pipeline"
import { deepFreeze } from "@varve/testkit/Freeze"
import { checkPrepared, explain } from "@varve/testkit/Invariants"
import { maskToolResults } from "@varve/strategy-tool-result-mask"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { codingAgent } from "../src/index.ts"

const data = requireData("codingAgent on real coding sessions")
const limit = 30_000

/** Sessions of Claude Code, Codex, SWE-agent and pi. */
const names = [
  "claude-code/docker",
  "claude-code/gitlab",
  "claude-code/pycharm",
  "claude-code/session-196820da",
  "codex/rollout",
  "swe-agent/pydicom-1458",
  "swe-agent/marshmallow-1867",
  "swe-agent/i-got-id",
  "pi/large-session"
]

const historyOf = (name: string) => {
  const { messages, requests } = session(name)
  return { messages: deepFreeze(messages as ReadonlyArray<Message>), requests }
}

/** Tokens sent in all requests, and what the provider bills for them: reads 0.1, writes 1.25. */
const costOf = async (name: string, pipeline: PipelineInput) => {
  const { messages, requests } = historyOf(name)
  const memory = createMemory({ pipeline, budget: { tokens: limit } })
  const sum = { whole: 0, sent: 0, billed: 0 }
  for (const { at } of requests) {
    const { report } = await memory.prepare(messages.slice(0, at))
    sum.whole += report.before.tokens
    sum.sent += report.after.tokens
    sum.billed += 0.1 * report.kept.tokens + 1.25 * (report.after.tokens - report.kept.tokens)
  }
  await memory.close()
  return sum
}

describe.runIf(data)("codingAgent on real sessions", () => {
  it.each(names)(
    "%s, message by message: valid and within the limit at every prefix",
    async (name) => {
      const { messages: all } = historyOf(name)
      const memory = createMemory({ ...codingAgent(), budget: { tokens: limit } })
      for (let at = 1; at <= all.length; at++) {
        const input = all.slice(0, at)
        const { messages: output, report } = await memory.prepare(input)
        const faults = checkPrepared({ input, output, limits: { tokens: limit } })
        expect(explain(faults), `first ${at} messages`).toBe("")
        expect(report.over).toEqual([])
      }
      await memory.close()
    },
    120_000
  )

  it("sends and costs less than the guard alone or clipped results alone, over all of them", async () => {
    const total = async (make: () => PipelineInput) => {
      const all = await Promise.all(names.map((name) => costOf(name, make())))
      return {
        whole: all.reduce((sum, { whole }) => sum + whole, 0),
        sent: all.reduce((sum, { sent }) => sum + sent, 0),
        billed: all.reduce((sum, { billed }) => sum + billed, 0)
      }
    }
    const preset = await total(() => codingAgent().pipeline ?? [])
    const guard = await total(() => [hardLimit()])
    const clips = await total(() => [maskToolResults(), hardLimit()])
    expect(preset.sent).toBeLessThan(0.3 * preset.whole)
    expect(preset.sent).toBeLessThan(0.75 * Math.min(guard.sent, clips.sent))
    expect(preset.billed).toBeLessThan(0.8 * Math.min(guard.billed, clips.billed))

    // What the READMEs say of it, in millions, holds to 5 %.
    const near = (said: string | undefined, is: number) =>
      expect(Math.abs(Number(said) / (is / 1e6) - 1)).toBeLessThan(0.05)
    const own = readFileSync(join(import.meta.dirname, "../README.md"), "utf8")
    const rows = [...own.matchAll(/^\| (?!pipeline|-)[^|]+\| ([\d.]+) +\| ([\d.]+|–) +\|$/gm)]
    expect(rows).toHaveLength(4)
    for (const [i, { billed, sent }] of [guard, clips, preset].entries()) {
      near(rows[i + 1]?.[1], sent)
      near(rows[i + 1]?.[2], billed)
    }
    near(rows[0]?.[1], preset.whole)
    const root = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8")
    const [, whole, sent] = /([\d.]+) million tokens become ([\d.]+)/.exec(root) ?? []
    near(whole, preset.whole)
    near(sent, preset.sent)
  }, 120_000)
})

import { conversationSummary, createMemory, hardLimit } from "@varve/core"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { historyOf } from "../src/history.ts"
import { summarizers } from "../src/summarizers.ts"

it("runs offline and prints what each summarizer made of the same conversation", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  const rows = stdout.split("\n")
  expect(rows[0]?.trim().split(/ {2,}/)).toEqual(["model", "extractive", "own"])
  const columns = [0, 1, 2].map((n) =>
    rows.map((line) => line.slice(n * 46, n * 46 + 44).trim()).join(" ")
  )
  for (const column of columns) {
    const [before = 0, after = 0] = /(\d+) > (\d+) tokens/.exec(column)!.slice(1).map(Number)
    expect(after).toBeLessThanOrEqual(4000)
    expect(after).toBeLessThan(before / 2)
    expect(column.replaceAll(/ +/g, " ")).toContain("INV-2041")
  }
  expect(columns[0]).toContain("Two need work")
  expect(columns[1]).toMatch(/assistant: On page 3/)
  expect(columns[2]).toMatch(/- On page 3/)
}, 30_000)

it("only the summary differs: the task, what is forbidden and the tail are the same", async () => {
  const prompts: Array<string> = []
  const history = historyOf(30)
  const views = await Promise.all(
    Object.values(summarizers((prompt) => prompts.push(prompt))).map(async (summarizer) => {
      const memory = createMemory({
        pipeline: [conversationSummary({ summarizer, targetTokens: 80 }), hardLimit()],
        budget: { tokens: 4000 }
      })
      const { messages } = await memory.prepare(history)
      await memory.close()
      return messages
    })
  )
  const [model, extractive, own] = views
  const differing = model!.filter((message, i) => {
    const texts = new Set([message, extractive![i], own![i]].map((m) => JSON.stringify(m)))
    return texts.size > 1
  })
  expect(differing).toHaveLength(1)
  expect(JSON.stringify(differing[0])).toContain("Two need work")
  for (const view of views) {
    expect(view.at(0)).toBe(history.at(0))
    expect(view.at(-1)).toBe(history.at(-1))
    expect(JSON.stringify(view)).toContain("Never pay anything without asking me first.")
  }
  expect(prompts).toHaveLength(1)
  expect(prompts[0]).toContain("INV-2047 was paid twice")
})

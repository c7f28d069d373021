import { convertPromptToAnthropic } from "@langchain/anthropic"
import type { BaseMessage } from "@langchain/core/messages"
import { ChatPromptValue } from "@langchain/core/prompt_values"
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { Report } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { pngBase64 } from "@varve/testkit/Png"
import { beforeAll, describe, expect, it } from "vitest"
import { memoryMiddleware } from "../src/MemoryMiddleware.ts"
import type { Answer } from "./host.ts"
import { agentOf, hasMemo, picture, pictures, read, said, title } from "./host.ts"

const steps = 100
const limits = { tokens: 12_000, images: 6, requestBytes: 260_000 }
const task = "Order the parts on the list. Stop before you pay."
const system = "You work a shop's pages, seen as screenshots."

/** Faults of a request as Anthropic's integration would send it: calls and their results, side by side. */
const wireFaults = (messages: ReadonlyArray<BaseMessage>): ReadonlyArray<string> => {
  const { messages: sent, system } = convertPromptToAnthropic(new ChatPromptValue([...messages]))
  const faults: Array<string> = system === undefined ? ["no system text"] : []
  let waiting: ReadonlyArray<unknown> = []
  for (const { content, role } of sent) {
    const blocks: ReadonlyArray<any> =
      typeof content === "string" ? [{ type: "text", text: content }] : content
    const results = blocks.filter(({ type }) => type === "tool_result").map((b) => b.tool_use_id)
    if (JSON.stringify(results) !== JSON.stringify(waiting))
      faults.push(`calls ${waiting.join()}, results ${results.join()}`)
    waiting = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id)
    if (blocks.length === 0) faults.push(`an empty ${role} message`)
  }
  return faults
}

const answer = (_: unknown, n: number): Answer => {
  if (n >= steps) return { text: "All parts are in the basket." }
  const click = { name: "click", args: { goal: `Add part ${n}`, x: n, y: 2 * n } }
  const note = { name: "note", args: { text: `part ${n} costs ${n * 3} pounds` } }
  return {
    text: `The page lists part ${n}; I add it.`,
    calls: n % 5 === 4 ? [click, note] : [click]
  }
}

const play = async () => {
  const reports: Array<Report> = []
  const warnings: Array<string> = []
  let shot = 0
  const memory = createMemory({
    pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
    budget: limits,
    onEvent: (event) => {
      if (event.type === "prepared") reports.push(event.report)
      else warnings.push(JSON.stringify(event))
    }
  })
  const host = agentOf({
    system,
    answer,
    metered: 1.2,
    middleware: [memoryMiddleware(memory, { goalArgument: "goal" })],
    tools: [
      {
        name: "click",
        execute: () => {
          shot++
          if (shot % 11 === 0) throw new Error(`Nothing is at that place (${shot}).`)
          return [
            { type: "text", text: `Page ${shot}. ${"A line of the page as text. ".repeat(20)}` },
            picture(pngBase64(1280, 720, shot, 30_000))
          ]
        }
      },
      { name: "note", execute: () => "noted" }
    ]
  })
  const history = await host.run(task)
  await memory.close()
  return { ...host, history, reports, warnings, sent: host.requests() }
}

describe("a hundred steps with screenshots through createAgent", () => {
  let done: Awaited<ReturnType<typeof play>>
  beforeAll(async () => {
    done = await play()
  }, 60_000)

  it("run to their end", () => {
    expect(done.warnings).toEqual([])
    expect(done.sent).toHaveLength(steps + 1)
    expect(done.reports).toHaveLength(steps + 1)
  })

  it("at every step what the model got is valid and within the limits", () => {
    const counter = estimateCounter()
    for (const [n, messages] of done.sent.entries()) {
      const neutral = read(messages)
      expect(checkValidity(neutral, { startsWithUser: true }), `request ${n}`).toEqual([])
      expect(pictures(messages).length, `images of request ${n}`).toBeLessThanOrEqual(limits.images)
      expect(JSON.stringify(neutral).length).toBeLessThanOrEqual(limits.requestBytes)
      const { tokens } = counter.request({ messages: neutral, tools: done.declared })
      expect(tokens).toBeLessThanOrEqual(limits.tokens)
      expect(done.reported[n], `tokens of request ${n}`).toBeLessThanOrEqual(limits.tokens)
      expect(done.reports[n]?.over).toEqual([])
    }
  })

  it("Anthropic's integration makes a sound request of it", () => {
    for (const [n, messages] of done.sent.entries())
      expect(wireFaults(messages), `request ${n}`).toEqual([])
  })

  it("old screenshots leave, and the newest is in every request", () => {
    const all = pictures(done.history)
    expect(all.length).toBeGreaterThan(80)
    for (const [n, messages] of done.sent.entries()) {
      if (n === 0) continue
      // Each step but every eleventh brings one.
      expect(pictures(messages).at(-1), `request ${n}`).toBe(all[n - Math.floor(n / 11) - 1])
    }
    expect(said(done.sent.at(-1)!).some((text) => text.includes("an older screenshot"))).toBe(true)
  })

  it("the task stands word for word in every request, and the memory right behind it from the second on", () => {
    for (const [n, messages] of done.sent.entries()) {
      const at = messages.findIndex((m) => m.type === "human")
      expect(messages[at]!.content).toBe(task)
      expect(hasMemo(messages)).toBe(n > 0)
      if (n > 0) expect(messages[at + 1]!.text, `request ${n}`).toContain(title)
    }
    const memo = said(done.sent.at(-1)!).find((text) => text.startsWith(title))!
    expect(memo).toMatch(/step \d+: success, "Add part \d+" \(click\)/)
    expect(memo).toMatch(/failed, "Add part \d+" \(click\); note: "Error: Nothing is at that place/)
  })

  it("takes the usage that the model reports", () => {
    expect(done.reports[0]!.after.source).toBe("estimated")
    for (const { after } of done.reports.slice(1)) expect(after.source).toBe("usage")
    for (const [n, { after }] of done.reports.entries()) {
      if (n < 10) continue
      expect(Math.abs(after.tokens / done.reported[n]! - 1), `request ${n}`).toBeLessThan(0.15)
    }
  })

  it("the graph's state keeps every message as it was", () => {
    expect(done.history.filter(({ type }) => type === "ai")).toHaveLength(steps + 1)
    expect(done.history.filter(({ type }) => type === "tool")).toHaveLength(steps + steps / 5)
    expect(done.history.filter(({ type }) => type === "human")).toHaveLength(1)
    expect(said(done.history).join("\n")).not.toContain("an older screenshot")
    const own = new Set<unknown>(done.history)
    const same = done.sent.at(-1)!.filter((m) => own.has(m))
    expect(same.length).toBeGreaterThan(5)
  })
})

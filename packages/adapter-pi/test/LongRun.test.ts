import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { Report } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import { imageOf, visitBlocks } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { pngBase64 } from "@varve/testkit/Png"
import { beforeAll, describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { Answer, Host, Request, Run, Wire } from "./hosts.ts"
import { hosts, said } from "./hosts.ts"

const steps = 100
const limits = { tokens: 12_000, images: 6, requestBytes: 260_000 }
const task = "Order the parts on the list. Stop before you pay."
const system = "You work a shop's pages, seen as screenshots."
const title = "[Step memory:"

/** What a provider counts is a fifth more than core's estimate. */
const metered = 1.2

const images = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const message of messages) {
    visitBlocks(message, (block) => {
      const data = imageOf(block)?.data
      if (data !== undefined) found.push(data)
    })
  }
  return found
}

/** Faults of a request on the wire: a call whose results don't stand right behind it, or made-up results. */
const wireFaults = ({ messages, system, tools }: Wire): ReadonlyArray<string> => {
  const faults: Array<string> = []
  if (system === undefined || tools?.length !== 2) faults.push("no system text or no tools")
  let waiting: ReadonlyArray<unknown> = []
  for (const { role, content } of messages) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
    const results = blocks.filter(({ type }) => type === "tool_result").map((b) => b["tool_use_id"])
    if (waiting.some((id) => !results.includes(id)) || results.length !== waiting.length)
      faults.push(`calls ${waiting.join()}, results ${results.join()}`)
    waiting = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id)
    if (blocks.length === 0) faults.push(`an empty ${role} message`)
    if (JSON.stringify(blocks).includes("No result provided")) faults.push("a made-up result")
  }
  return faults
}

const answer = (_: Request, n: number): Answer => {
  if (n >= steps) return { text: "All parts are in the basket." }
  const click = { name: "click", args: { goal: `Add part ${n}`, x: n, y: 2 * n } }
  const note = { name: "note", args: { text: `part ${n} costs ${n * 3} pounds` } }
  return {
    text: `The page lists part ${n}; I add it.`,
    calls: n % 5 === 4 ? [click, note] : [click]
  }
}

interface Done extends Run {
  readonly reports: ReadonlyArray<Report>
  readonly warnings: ReadonlyArray<string>
}

const play = async (host: Host): Promise<Done> => {
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
  const run = host.make({
    system,
    answer,
    metered,
    wire: true,
    tools: [
      {
        name: "click",
        execute: () => {
          shot++
          if (shot % 11 === 0) throw new Error(`Nothing is at that place (${shot}).`)
          return [
            { type: "text", text: `Page ${shot}. ${"A line of the page as text. ".repeat(20)}` },
            { type: "image", data: pngBase64(1280, 720, shot, 30_000), mimeType: "image/png" }
          ]
        }
      },
      { name: "note", execute: () => [{ type: "text", text: "noted" }] }
    ]
  })
  attach(run.agent, memory, { goalArgument: "goal" })
  await run.agent.prompt(task)
  await memory.close()
  return { ...run, reports, warnings }
}

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  let done: Done
  beforeAll(async () => {
    done = await play(host)
  }, 60_000)

  it("runs a hundred steps to their end", () => {
    expect(done.agent.state.errorMessage).toBeUndefined()
    expect(done.warnings).toEqual([])
    expect(done.requests).toHaveLength(steps + 1)
    expect(done.reports).toHaveLength(steps + 1)
  })

  it("at every one of 100 steps the request that the model got is valid and within the limits", () => {
    const counter = estimateCounter()
    for (const [n, { messages, tools }] of done.requests.entries()) {
      expect(checkValidity(messages, { startsWithUser: true }), `request ${n}`).toEqual([])
      expect(images(messages).length, `images of request ${n}`).toBeLessThanOrEqual(limits.images)
      expect(JSON.stringify(messages).length).toBeLessThanOrEqual(limits.requestBytes)
      expect(counter.request({ messages, system, tools }).tokens).toBeLessThanOrEqual(limits.tokens)
      expect(done.reported[n], `tokens of request ${n}`).toBeLessThanOrEqual(limits.tokens)
      expect(done.reports[n]?.over).toEqual([])
    }
  })

  it("pi's own provider makes a sound request of it: each call with its results, none made up", () => {
    for (const [n, { wire }] of done.requests.entries())
      expect(wireFaults(wire!), `request ${n}`).toEqual([])
  })

  it("old screenshots leave and the newest is in every request", () => {
    const last = images(done.agent.state.messages as ReadonlyArray<Message>)
    expect(last.length).toBeGreaterThan(80)
    let seen = 0
    for (const [n, { messages }] of done.requests.entries()) {
      const shown = images(messages)
      if (n === 0) continue
      // Each step but every eleventh brings one.
      seen = n - Math.floor(n / 11)
      expect(shown.at(-1), `request ${n}`).toBe(last[seen - 1])
    }
    expect(
      done.requests.at(-1)!.messages.some((m) => said(m).includes("an older screenshot"))
    ).toBe(true)
  })

  it("the task stands word for word in every request, and the memory right behind it from the second on", () => {
    for (const [n, { messages }] of done.requests.entries()) {
      const at = messages.findIndex(({ role }) => role === "user")
      expect(said(messages[at])).toBe(task)
      if (n > 0) expect(said(messages[at + 1]), `request ${n}`).toContain(title)
    }
    const last = done.requests
      .at(-1)!
      .messages.map(said)
      .find((text) => text.startsWith(title))!
    expect(last).toMatch(/step \d+: success, "Add part \d+" \(click\)/)
  })

  it("takes the usage that the provider reports", () => {
    expect(done.reports[0]!.after.source).toBe("estimated")
    for (const { after } of done.reports.slice(1)) expect(after.source).toBe("usage")
    for (const [n, { after }] of done.reports.entries()) {
      if (n < 10) continue
      expect(Math.abs(after.tokens / done.reported[n]! - 1), `request ${n}`).toBeLessThan(0.15)
    }
  })

  it("leaves pi's own history whole, and most requests go on where the last one ended", () => {
    const { messages } = done.agent.state
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(steps + 1)
    expect(messages.some((m) => said(m as Message).includes(title))).toBe(false)
    const broken = done.reports.filter(({ kept }, n) => n > 0 && kept.share < 0.99).length
    expect(broken).toBeLessThan(steps / 2)
  })
})

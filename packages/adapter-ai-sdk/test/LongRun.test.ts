import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { Report } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import { imageOf, visitBlocks } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { pngBase64 } from "@varve/testkit/Png"
import { beforeAll, describe, expect, it } from "vitest"
import type { Answer, Host, Run, Tool } from "./hosts.ts"
import { hosts, said, title, wireFaults } from "./hosts.ts"

const steps = 100
const limits = { tokens: 12_000, images: 6, requestBytes: 260_000 }
const task = "Order the parts on the list. Stop before you pay."
const system = "You work a shop's pages, seen as screenshots."

/** What the provider counts for text is a fifth more than core's estimate. */
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

const shots = Array.from({ length: steps + 1 }, (_, n) => pngBase64(1280, 720, n, 30_000))

/** A shop's pages: a click gives text and a screenshot, every eleventh fails. */
const shop = (version: number): ReadonlyArray<Tool> => {
  let shot = 0
  return [
    {
      name: "click",
      execute: () => {
        shot++
        if (shot % 11 === 0) throw new Error(`Nothing is at that place (${shot}).`)
        const text = `Page ${shot}. ${"A line of the page as text. ".repeat(20)}`
        return { text, data: shots[shot]! }
      },
      output: ({ data, text }) => ({
        type: "content",
        value: [
          { type: "text", text },
          version === 7
            ? { type: "file", data: { type: "data", data }, mediaType: "image/png" }
            : { type: "image-data", data, mediaType: "image/png" }
        ]
      })
    },
    { name: "note", execute: () => "noted" }
  ]
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

interface Done extends Run {
  readonly reports: ReadonlyArray<Report>
  readonly others: ReadonlyArray<string>
}

const play = async (host: Host): Promise<Done> => {
  const reports: Array<Report> = []
  const others: Array<string> = []
  const memory = createMemory({
    pipeline: [screenshots({ keep: 3 }), stepMemory(), hardLimit()],
    budget: limits,
    onEvent: (event) => {
      if (event.type === "prepared") reports.push(event.report)
      else others.push(JSON.stringify(event))
    }
  })
  const run = await host.run({
    memory,
    options: { goalArgument: "goal" },
    answer,
    tools: shop(host.version),
    system,
    messages: [{ role: "user", content: task }],
    metered
  })
  await memory.close()
  return { ...run, reports, others }
}

describe.each(hosts.map((host) => [host.name, host] as const))(
  "%s: 100 steps with screenshots",
  (_, host) => {
    let done: Done
    beforeAll(async () => {
      done = await play(host)
    }, 60_000)

    it("runs to its end, and the memory has nothing to complain of", () => {
      expect(done.text).toBe("All parts are in the basket.")
      expect(done.requests).toHaveLength(steps + 1)
      expect(done.others).toEqual([])
    })

    it("at every step the request that the model got is valid and within the limits", () => {
      const counter = estimateCounter()
      for (const [n, request] of done.requests.entries()) {
        const { messages, prompt, tools } = request
        expect(checkValidity(messages), `request ${n}`).toEqual([])
        expect(wireFaults(request), `request ${n}`).toEqual([])
        expect(images(messages).length, `images of request ${n}`).toBeLessThanOrEqual(limits.images)
        expect(JSON.stringify(prompt).length).toBeLessThanOrEqual(limits.requestBytes)
        expect(counter.request({ messages, tools }).tokens).toBeLessThanOrEqual(limits.tokens)
        // What is new is an estimate until the provider has counted it.
        expect(done.reported[n], `tokens of request ${n}`).toBeLessThan(limits.tokens * 1.005)
        expect(done.reports[n]?.over).toEqual([])
      }
    })

    it("old screenshots leave and the newest is in every request", () => {
      for (const [n, { messages }] of done.requests.entries()) {
        if (n === 0) continue
        const newest = n % 11 === 0 ? n - 1 : n
        expect(images(messages).at(-1) === shots[newest], `request ${n}`).toBe(true)
      }
      expect(JSON.stringify(done.requests.at(-1)!.prompt)).toContain("an older screenshot")
    })

    it("the task stands word for word in every request, and the memory right behind it from the second on", () => {
      for (const [n, { prompt }] of done.requests.entries()) {
        const at = prompt.findIndex(({ role }) => role === "user")
        expect(prompt.slice(0, at).map(said)).toEqual([system])
        expect(said(prompt[at])).toBe(task)
        if (n > 0) expect(said(prompt[at + 1]), `request ${n}`).toContain(title)
      }
      const last = done.requests.at(-1)!.prompt.map(said)
      const memos = last.filter((text) => text.startsWith(title))
      expect(memos).toHaveLength(1)
      expect(memos[0]).toMatch(/step \d+: success, "Add part \d+" \(click\)/)
      expect(memos[0]).toMatch(/step \d+: failed, "Add part \d+"/)
    })

    it("takes the usage that the provider reports", () => {
      expect(done.reports[0]!.after.source).toBe("estimated")
      for (const { after } of done.reports.slice(1)) expect(after.source).toBe("usage")
      for (const [n, { after }] of done.reports.entries()) {
        if (n < 10) continue
        expect(Math.abs(after.tokens / done.reported[n]! - 1), `request ${n}`).toBeLessThan(0.15)
      }
    })

    it("leaves the host's own history whole, and every other request goes on where the last one ended", () => {
      expect(done.added.filter(({ role }) => role === "assistant")).toHaveLength(steps + 1)
      expect(done.added.some((message) => said(message).includes(title))).toBe(false)
      const broken = done.reports.filter(({ kept }, n) => n > 0 && kept.share < 0.99).length
      expect(broken).toBeLessThan(steps * 0.55)
    })
  }
)

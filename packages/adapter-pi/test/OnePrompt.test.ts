import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { Report } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { checkValidity } from "@varve/core/Validity"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { pngBase64 } from "@varve/testkit/Png"
import { beforeAll, describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { Run } from "./hosts.ts"
import { inTranscript, said } from "./hosts.ts"

const steps = 2000
const task = "Copy every row of the sheet into the form, one after the other. Never submit twice."
const profile = { ...defaultProfile, contextWindow: 32_000, reserveOutput: 4000 }
const limit = 32_000 - 4000 - 640
const line = "The form has a row more, and below it stands what was said of the row before it. "

describe("one prompt and 2 000 tool steps in pi's own loop", () => {
  const reports: Array<Report> = []
  const told: Array<string> = []
  let run: Run

  beforeAll(async () => {
    run = inTranscript.make({
      system: "You fill forms.",
      metered: 1.1,
      answer: (_, n) =>
        n === steps
          ? { text: "All rows are in the form." }
          : {
              text: `Row ${n}.`,
              calls: [{ name: "fill", args: { goal: `Fill row ${n}`, row: n } }]
            },
      tools: [
        {
          name: "fill",
          execute: ({ row }) => [
            { type: "text", text: `row ${String(row)} is in. ${line.repeat(3)}` },
            ...(Number(row) % 20 === 0
              ? [
                  {
                    type: "image",
                    data: pngBase64(640, 480, Number(row)),
                    mimeType: "image/png"
                  } as const
                ]
              : [])
          ]
        }
      ]
    })
    const memory = createMemory({
      profile,
      pipeline: [screenshots({ keep: 1 }), stepMemory(), hardLimit()],
      onEvent: (event) => {
        if (event.type === "prepared") reports.push(event.report)
        else told.push(JSON.stringify(event))
      }
    })
    attach(run.agent, memory, { goalArgument: "goal" })
    await run.agent.prompt(task)
    await memory.close()
  }, 60_000)

  it("comes to its end without an overflow, an error or a warning", () => {
    expect(run.agent.state.errorMessage).toBeUndefined()
    expect(told).toEqual([])
    expect(run.requests).toHaveLength(steps + 1)
    expect(reports).toHaveLength(steps + 1)
    expect(said(run.agent.state.messages.at(-1))).toBe("All rows are in the form.")
  })

  it("never leaves a window of 32 000 tokens, by what the provider counts too", () => {
    const counter = estimateCounter()
    for (const [n, { declared, messages }] of run.requests.entries()) {
      const { tokens } = counter.request({ messages, tools: declared })
      expect(tokens, `request ${n}`).toBeLessThanOrEqual(limit)
      expect(run.reported[n], `request ${n}`).toBeLessThanOrEqual(limit)
    }
    expect(Math.max(...run.reported)).toBeGreaterThan(limit / 2)
  })

  it("sends a valid request each time, with the task and the last steps word for word", () => {
    const history = run.agent.state.messages as ReadonlyArray<Message>
    const first = history.findIndex(({ role }) => role === "assistant")
    for (const [n, { messages }] of run.requests.entries()) {
      expect(checkValidity(messages, { startsWithUser: true }), `request ${n}`).toEqual([])
      expect(said(messages.find(({ role }) => role === "user"))).toBe(task)
      const last = history.slice(Math.max(first, first + 2 * n - 4), first + 2 * n)
      const sent = messages.slice(messages.length - last.length)
      expect(
        sent.map((m) => said(m)),
        `request ${n}`
      ).toEqual(last.map((m) => said(m)))
    }
  })

  it("changes what was sent before seldom", () => {
    const broken = reports.filter(({ kept }, n) => n > 0 && kept.share < 0.99).length
    expect(broken).toBeLessThan(steps / 10)
  })
})

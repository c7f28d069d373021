import { Commit, Edit, hardLimit, strategy } from "@varve/core"
import type { Strategy } from "@varve/core"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { describe, expect, it } from "vitest"
import { boundReasoning } from "../src/internal/bound.ts"
import { later } from "../src/internal/later.ts"
import type { Trial } from "../src/Trial.ts"
import { runTrial } from "../src/Trial.ts"

const step = (n: number): ReadonlyArray<Message> => [
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: `about ${n}`, thinkingSignature: `sig-${n}` },
      { type: "toolCall", id: `c${n}`, name: "look", arguments: {} }
    ]
  },
  {
    role: "toolResult",
    toolCallId: `c${n}`,
    toolName: "look",
    content: [{ type: "text", text: "word ".repeat(50) }],
    isError: false
  }
]

const task: Message = { role: "user", content: "the task" }
const history = [task, ...[0, 1, 2, 3, 4, 5].flatMap(step)]
const requests = [1, 3, 5, 7, 9, 11, 13].map((n) => history.slice(0, n))

const cards = strategy("cards", (view) =>
  view.results
    .filter((r) => view.protection(r.block) === undefined)
    .map((r) => Edit.replace(r.block, "[looked]"))
)

const trial = (pipeline: ReadonlyArray<Strategy>, more: Partial<Trial> = {}): Trial => ({
  requests,
  grows: true,
  options: () => ({ pipeline, commit: Commit.immediate }),
  ...more
})

describe("runTrial", () => {
  it("gives the figures of a session without a fault", async () => {
    const tried = await runTrial(trial([cards, hardLimit()], { restarts: true, steps: true }))
    expect(tried).toMatchObject({
      violations: [],
      requests: 7,
      accepted: 4,
      committed: 4,
      commits: 4,
      guarded: 0,
      overflows: 0,
      errors: []
    })
  })

  it("counts overflows that are right, and what the guard did", async () => {
    const options = (tokens: number) => () => ({ pipeline: [hardLimit()], budget: { tokens } })
    expect(await runTrial(trial([], { options: options(5) }))).toMatchObject({
      violations: [],
      overflows: 7
    })
    const tight = await runTrial(trial([], { options: options(200) }))
    expect(tight.violations).toEqual([])
    expect(tight.guarded).toBeGreaterThan(0)
  })

  it("names what strategies fail with, each once", async () => {
    const failing = strategy("failing", () => {
      throw new Error("no")
    })
    const { errors } = await runTrial(trial([failing, hardLimit()]))
    expect(errors).toEqual(["failing: Error: no", "failing: left alone after failures in a row"])
  })

  it("finds a restart that gives other bytes", async () => {
    let count = 0
    const counting = strategy("counting", (view) =>
      view.results
        .filter((r) => view.protection(r.block) === undefined)
        .map((r) => Edit.replace(r.block, `[looked ${++count}]`))
    )
    const { violations } = await runTrial(trial([counting, hardLimit()], { restarts: true }))
    expect(new Set(violations.map((v) => v.rule))).toEqual(new Set(["I9"]))
  })

  it("finds a view that is over its limit where nothing guards it", async () => {
    const options = () => ({ pipeline: [], budget: { tokens: 100 } })
    const { violations } = await runTrial(trial([], { options }))
    expect(violations.map((v) => v.rule)).toContain("I10")
  })

  it("knows that a provider refuses reasoning whose prefix was edited", async () => {
    const options = (reasoning: "error" | "none") => () => ({
      pipeline: [cards, hardLimit()],
      commit: Commit.immediate,
      budget: { tokens: 350 },
      profile: { ...defaultProfile, reasoning }
    })
    const { commits, violations } = await runTrial(trial([], { options: options("error") }))
    expect(commits).toBeGreaterThan(0)
    expect(violations).toEqual([])
  })
})

it("boundReasoning says where reasoning stands behind something else than it was made behind", () => {
  const watch = boundReasoning()
  expect(watch(history.slice(0, 3), history.slice(0, 3))).toEqual([])
  expect(watch(history.slice(0, 5), history.slice(0, 5))).toEqual([])
  // The first step is gone; the reasoning of the second was made behind it.
  const edited = [task, ...history.slice(3, 7)]
  expect(watch(history.slice(0, 7), edited).map((f) => f.at)).toEqual([1, 3])
  // The fourth was made behind the edited view, and stands there.
  const next = [...edited, ...history.slice(7, 9)]
  expect(watch(history.slice(0, 9), next).map((f) => f.at)).toEqual([1, 3])
})

it("later is a day later, and gives the clock back", async () => {
  const now = Date.now()
  const [then, day] = await later(async () => [Date.now(), new Date().getUTCDay()] as const)
  expect(Math.round((then - now) / 3_600_000)).toBe(24)
  expect(day).toBe((new Date(now).getUTCDay() + 1) % 7)
  expect(Date.now() - now).toBeLessThan(60_000)
  await expect(later(() => Promise.reject(new Error("no")))).rejects.toThrow("no")
  expect(new Date(0).getTime()).toBe(0)
})

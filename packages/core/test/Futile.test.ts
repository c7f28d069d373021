import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import type { Overflow } from "@varve/core/Profile"
import { defaultProfile } from "@varve/core/Profile"
import type { Strategy } from "@varve/core/Strategy"
import { make } from "@varve/core/Strategy"
import { ContextOverflow } from "@varve/core/VarveError"
import type { VarveEvent } from "@varve/core/VarveEvent"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { assistant, session, user, words } from "./fixtures/history.ts"

const profile = {
  ...defaultProfile,
  classify: (error: unknown) => (error as { overflow?: Overflow } | null)?.overflow
}
const says = (overflow: Overflow) => Object.assign(new Error("400"), { overflow })

/** The guard, and how often it was asked. */
const watched = (): { readonly guard: Strategy; readonly asked: () => number } => {
  let asked = 0
  const { start } = hardLimit()
  const counted = Effect.map(
    start,
    (propose) => (view: Parameters<typeof propose>[0]) =>
      Effect.suspend(() => {
        asked++
        return propose(view)
      })
  )
  return { guard: make("hardLimit", counted, { guard: true }), asked: () => asked }
}

const scene = (options: MemoryOptions = {}) => {
  const events: Array<VarveEvent> = []
  const { asked, guard } = watched()
  const memory = createMemory({
    pipeline: [guard],
    profile,
    onEvent: (event) => events.push(event),
    ...options
  })
  const told = (type: VarveEvent["type"]) => events.filter((e) => e.type === type)
  return { asked, memory, told }
}
const failure = (run: Promise<unknown>): Promise<unknown> => run.catch((e: unknown) => e)

const task = deepFreeze([user(words(300))])

describe("a guard that can make nothing smaller", () => {
  it("is asked once for a history, and again when that has changed", async () => {
    const { asked, memory } = scene({ budget: { tokens: 50 } })
    for (let i = 0; i < 3; i++) await memory.transformContext<unknown>(task)
    expect(asked()).toBe(1)
    expect(await failure(memory.prepare<unknown>(structuredClone(task)))).toBeInstanceOf(
      ContextOverflow
    )
    const longer = deepFreeze([...task, assistant("done"), user("go on")])
    for (let i = 0; i < 3; i++) await memory.transformContext<unknown>(longer)
    expect(asked()).toBeLessThanOrEqual(3)
  })

  it("is said to be futile in the report and by one event, not at each repeated request", async () => {
    const { memory, told } = scene({ budget: { tokens: 50 } })
    for (let i = 0; i < 3; i++) await memory.transformContext<unknown>(task)
    expect(told("futile")).toEqual([{ type: "futile", strategy: "hardLimit" }])
    expect(told("overflow")).toHaveLength(3)
    const [first] = told("prepared")
    expect(first).toMatchObject({
      report: { guarded: 0, strategies: [{ name: "hardLimit", futile: true }] }
    })
  })

  it("is not futile where it made the view smaller, enough or not", async () => {
    const enough = scene({ budget: { tokens: 2000 } })
    await enough.memory.prepare<unknown>(session(30, { words: 200 }))
    expect(enough.told("futile")).toEqual([])
    const less = scene({ budget: { tokens: 50 } })
    await less.memory.transformContext<unknown>([...task, ...session(3, { words: 200 })])
    expect(less.told("overflow")).toHaveLength(1)
    expect(less.told("futile")).toEqual([])
  })

  it("is not asked at all while nothing is over a limit", async () => {
    const { asked, memory, told } = scene()
    await memory.prepare<unknown>(session(5))
    expect(asked()).toBe(0)
    expect(told("futile")).toEqual([])
  })
})

describe("a recovery that can make nothing smaller", () => {
  it("ends at once with a typed error, and the next of this history too, without being tried", async () => {
    const { asked, memory } = scene()
    await memory.prepare<unknown>(task)
    const overflow = says({ kind: "tokens" })
    const first = await failure(memory.recover<unknown>(overflow, task))
    expect(first).toBeInstanceOf(ContextOverflow)
    expect(asked()).toBe(1)
    expect(await failure(memory.recover<unknown>(overflow, task))).toBe(first)
    expect(asked()).toBe(1)
  })

  it("says nothing of another axis, nor of another history", async () => {
    const { asked, memory } = scene()
    const history = deepFreeze([...task, assistant("done")])
    await memory.prepare<unknown>(history)
    const overflow = says({ kind: "tokens" })
    expect(await failure(memory.recover<unknown>(overflow, history))).toBeInstanceOf(
      ContextOverflow
    )
    await failure(memory.recover<unknown>(says({ kind: "bytes" }), history))
    expect(asked()).toBe(2)
    const longer = deepFreeze([...history, user(words(400))])
    await memory.prepare<unknown>(longer)
    const answer = await memory.recover<unknown>(overflow, longer)
    expect(answer?.report.guarded).toBeGreaterThan(0)
  })
})

describe("an edit that has made room", () => {
  it("leaves the next requests alone: the guard is not asked again before there is as much again", async () => {
    const { asked, memory } = scene({ budget: { tokens: 40_000 } })
    const whole: ReadonlyArray<Message> = deepFreeze(session(120, { words: 100 }))
    let guarded = 0
    for (let n = 1; n < whole.length; n += 2) {
      const { report } = await memory.prepare<unknown>(whole.slice(0, n))
      if (report.guarded > 0) guarded++
      memory.usage({ input: report.after.tokens })
    }
    expect(guarded).toBeGreaterThan(1)
    expect(guarded).toBeLessThan(whole.length / 2 / 5)
    expect(asked()).toBe(guarded)
  })
})

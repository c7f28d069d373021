import type { Counter } from "@varve/core/Counter"
import { estimateCounter, makeCounter } from "@varve/core/Counter"
import { createMemory } from "@varve/core/createMemory"
import { ConfigError } from "@varve/core/VarveError"
import type { VarveEvent } from "@varve/core/VarveEvent"
import { deepFreeze } from "@varve/testkit/Freeze"
import { measure } from "@varve/testkit/Measure"
import { describe, expect, it } from "vitest"
import { session } from "./fixtures/history.ts"

const history = deepFreeze(session(40, { words: 200 }))
const odd = (name: string, count: () => number): Counter =>
  makeCounter({ name, text: count, image: count })
const whole = (parts: Partial<Counter>): Counter => ({ ...estimateCounter(), ...parts })

describe("a counter that gives what is no count", () => {
  it.each<readonly [string, Counter]>([
    ["not a number", odd("nan", () => NaN)],
    ["less than nothing", odd("negative", () => -5)],
    ["without an end", odd("endless", () => Infinity)],
    ["a text", odd("text", () => "12" as never)],
    [
      "nothing, since it fails",
      odd("failing", () => {
        throw new Error("no encoding")
      })
    ],
    ["no figure for a request", whole({ request: () => undefined as never })],
    ["an image that is not a number", whole({ image: () => NaN })]
  ])("switches no limit off: %s", async (_, counter) => {
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      counter,
      budget: { tokens: 6000 },
      onEvent: (event) => events.push(event)
    })
    const overhead = { system: "Be brief." }
    for (let n = 1; n <= history.length; n += 2) {
      const { messages, report } = await memory.prepare<unknown>(history.slice(0, n), overhead)
      expect(report.after.tokens).toBeGreaterThan(0)
      const sent = measure(messages as typeof history, estimateCounter(), overhead)
      expect(sent.tokens).toBeLessThanOrEqual(6000)
    }
    const warnings = events.filter((e) => e.type === "warning")
    expect(warnings).toHaveLength(1)
    expect(warnings[0]!.message).toContain("the estimate counts")
  })

  it("is refused where it can't count at all", () => {
    for (const counter of [{}, { message: () => 1 }, { start: "now" }]) {
      const make = () => createMemory({ counter: counter as never })
      expect(make).toThrow(ConfigError)
      expect(make).toThrow("counter: got")
    }
  })
})

import { createMemory } from "@varve/core/createMemory"
import { CurrentMemory } from "@varve/core/CurrentMemory"
import * as Policy from "@varve/core/Policy"
import { strategy } from "@varve/core/Strategy"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"

it("is one for all strategies of a memory, at all times, and another for each memory", async () => {
  const seen: Array<object> = []
  const looking = (name: string) =>
    strategy(name, () =>
      Effect.map(CurrentMemory, (memory) => {
        seen.push(memory)
        return []
      })
    )
  const options = { pipeline: [looking("one"), Policy.background(looking("two"))] }
  const of = async () => {
    const memory = createMemory(options)
    for (let i = 1; i <= 3; i++) {
      await memory.prepare(Array.from({ length: i }, () => ({ role: "user", content: "x" })))
      await memory.flush()
    }
    await memory.close()
    return seen.splice(0)
  }
  const [a, b] = [await of(), await of()]
  expect(a.length).toBeGreaterThanOrEqual(5)
  expect(new Set(a).size).toBe(1)
  expect(new Set(b).size).toBe(1)
  expect(a[0]).not.toBe(b[0])
  expect(a).not.toContain(Effect.runSync(CurrentMemory))
})

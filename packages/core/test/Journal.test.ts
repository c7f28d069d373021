import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import { stepMemory } from "@varve/core/StepMemory"
import type { Store } from "@varve/core/Store"
import { memoryStore } from "@varve/core/Store"
import { describe, expect, it } from "vitest"
import { assistant, result, task } from "./fixtures/history.ts"

/** A store that counts its lines, and what was written into it in all. */
const counting = () => {
  const inner = memoryStore()
  const seen = { most: 0, lines: 0, written: 0, replaced: 0 }
  const store: Store = {
    ...inner,
    append: (key, lines) => {
      seen.lines += lines.length
      seen.written += lines.length
      seen.most = Math.max(seen.most, seen.lines)
      return inner.append(key, lines)
    },
    replace: (key, lines) => {
      seen.lines = lines.length
      seen.written += lines.length
      seen.replaced++
      return inner.replace(key, lines)
    }
  }
  return { seen, store }
}

describe("the journal of a long session", () => {
  it("stays near what its state needs, is seldom written anew, and restores the same", async () => {
    const { seen, store } = counting()
    const options = { store, session: "s", pipeline: [stepMemory(), hardLimit()] }
    const memory = createMemory(options)
    const history = [task, assistant("c0"), result("c0")]
    const steps = 2500
    for (let i = 1; i <= steps; i++) {
      memory.steps.begin({ id: `s${i}`, goal: `goal ${i}` })
      memory.steps.finish({ id: `s${i}`, outcome: "success" })
      await memory.prepare(history)
    }
    const needed = 2 * steps
    expect(seen.most).toBeLessThan(1.25 * needed + 100)
    expect(seen.written).toBeLessThan(5 * needed)
    expect(seen.replaced).toBeGreaterThan(0)
    const before = memory.compose()
    await memory.close()
    const again = createMemory(options)
    await again.prepare(history)
    expect(again.compose()).toBe(before)
    await again.close()
  })
})

import { estimateCounter } from "@varve/core/Counter"
import { extractiveSummary } from "@varve/strategy-extractive-summary"
import type { Material } from "@varve/core/Summarizer"
import { deepFreeze } from "@varve/testkit/Freeze"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const count = estimateCounter().text
const made = (material: ReadonlyArray<Material>, targetTokens = 150, previous?: string): string =>
  extractiveSummary(deepFreeze({ previous, material, keep: [], targetTokens, count }))

const step = (n: number, text: string): Material => ({ from: `step ${n}`, text })
const READ = 'success, "read test/orders.test.ts" (read)'

/** Sixty steps of one read, with two failures and three edits in between. */
const steps = Array.from({ length: 60 }, (_, i) =>
  step(
    i,
    i === 17 || i === 22
      ? `failed, "npx prisma migrate deploy ${i}" (bash)`
      : i % 15 === 7
        ? `success, "set the port in src/routes/part${i}.ts" (edit)`
        : READ
  )
)

describe("a summary of steps", () => {
  it("has failures and changes first, and a repeated step once, with how often it was", () => {
    const lines = made(steps).split("\n")
    for (const n of [17, 22, 7, 37, 52])
      expect(lines.some((l) => l.startsWith(`step ${n}: `))).toBe(true)
    expect(lines.filter((line) => line.includes("read test/orders"))).toEqual([
      `step 59: ${READ} (55 times)`
    ])
    // Where there is less room, the read is what goes.
    const few = made(steps, 70)
    expect(few).toContain("step 17: failed")
    expect(few).toContain("step 22: failed")
    expect(few).not.toContain("read test/orders")
  })

  it("goes on counting over rounds, and keeps an outcome apart from another one", () => {
    const again = [
      step(60, READ),
      step(61, 'failed, "read test/orders.test.ts" (read)'),
      step(62, 'success, "read test/orders.test.ts" (read); arguments: "{\\"offset\\":40}"')
    ]
    const lines = made(again, 300, made(steps)).split("\n")
    expect(lines.filter((line) => line.includes("read test/orders"))).toEqual([
      'step 61: failed, "read test/orders.test.ts" (read)',
      'step 62: success, "read test/orders.test.ts" (read); arguments: "{\\"offset\\":40}" (57 times)'
    ])
  })

  it("never says more often than it was, nor another outcome than was recorded", () => {
    const goal = fc.constantFrom("read a.ts", "edit a.ts", "run the tests", "push it")
    const given = fc.array(fc.tuple(fc.boolean(), goal), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(
        given,
        fc.integer({ min: 30, max: 300 }),
        fc.integer({ min: 1, max: 20 }),
        (all, target, size) => {
          const material = all.map(([ok, text], i) =>
            step(i, `${ok ? "success" : "failed"}, "${text}" (do)`)
          )
          let previous: string | undefined
          for (let i = 0; i < material.length; i += size)
            previous = made(material.slice(i, i + size), target, previous)
          for (const line of previous!.split("\n")) {
            // A single text that doesn't fit is clipped, without its end or with a mark.
            if (
              line.includes("left out …]") ||
              !line.endsWith(")") ||
              line.endsWith("…") ||
              line === ""
            )
              continue
            const [, n, text, times = "1"] = /^step (\d+): (.*?)(?: \((\d+) times\))?$/.exec(line)!
            expect(material[Number(n)]!.text).toBe(text)
            const alike = material.filter((m) => m.text === text)
            expect(alike.length).toBeGreaterThanOrEqual(Number(times))
            // Nothing newer is the same.
            expect(alike.at(-1)!.from).toBe(`step ${n}`)
          }
        }
      ),
      { numRuns: 300 }
    )
  })
})

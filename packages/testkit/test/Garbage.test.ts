import { checkValidity } from "@varve/core/Validity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deepFreeze } from "../src/Freeze.ts"
import { breakHistory, faultNames, garbage } from "../src/Garbage.ts"
import { histories } from "../src/Histories.ts"

/** Odd, but nothing that a provider would refuse by the rules of pairs and emptiness. */
const harmless = [
  "length",
  "nullBlock",
  "textAsBlock",
  "noType",
  "numberText",
  "noImageData",
  "brokenImage",
  "urlImage",
  "nested",
  "objectContent",
  "sameHostId",
  "wrongRole",
  "userAsAssistant",
  "lostUser"
]

describe("garbage", () => {
  it.each(faultNames)(
    "%s changes a history that has all kinds of messages, and nothing of the input",
    (fault) => {
      const [history] = fc.sample(
        histories({ inFlight: false }).filter(
          (h) =>
            ["user", "assistant", "toolResult"].every((r) => h.some((m) => m.role === r)) &&
            h.length > 4
        ),
        { numRuns: 1, seed: 5 }
      )
      deepFreeze(history)
      const broken = breakHistory(history!, fault, 1)
      expect(broken).not.toEqual(history)
    }
  )

  it("makes nearly every history invalid, in all ways", () => {
    const sample = fc.sample(garbage(), { numRuns: 1000, seed: 1 })
    const rules = sample.map((h) => checkValidity(h).map((f) => f.rule))
    expect(rules.filter((r) => r.length > 0).length).toBeGreaterThan(700)
    for (const rule of ["pairs", "empty", "order", "shape"] as const) {
      expect(rules.filter((r) => r.includes(rule)).length).toBeGreaterThan(20)
    }
  })

  it.each(faultNames.filter((name) => !harmless.includes(name)))("%s is a fault", (fault) => {
    const found = fc
      .sample(histories({ turns: 2 }), { numRuns: 300, seed: 9 })
      .some((h) => checkValidity(breakHistory(h, fault, 2) as typeof h).length > 0)
    expect(found).toBe(true)
  })
})

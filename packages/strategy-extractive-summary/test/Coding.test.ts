import { estimateCounter } from "@varve/core/Counter"
import { extractiveSummarizer, extractiveSummary } from "@varve/strategy-extractive-summary"
import { deepFreeze } from "@varve/testkit/Freeze"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { foldsOf, isCall, isNoise, shareOf, standing } from "./coding/measure.ts"
import { topics } from "./coding/traffic.ts"

interface Options {
  readonly registryTokens?: number
  readonly targetTokens?: number
}

const count = estimateCounter().text

describe("a summary of coding traffic", { timeout: 120_000 }, () => {
  it.each<Options>([{}, { registryTokens: 0 }, { registryTokens: 0, targetTokens: 300 }])(
    "has what was said and what came of it, not code and logs: %j",
    async (options) => {
      const folds = await foldsOf(extractiveSummarizer(), options)
      expect(folds.length).toBeGreaterThan(8)
      const [stand, of] = standing(folds)
      console.log(
        `${JSON.stringify(options)}: ${folds.length} folds; code and logs ${Math.round(100 * shareOf(folds, isNoise))} %, ` +
          `calls ${Math.round(100 * shareOf(folds, isCall))} % of the lines; ${stand} of ${of} newest decisions stand`
      )
      expect(shareOf(folds, isNoise)).toBeLessThan(0.02)
      expect(shareOf(folds, isCall)).toBeLessThan(0.2)
      expect(stand / of).toBeGreaterThan(0.95)
      const last = folds.at(-1)!.lines.join("\n")
      if (options.targetTokens === undefined)
        expect(last).toMatch(/fails since the socket closes early; the \w+ has not been merged\./)
      expect(last).toContain("AssertionError: the ")
    }
  )

  it("is the same, to the byte, for the same run", async () => {
    expect(await foldsOf(extractiveSummarizer())).toEqual(await foldsOf(extractiveSummarizer()))
  })

  it("has the newest correction wherever it has one, and nothing corrected without what corrects it", () => {
    const said = topics.flatMap((topic) => topic.said).toSorted(([a], [b]) => a - b)
    const corrections = topics.flatMap((topic) => topic.said.slice(1))
    const rest = fc.array(
      fc.constantFrom(
        "Go on with the proxy of the shop.",
        "Let's make the cache read each header first.",
        "Please use a queue of 40 for the routes."
      ),
      { maxLength: 20 }
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 8, max: 400 }),
        fc.subarray(said, { minLength: 1 }),
        rest,
        fc.integer({ min: 1, max: 9 }),
        (targetTokens, some, filler, size) => {
          const material = [...some.map(([, text]) => text), ...filler].map((text) => ({
            from: "user",
            text
          }))
          let previous: string | undefined
          for (let i = 0; i < material.length; i += size)
            previous = extractiveSummary(
              deepFreeze({
                previous,
                material: material.slice(i, i + size),
                keep: [],
                targetTokens,
                count
              })
            )
          if (previous!.includes("…")) return
          const given = some.filter((one) => corrections.includes(one))
          const has = (text: string): boolean =>
            previous!.includes(text.replaceAll("\n", " ").split(". ").at(-1)!)
          if (given.some(([, text]) => has(text))) expect(has(given.at(-1)![1])).toBe(true)
        }
      ),
      { numRuns: 300 }
    )
  })

  it.each([
    ["Use port 8080 for the proxy.", "no, use port 8443", "8443"],
    ["Let's go with Postgres 16.", "Forget Postgres 16, ops only supports 15.", "Forget"],
    ["Let's go with Postgres 16.", "No. Go with fifteen.", "No. Go with fifteen."],
    ["The service is called gate.", "Not gate but edge-proxy.", "edge-proxy"],
    ["Use tabs in the shop.", "Go back to spaces, please.", "spaces"],
    ["Nimm Tabs für den Laden.", "Nein, doch lieber Leerzeichen.", "Leerzeichen"],
    ["用制表符。", "不对，改用空格。", "空格"]
  ])("%s, put right by %s", (wrong, right, value) => {
    const chat = Array.from({ length: 30 }, (_, i) => ({
      from: "user",
      text: `Let's use item ${i * 7919} of list ${i * 31} for part ${i} of this long work.`
    }))
    const material = [{ from: "user", text: wrong }, { from: "user", text: right }, ...chat]
    const text = extractiveSummary(
      deepFreeze({ previous: undefined, material, keep: [], targetTokens: 60, count })
    )
    expect(text).toContain(value)
  })

  it("takes over what a tool printed only where there is nothing else", () => {
    const code = "1\tconst a = 1\n2\tif (!\n3\ta) {}\n4\t// Tests of this part.\n"
    const one = (from: string, text: string) =>
      extractiveSummary(
        deepFreeze({
          previous: undefined,
          material: [
            { from: "tool read", text: code },
            { from, text }
          ],
          keep: [],
          targetTokens: 100,
          count
        })
      )
    expect(one("user", "Read the part of the tests.")).toBe("user: Read the part of the tests.")
    expect(one("tool read", code)).toContain("// Tests of this part.")
  })
})

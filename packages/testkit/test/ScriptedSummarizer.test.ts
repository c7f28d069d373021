import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import type { SummaryOutcome } from "../src/ScriptedSummarizer.ts"
import { scriptedSummarizer, summaryOutcomes } from "../src/ScriptedSummarizer.ts"

const count = (text: string) => Math.ceil(text.length / 4)
const request = {
  previous: undefined,
  material: Array.from({ length: 200 }, (_, i) => ({ from: `tool t${i}`, text: `result ${i}` })),
  keep: [],
  targetTokens: 50,
  count
}
const ask = (outcome: SummaryOutcome) =>
  Effect.runPromise(scriptedSummarizer([outcome]).summarizer(request))

describe("scriptedSummarizer", () => {
  it("answers by its script, the last outcome for all that follow", async () => {
    const { summarizer, requests } = scriptedSummarizer(["failing", "good"])
    const run = () => Effect.runPromiseExit(summarizer(request))
    expect(Exit.isFailure(await run())).toBe(true)
    expect(await run()).toEqual(await run())
    expect(requests).toHaveLength(3)
  })

  it("fits where it is good, and not where it is too long", async () => {
    expect(count((await ask("good")).text)).toBeLessThanOrEqual(50)
    expect(count((await ask("too-long")).text)).toBeGreaterThanOrEqual(200)
    expect((await ask("truncated")).stopReason).toBe("length")
    expect((await ask("tool-call")).stopReason).toBe("toolUse")
    expect((await ask("blank")).text.trim()).toBe("")
  })

  it.each(summaryOutcomes.filter((o) => o !== "hanging"))("%s ends at once", async (outcome) => {
    await Effect.runPromiseExit(scriptedSummarizer([outcome]).summarizer(request))
  })

  it("hanging never ends, and is interrupted cleanly", async () => {
    const { summarizer } = scriptedSummarizer(["hanging"])
    const waited = await Effect.runPromise(Effect.timeoutOption(summarizer(request), 1))
    expect(Option.isNone(waited)).toBe(true)
  })
})

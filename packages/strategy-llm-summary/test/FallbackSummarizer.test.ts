import { assert, it as effectIt } from "@effect/vitest"
import { clipSummarizer } from "@varve/core/ClipSummarizer"
import type { Summarizer, SummaryRequest } from "@varve/core/Summarizer"
import { ConfigError, SummaryError } from "@varve/core/VarveError"
import { fallbackSummarizer, modelSummarizer } from "@varve/strategy-llm-summary"
import type { SummaryOutcome } from "@varve/testkit/ScriptedSummarizer"
import { scriptedSummarizer } from "@varve/testkit/ScriptedSummarizer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it } from "vitest"
import { model, never, request, says } from "./models.ts"

const run = Effect.runPromise

const outcomes: ReadonlyArray<SummaryOutcome> = [
  "good",
  "truncated",
  "empty",
  "blank",
  "degenerate",
  "tool-call",
  "echo",
  "failing",
  "refusing",
  "garbage",
  "throwing"
]

describe("fallbackSummarizer", () => {
  it("gives what the first gives, and asks no other", async () => {
    const [a, b] = [model(() => says("Booked by a.")), model(() => says("Booked by b."))]
    const summarizer = fallbackSummarizer(
      modelSummarizer({ complete: a.complete }),
      modelSummarizer({ complete: b.complete })
    )
    expect((await run(summarizer(request()))).text).toBe("Booked by a.")
    expect(b.calls()).toBe(0)
    // What a call costs is estimated by the first one.
    expect(summarizer.resultTokens).toBe(500)
    expect(fallbackSummarizer(clipSummarizer(), summarizer).resultTokens).toBe(undefined)
  })

  it("goes on to the next where one fails, dies or gives what is refused", async () => {
    for (const outcome of outcomes) {
      const first = scriptedSummarizer([outcome])
      const summarizer = fallbackSummarizer(first.summarizer, clipSummarizer())
      const { model } = await run(summarizer(request()))
      // What only saves nothing is for the strategy to refuse.
      const taken = outcome === "good" || outcome === "echo"
      expect([outcome, model]).toEqual([outcome, taken ? "scripted" : "clip"])
      expect(first.requests.length).toBe(1)
    }
  })

  it("fails as the last one fails", async () => {
    const failing =
      (message: string): Summarizer =>
      () =>
        Effect.fail(new SummaryError("failed", message))
    const error = await run(Effect.flip(fallbackSummarizer(failing("a"), failing("b"))(request())))
    expect(error.message).toBe("b")
  })

  it("can be nested, and stands wherever a summarizer stands", async () => {
    const bad = () => scriptedSummarizer(["refusing"]).summarizer
    const summarizer = fallbackSummarizer(bad(), fallbackSummarizer(bad(), clipSummarizer()))
    expect((await run(summarizer(request()))).model).toBe("clip")
  })

  it("refuses what is no summarizer where it is made", () => {
    expect(() => fallbackSummarizer(clipSummarizer(), {} as never)).toThrow(ConfigError)
    expect(() => fallbackSummarizer(undefined as never)).toThrow("fallbackSummarizer[0]")
  })

  effectIt.effect("shares out the time, so that one that hangs leaves some to the others", () =>
    Effect.gen(function* () {
      const told: Array<number | undefined> = []
      const noted =
        (summarizer: Summarizer): Summarizer =>
        (request: SummaryRequest) => {
          told.push(request.timeout)
          return summarizer(request)
        }
      const hanging: Summarizer = () => Effect.never
      const summarizer = fallbackSummarizer(
        noted(hanging),
        noted(modelSummarizer({ complete: model(never).complete })),
        noted(clipSummarizer())
      )
      const fiber = yield* Effect.forkChild(summarizer(request({ timeout: 60_000 })), {
        startImmediately: true
      })
      yield* TestClock.adjust(26_999)
      assert.deepStrictEqual(told, [27_000])
      yield* TestClock.adjust(27_000)
      assert.deepStrictEqual(told, [27_000, 27_000])
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).model, "clip")
      assert.deepStrictEqual(told, [27_000, 27_000, 6000])
    })
  )

  effectIt.effect("an abort stops the one that is asked, and asks no other", () =>
    Effect.gen(function* () {
      const [a, b] = [model(never), model(() => says("Booked."))]
      const summarizer = fallbackSummarizer(
        modelSummarizer({ complete: a.complete }),
        modelSummarizer({ complete: b.complete })
      )
      const fiber = yield* Effect.forkChild(summarizer(request({ timeout: 60_000 })), {
        startImmediately: true
      })
      yield* TestClock.adjust(10)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(a.signals[0]!.aborted)
      assert.strictEqual(b.calls(), 0)
    })
  )
})

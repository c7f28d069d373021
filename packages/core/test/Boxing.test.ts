import { assert, it as effectIt } from "@effect/vitest"
import * as Commit from "@varve/core/Commit"
import * as Edit from "@varve/core/Edit"
import * as Memory from "@varve/core/Memory"
import type { Strategy } from "@varve/core/Strategy"
import { make, strategy } from "@varve/core/Strategy"
import type { VarveEvent } from "@varve/core/VarveEvent"
import type { View } from "@varve/core/View"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import { session, step } from "./fixtures/history.ts"

const LIMIT = 5000
const history = deepFreeze(session(6))

/** A good one beside the bad ones: it clips old results. */
const good = strategy("good", (view) =>
  view.results.slice(0, 2).map((r) => Edit.replace(r.block, "[clipped]"))
)

const memoryOf = (pipeline: ReadonlyArray<Strategy>, onEvent?: (event: VarveEvent) => void) =>
  Memory.make({
    pipeline,
    commit: Commit.immediate,
    strategyTimeout: LIMIT,
    ...(onEvent === undefined ? {} : { onEvent })
  })

const mutating = (view: View): never => {
  for (const list of [view.messages, view.items, view.images, view.results])
    (list as Array<unknown>).length = 0
  ;(view.usage as { tokens: number }).tokens = 0
  throw new Error("after it broke all that it was given")
}

/** What a strategy can do wrong, with what the report says of it. */
const bad: Record<string, readonly [(view: View) => unknown, RegExp]> = {
  throws: [
    () => {
      throw new TypeError("it broke")
    },
    /^TypeError: it broke$/
  ],
  "throws no error": [
    () => {
      throw { no: "error" }
    },
    /an object with no/
  ],
  "throws a long text": [
    () => {
      throw new Error("x".repeat(5000))
    },
    /^Error: x{293}…$/
  ],
  rejects: [() => Promise.reject(new Error("later")), /^Error: later$/],
  fails: [() => Effect.fail(new Error("typed")), /^Error: typed$/],
  dies: [() => Effect.die(new Error("a defect")), /^Error: a defect$/],
  "interrupts itself": [() => Effect.interrupt, /./],
  "breaks its view": [mutating, /after it broke/],
  "gives nothing": [() => undefined, /gave undefined/],
  "gives null": [() => null, /gave null/],
  "gives a number": [() => 7, /gave 7/],
  "gives an object": [() => ({ edits: [] }), /gave an object with edits/],
  "promises nonsense": [() => Promise.resolve("all fine"), /gave "all fine"/]
}

const untyped = (name: string, propose: (view: View) => unknown): Strategy =>
  strategy(name, propose as () => never)

describe("a strategy that", () => {
  for (const [what, [propose, says]] of Object.entries(bad)) {
    effectIt.effect(`${what} changes nothing but the report, and the others go on`, () =>
      Effect.gen(function* () {
        const events: Array<VarveEvent> = []
        const alone = yield* memoryOf([good])
        const memory = yield* memoryOf([untyped("bad", propose), good], (e) => events.push(e))
        const expected = yield* alone.prepare(history)
        const { messages, report } = yield* memory.prepare(history)
        assert.deepStrictEqual(messages, expected.messages)
        const [own, other] = report.strategies
        expect(own).toMatchObject({ name: "bad", proposed: 0, accepted: 0, saved: 0 })
        expect(own!.error).toMatch(says)
        expect(other!.error).toBeUndefined()
        expect(events).toContainEqual({
          type: "strategy-failed",
          strategy: "bad",
          error: own!.error
        })
        const all = yield* memory.explain()
        assert.deepStrictEqual(
          all.map((e) => e.strategy),
          ["good", "good"]
        )
      })
    )
  }

  effectIt.effect("gives the pipeline itself no list of proposals is told so", () =>
    Effect.gen(function* () {
      for (const [given, says] of [
        [7, "it gave 7, not a list of proposals"],
        [[{ edits: [] }, 3, {}], "2 of 3 proposals have no list of edits"]
      ] as const) {
        const memory = yield* memoryOf([
          make(
            "raw",
            Effect.succeed(() => Effect.succeed(given as never))
          ),
          good
        ])
        const { report } = yield* memory.prepare(history)
        assert.deepStrictEqual(
          report.strategies.map((s) => s.error),
          [says, undefined]
        )
      }
    })
  )

  for (const [what, hanging] of [
    ["hangs", Effect.never],
    ["hangs, even against interruption,", Effect.uninterruptible(Effect.never)]
  ] as const) {
    effectIt.effect(`${what} holds a request no longer than the limit`, () =>
      Effect.gen(function* () {
        const memory = yield* memoryOf([
          make(
            "slow",
            Effect.succeed(() => hanging)
          ),
          good
        ])
        const fiber = yield* Effect.forkChild(memory.prepare(history))
        yield* TestClock.adjust(LIMIT - 1)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        const { report } = yield* Fiber.join(fiber)
        assert.strictEqual(report.strategies[0]!.error, `Error: slow took longer than ${LIMIT} ms`)
        assert.strictEqual(report.strategies[1]!.accepted, 2)
      })
    )
  }

  effectIt.effect("is given up on is told so, and what it holds is let go", () =>
    Effect.gen(function* () {
      let released = false
      const slow = Effect.ensuring(
        Effect.never,
        Effect.sync(() => void (released = true))
      )
      const memory = yield* memoryOf([
        make(
          "slow",
          Effect.succeed(() => slow)
        )
      ])
      const fiber = yield* Effect.forkChild(memory.prepare(history))
      yield* TestClock.adjust(LIMIT)
      yield* Fiber.join(fiber)
      yield* TestClock.adjust(1)
      assert.isTrue(released)
    })
  )

  effectIt.effect("answers at once needs no clock", () =>
    Effect.gen(function* () {
      const memory = yield* memoryOf([good])
      const { report } = yield* memory.prepare(history)
      assert.strictEqual(report.strategies[0]!.accepted, 2)
    })
  )
})

describe("a strategy that failed three times in a row", () => {
  const scene = Effect.gen(function* () {
    let [calls, broken] = [0, true]
    const flaky = strategy("flaky", () => {
      calls++
      if (broken) throw new Error("no")
      return []
    })
    const memory = yield* memoryOf([flaky])
    const history = [...session(0)]
    return {
      mend: () => void (broken = false),
      break: () => void (broken = true),
      /** One request more; how often the strategy was asked in it, and what the report says. */
      ask: Effect.gen(function* () {
        const before = calls
        history.push(...step(history.length, { images: 0, words: 5 }))
        const { report } = yield* memory.prepare(history.slice())
        return [calls - before, report.strategies[0]!.error] as const
      })
    }
  })
  const LEFT = [0, "left alone after failures in a row"] as const
  const FAILED = [1, "Error: no"] as const

  effectIt.effect("is left alone for a minute, then one try decides", () =>
    Effect.gen(function* () {
      const s = yield* scene
      for (let i = 0; i < 3; i++) assert.deepStrictEqual(yield* s.ask, FAILED)
      for (let i = 0; i < 5; i++) assert.deepStrictEqual(yield* s.ask, LEFT)
      yield* TestClock.adjust(59_999)
      assert.deepStrictEqual(yield* s.ask, LEFT)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* s.ask, FAILED)
      // Twice as long after a try that failed, and no second try meanwhile.
      yield* TestClock.adjust(119_999)
      assert.deepStrictEqual(yield* s.ask, LEFT)
      yield* TestClock.adjust(1)
      s.mend()
      assert.deepStrictEqual(yield* s.ask, [1, undefined])
      assert.deepStrictEqual(yield* s.ask, [1, undefined])
      // Closed: three failures open it again, for a minute.
      s.break()
      for (let i = 0; i < 3; i++) assert.deepStrictEqual(yield* s.ask, FAILED)
      assert.deepStrictEqual(yield* s.ask, LEFT)
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(yield* s.ask, FAILED)
    })
  )

  effectIt.effect(
    "over five hundred requests is asked a handful of times, and never for good left alone",
    () =>
      Effect.gen(function* () {
        const s = yield* scene
        let calls = 0
        for (let i = 0; i < 500; i++) {
          calls += (yield* s.ask)[0]
          yield* TestClock.adjust(10_000)
        }
        // Three, then tries after 1, 2, 4, 8 minutes and every 10 of the 83.
        assert.isAtLeast(calls, 3 + 10)
        assert.isAtMost(calls, 3 + 12)
        s.mend()
        yield* TestClock.adjust(600_000)
        assert.deepStrictEqual(yield* s.ask, [1, undefined])
      })
  )

  effectIt.effect("never in a row stays in use", () =>
    Effect.gen(function* () {
      const s = yield* scene
      for (let i = 0; i < 12; i++) {
        if (i % 3 === 2) s.mend()
        else s.break()
        assert.strictEqual((yield* s.ask)[0], 1)
      }
    })
  )
})

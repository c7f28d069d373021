import { assert, it as effectIt } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { beside } from "../src/Beside.ts"
import * as Commit from "../src/Commit.ts"
import type { ConversationSummaryOptions } from "../src/ConversationSummary.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { estimateCounter } from "../src/Counter.ts"
import { hardLimit } from "../src/HardLimit.ts"
import * as Memory from "../src/Memory.ts"
import type { Message } from "../src/Message.ts"
import { textOf } from "../src/Message.ts"
import type { Report } from "../src/Report.ts"
import { stepMemory } from "../src/StepMemory.ts"
import type { Strategy } from "../src/Strategy.ts"
import { make } from "../src/Strategy.ts"
import type { Summarizer, SummaryRequest } from "../src/Summarizer.ts"
import { checkValidity } from "../src/Validity.ts"
import { SummaryError } from "../src/VarveError.ts"
import { session, user } from "./fixtures/history.ts"

const LIMIT = 10_000
const counter = estimateCounter()
const count = (messages: ReadonlyArray<Message>) =>
  messages.reduce((sum, m) => sum + counter.message(m), 0)

/** Each step has about 2 % of the limit. */
const steps = (n: number) => session(n, { images: 0, words: 100 })
/** How many steps have so great a share of the limit. */
const atShare = (share: number): number => {
  let n = 1
  while (count(steps(n)) <= share * LIMIT) n++
  return n
}

/** A summarizer that answers when it is let go. */
const gated = () => {
  const requests: Array<SummaryRequest> = []
  const gates: Array<Deferred.Deferred<string, SummaryError>> = []
  let [running, most, ended] = [0, 0, 0]
  const summarizer: Summarizer = (request) =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<string, SummaryError>()
      requests.push(request)
      gates.push(gate)
      most = Math.max(most, ++running)
      const text = yield* Deferred.await(gate)
      return { text, stopReason: "stop", model: "m" }
    }).pipe(
      Effect.ensuring(Effect.sync(() => running--)),
      Effect.onInterrupt(() => Effect.sync(() => ended++))
    )
  return {
    requests,
    summarizer,
    calls: () => requests.length,
    most: () => most,
    running: () => running,
    ended: () => ended,
    release: (
      i: number,
      text = `Summary ${i + 1}.\nThe agent opened the pages one after the other and read them.`
    ) => Deferred.succeed(gates[i]!, text),
    fail: (i: number) => Deferred.fail(gates[i]!, new SummaryError("failed", "overloaded"))
  }
}

const memoryOf = (...pipeline: ReadonlyArray<Strategy>) =>
  Memory.make({ pipeline, budget: { tokens: LIMIT }, commit: Commit.immediate })

const scene = (options: ConversationSummaryOptions = {}) =>
  Effect.gen(function* () {
    const model = gated()
    const { summarizer } = model
    const memory = yield* memoryOf(conversationSummary({ summarizer, ...options }), hardLimit())
    return { ...model, memory }
  })

const reasonsOf = (report: Report, at = 0) => Object.entries(report.strategies[at]!.reasons)
const holds = (messages: ReadonlyArray<Message>, text: string) =>
  messages.some((m) => textOf(m).includes(text))

/** Runs an effect on, with what runs beside it. */
const ticks = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow)

describe("a summary that is made beside the agent", () => {
  effectIt.effect(
    "is waited for by no request, and stands in a later one; what came meanwhile stays",
    () =>
      Effect.gen(function* () {
        const s = yield* scene()
        const n = atShare(0.6)
        const first = yield* s.memory.prepare(steps(n))
        assert.deepStrictEqual(first.messages, steps(n))
        assert.match(
          reasonsOf(first.report)[0]![0],
          /over 0.6 of the token limit; a summary of \d+ was begun/
        )
        assert.strictEqual(reasonsOf(first.report)[0]![1], 0)
        for (let i = n + 1; i < n + 6; i++) {
          const { messages, report } = yield* s.memory.prepare(steps(i))
          assert.deepStrictEqual(messages, steps(i))
          assert.deepStrictEqual(reasonsOf(report), [])
        }
        assert.strictEqual(s.calls(), 1)
        yield* s.release(0)
        yield* s.memory.flush
        // The same head gives the same bytes, whatever has arrived.
        assert.deepStrictEqual((yield* s.memory.prepare(steps(n + 5))).messages, steps(n + 5))
        const history = [...steps(n + 6), user("arrived")]
        const { messages, report } = yield* s.memory.prepare(history)
        assert.deepStrictEqual(reasonsOf(report), [
          ["over 0.6 of the token limit; summary by m", 1]
        ])
        assert.isTrue(holds(messages, "\nSummary 1.\n"))
        assert.deepStrictEqual(checkValidity(messages, { startsWithUser: true }), [])
        // All that the snapshot left stands behind the summary, word for word.
        const told = s.requests[0]!.material.length
        assert.deepStrictEqual(messages.slice(2), history.slice(1 + told))
        assert.strictEqual(s.calls(), 1)
      })
  )

  effectIt.effect(
    "is waited for at the hard mark alone, and its time counts from its beginning",
    () =>
      Effect.gen(function* () {
        const s = yield* scene({ timeout: 5000 })
        yield* s.memory.prepare(steps(atShare(0.6)))
        yield* TestClock.adjust(3000)
        // Just below it: no wait.
        yield* s.memory.prepare(steps(atShare(0.9) - 1))
        const fiber = yield* Effect.forkChild(s.memory.prepare(steps(atShare(0.9))))
        yield* TestClock.adjust(1999)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        const { messages, report } = yield* Fiber.join(fiber)
        assert.include(
          JSON.stringify(report),
          "clipped, no summary (timeout): No summary within 5000 ms."
        )
        assert.isTrue(holds(messages, "<summary so far"))
        assert.isBelow(count(messages), 0.6 * LIMIT)
        assert.strictEqual(s.calls(), 1)
        assert.strictEqual(s.running(), 0)
      })
  )

  effectIt.effect("that is there in time is what the request at the hard mark gets", () =>
    Effect.gen(function* () {
      const s = yield* scene()
      // From far below the soft mark to the hard one in one step: it waits for one that has just begun.
      yield* s.memory.prepare(steps(3))
      const fiber = yield* Effect.forkChild(s.memory.prepare(steps(atShare(0.9))))
      yield* ticks
      assert.isUndefined(fiber.pollUnsafe())
      yield* s.release(0)
      const { messages, report } = yield* Fiber.join(fiber)
      assert.isTrue(holds(messages, "\nSummary 1.\n"))
      assert.strictEqual(report.guarded, 0)
    })
  )

  effectIt.effect(
    "that fails changes nothing, is tried again after a tenth more, and is clipped at the hard mark",
    () =>
      Effect.gen(function* () {
        const s = yield* scene()
        const [from, to] = [atShare(0.6), atShare(0.9)]
        const calls: Array<number> = []
        const failures: Array<string> = []
        for (let i = from; i < to; i++) {
          const before = s.calls()
          const { messages, report } = yield* s.memory.prepare(steps(i))
          assert.deepStrictEqual(messages, steps(i))
          failures.push(
            ...reasonsOf(report).flatMap(([why]) => (why.startsWith("no summary") ? [why] : []))
          )
          if (s.calls() > before) calls.push(i)
          if (s.running() > 0) yield* s.fail(before)
          yield* ticks
        }
        assert.deepStrictEqual(new Set(failures), new Set(["no summary (failed): overloaded"]))
        assert.strictEqual(failures.length, calls.length)
        assert.isAtMost(calls.length, 3)
        for (const [k, i] of calls.entries()) {
          if (k > 0) assert.isAtLeast(count(steps(i)) - count(steps(calls[k - 1]!)), 0.1 * LIMIT)
        }
        const { messages, report } = yield* s.memory.prepare(steps(to))
        assert.include(JSON.stringify(report), "clipped, no summary (failed): overloaded")
        assert.isTrue(holds(messages, "<summary so far"))
        assert.strictEqual(s.calls(), calls.length)
      })
  )

  effectIt.effect("of what is no longer there is left out, and the report says so", () =>
    Effect.gen(function* () {
      const s = yield* scene()
      const n = atShare(0.6)
      const history = steps(n)
      yield* s.memory.prepare(history)
      yield* s.release(0)
      yield* s.memory.flush
      // The host has dropped one of the steps that the summary is of.
      const rewritten = [...history.slice(0, 5), ...steps(n + 1).slice(7)]
      const { messages, report } = yield* s.memory.prepare(rewritten)
      assert.deepStrictEqual(messages, rewritten)
      const [refused] = report.strategies[0]!.refused
      assert.match(refused!.why, /is not there or folded already/)
      // Another one is due now, of what there is.
      assert.strictEqual(s.calls(), 2)
      yield* s.release(1)
      yield* s.memory.flush
      const next = yield* s.memory.prepare([...rewritten, ...steps(n + 2).slice(-2)])
      assert.isTrue(holds(next.messages, "\nSummary 2.\n"))
      assert.deepStrictEqual(next.report.strategies[0]!.refused, [])
    })
  )

  effectIt.effect("that failed is asked for again at once in another history", () =>
    Effect.gen(function* () {
      const s = yield* scene()
      const n = atShare(0.7)
      yield* s.memory.prepare(steps(n))
      yield* s.fail(0)
      yield* ticks
      yield* s.memory.prepare(steps(n + 1))
      assert.strictEqual(s.calls(), 1)
      const other = steps(n).map((m) => (m.role === "user" ? m : { ...m, host: "other" }))
      yield* s.memory.prepare([other[0]!, ...other.slice(3)])
      assert.strictEqual(s.calls(), 2)
    })
  )

  effectIt.effect("is not lost to a dry run", () =>
    Effect.gen(function* () {
      const s = yield* scene()
      const n = atShare(0.6)
      yield* s.memory.prepare(steps(n))
      yield* s.release(0)
      yield* s.memory.flush
      const dry = yield* s.memory.prepare(steps(n + 1), { dryRun: true })
      const { messages } = yield* s.memory.prepare(steps(n + 1))
      assert.isTrue(holds(dry.messages, "\nSummary 1.\n"))
      assert.deepStrictEqual(messages, dry.messages)
      assert.strictEqual(s.calls(), 1)
    })
  )

  effectIt.effect(
    "ends when a request that waits for it is aborted; the next request begins it anew",
    () =>
      Effect.gen(function* () {
        const s = yield* scene()
        const history = steps(atShare(0.9))
        const waiting = yield* Effect.forkChild(s.memory.prepare(history))
        yield* ticks
        assert.strictEqual(s.running(), 1)
        yield* Fiber.interrupt(waiting)
        yield* ticks
        assert.deepStrictEqual([s.running(), s.ended()], [0, 1])
        const again = yield* Effect.forkChild(s.memory.prepare(history))
        yield* ticks
        yield* s.release(1)
        assert.isTrue(holds((yield* Fiber.join(again)).messages, "\nSummary 2.\n"))
      })
  )

  effectIt.effect("is waited for by flush, and ended by close", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const s = yield* Scope.provide(scene(), scope)
      yield* s.memory.prepare(steps(atShare(0.6)))
      const flush = yield* Effect.forkChild(s.memory.flush)
      yield* ticks
      assert.isUndefined(flush.pollUnsafe())
      yield* s.release(0)
      yield* Fiber.join(flush)
      const other = yield* Scope.make()
      const t = yield* Scope.provide(scene(), other)
      yield* t.memory.prepare(steps(atShare(0.6)))
      assert.strictEqual(t.running(), 1)
      // No time passes.
      yield* Scope.close(other, Exit.void)
      yield* ticks
      assert.deepStrictEqual([t.running(), t.ended()], [0, 1])
      yield* Scope.close(scope, Exit.void)
    })
  )
})

describe("a memory that is closed while a request waits for a summary", () => {
  effectIt.effect("ends the summary, begins no other, and gives the request what fits", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const s = gated()
      const { summarizer } = s
      // Closing waits a moment for this one, so that the request goes on before the end.
      const busy = make(
        "busy",
        Effect.map(beside, (fork) => () => Effect.as(fork(Effect.andThen(ticks, ticks)), []))
      )
      const memory = yield* Scope.provide(
        memoryOf(busy, conversationSummary({ summarizer }), hardLimit()),
        scope
      )
      yield* memory.prepare(steps(atShare(0.6)))
      const waiting = yield* Effect.forkChild(memory.prepare(steps(atShare(0.9) + 10)))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.isUndefined(waiting.pollUnsafe())
      // No time passes.
      yield* Scope.close(scope, Exit.void)
      const { messages } = yield* Fiber.join(waiting)
      assert.isAtMost(count(messages), LIMIT)
      yield* ticks
      assert.deepStrictEqual([s.calls(), s.ended()], [1, 1])
    })
  )
})

describe("summaries of one memory", () => {
  effectIt.effect(
    "are made one at a time, also where twelve steps end at once, and no step is lost",
    () =>
      Effect.gen(function* () {
        const model = gated()
        const { summarizer } = model
        const memory = yield* memoryOf(
          conversationSummary({ summarizer }),
          stepMemory({ summarizer, recentTokens: 60 }),
          hardLimit()
        )
        const n = atShare(0.6)
        let history = steps(n)
        const began = Array.from({ length: 12 }, (_, i) => ({
          id: `s${i + 1}`,
          goal: `goal ${i + 1}`
        }))
        yield* Effect.forEach(began, memory.steps.begin)
        yield* Effect.forEach(
          began,
          ({ id }) =>
            Effect.andThen(
              memory.steps.finish({ id, outcome: "success" }),
              memory.prepare([...history, user(`after ${id}`)])
            ),
          { concurrency: "unbounded" }
        )
        // Both strategies have asked; the second one waits for its turn.
        assert.deepStrictEqual([model.calls(), model.running()], [1, 1])
        yield* model.release(0)
        yield* ticks
        assert.deepStrictEqual([model.calls(), model.running()], [2, 1])
        yield* model.release(1, "Steps were done.")
        yield* memory.flush
        history = steps(n + 1)
        const { messages } = yield* memory.prepare(history)
        assert.isTrue(holds(messages, "\nSummary 1.\n"))
        const memo = yield* memory.compose
        assert.include(memo, "> Steps were done.")
        assert.strictEqual(model.most(), 1)
        // Each step was told to the model once, or stands word for word.
        const told = model.requests.flatMap((r) => r.material.map((m) => m.from))
        const stepsTold = told.filter((from) => from.startsWith("step "))
        assert.deepStrictEqual(stepsTold, [...new Set(stepsTold)])
        for (let i = 1; i <= 12; i++) {
          assert.isTrue(
            stepsTold.includes(`step ${i}`) || memo.includes(`- step ${i}: `),
            `step ${i}`
          )
        }
      })
  )

  effectIt.effect("share their time-out with the wait for one another", () =>
    Effect.gen(function* () {
      const model = gated()
      const { summarizer } = model
      const memory = yield* memoryOf(
        stepMemory({ summarizer, recentTokens: 60, timeout: 4000 }),
        conversationSummary({ summarizer, timeout: 5000 }),
        hardLimit()
      )
      for (let i = 1; i <= 20; i++) {
        yield* memory.steps.begin({ id: `s${i}`, goal: `goal ${i}` })
        yield* memory.steps.finish({ id: `s${i}`, outcome: "success" })
      }
      // The step memory's is slow and gives up after four seconds; the other has one left.
      const fiber = yield* Effect.forkChild(memory.prepare(steps(atShare(0.9))))
      yield* TestClock.adjust(4000)
      assert.strictEqual(model.calls(), 2)
      assert.strictEqual(model.requests[1]!.timeout, 1000)
      yield* TestClock.adjust(999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      const { report } = yield* Fiber.join(fiber)
      assert.include(JSON.stringify(report), "clipped, no summary (timeout)")
    })
  )
})

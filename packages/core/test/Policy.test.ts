import { assert, it as effectIt } from "@effect/vitest"
import * as Commit from "@varve/core/Commit"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import * as Memory from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import { pipeline } from "@varve/core/Pipeline"
import * as Policy from "@varve/core/Policy"
import type { Strategy } from "@varve/core/Strategy"
import { make, strategy } from "@varve/core/Strategy"
import * as Trigger from "@varve/core/Trigger"
import type { View } from "@varve/core/View"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import { session, user } from "./fixtures/history.ts"

/** Clips the oldest result that still stands; notes how many it saw. */
const clip = (name: string, seen: Array<number> = []): Strategy =>
  strategy(name, (view) => {
    seen.push(view.results.length)
    return view.results.slice(0, 1).map((r) => Edit.replace(r.block, `[${name}]`))
  })
const broken = strategy("broken", () => {
  throw new Error("no")
})
const memoryOf = (...pipeline: ReadonlyArray<Strategy>) =>
  Memory.make({ pipeline, commit: Commit.immediate })
/** What the pipeline made of a history: names in the texts of clipped results, and errors. */
const once = (strategy: Strategy, steps = 6) =>
  Effect.gen(function* () {
    const memory = yield* memoryOf(strategy)
    const { messages, report } = yield* memory.prepare(session(steps))
    const [own] = report.strategies
    return {
      made: JSON.stringify(messages).match(/\[[a-z ]+\]/g) ?? [],
      error: own!.error,
      name: own!.name
    }
  })

describe("in order", () => {
  effectIt.effect("each sees the view as those before it left it", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const out = yield* once(
        Policy.inOrder("all", clip("a", seen), clip("b", seen), clip("c", seen))
      )
      assert.deepStrictEqual(out, { made: ["[a]", "[b]", "[c]"], error: undefined, name: "all" })
      assert.deepStrictEqual(seen, [6, 5, 4])
    })
  )

  effectIt.effect("one that has nothing to propose holds up none behind it", () =>
    Effect.gen(function* () {
      const idle = strategy("idle", () => [])
      const out = yield* once(Policy.inOrder("all", clip("a"), idle, clip("c")))
      assert.deepStrictEqual(out.made, ["[a]", "[c]"])
    })
  )

  effectIt.effect("a failure is the failure of all", () =>
    Effect.gen(function* () {
      const out = yield* once(Policy.inOrder("all", clip("a"), broken, clip("c")))
      assert.deepStrictEqual(out, { made: [], error: "Error: no", name: "all" })
    })
  )

  effectIt.effect("a pipeline of none is one that proposes nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* once(pipeline("none", false))).made, [])
    })
  )
})

describe("when", () => {
  effectIt.effect("a strategy runs only while the trigger holds", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const memory = yield* memoryOf(Policy.when(Trigger.images(4), clip("late", seen)))
      for (let n = 1; n <= 6; n++) yield* memory.prepare(session(n))
      assert.deepStrictEqual(seen, [4, 4, 4])
    })
  )

  effectIt.effect("the trigger throws, it is the strategy's failure", () =>
    Effect.gen(function* () {
      const bad = Policy.when(() => {
        throw new Error("odd")
      }, clip("a"))
      assert.deepStrictEqual(yield* once(bad), { made: [], error: "Error: odd", name: "a" })
    })
  )
})

describe("until", () => {
  effectIt.effect("strategies run one after the other as long as the target isn't met", () =>
    Effect.gen(function* () {
      const few = (n: number) => (view: View) => view.results.length <= n
      const chain = (n: number) => Policy.until("some", few(n), clip("a"), clip("b"), clip("c"))
      assert.deepStrictEqual((yield* once(chain(4))).made, ["[a]", "[b]"])
      assert.deepStrictEqual((yield* once(chain(6))).made, [])
      assert.deepStrictEqual((yield* once(chain(0))).made, ["[a]", "[b]", "[c]"])
    })
  )
})

describe("fallback", () => {
  const failing: ReadonlyArray<readonly [string, Effect.Effect<never, unknown>]> = [
    ["fails", Effect.fail("no")],
    ["dies", Effect.die(new Error("no"))]
  ]
  for (const [what, effect] of failing) {
    effectIt.effect(
      `where the first ${what}, the next takes its place and nothing is reported`,
      () =>
        Effect.gen(function* () {
          const first = make(
            "first",
            Effect.succeed(() => effect)
          )
          const out = yield* once(Policy.fallback(first, broken, clip("third"), clip("fourth")))
          assert.deepStrictEqual(out, { made: ["[third]"], error: undefined, name: "first" })
        })
    )
  }

  effectIt.effect("where the first does well, no other is asked", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const out = yield* once(Policy.fallback(clip("first"), clip("other", seen)))
      assert.deepStrictEqual([out.made, seen.length], [["[first]"], 0])
    })
  )

  effectIt.effect("where all fail, the last one's failure is reported", () =>
    Effect.gen(function* () {
      const worse = strategy("worse", () => {
        throw new Error("worse")
      })
      assert.strictEqual((yield* once(Policy.fallback(broken, worse))).error, "Error: worse")
    })
  )
})

describe("timeout", () => {
  effectIt.effect("fails a strategy that takes longer, and lets one that doesn't", () =>
    Effect.gen(function* () {
      const slow = (ms: number) =>
        Policy.timeout(
          strategy("slow", (view) =>
            Effect.delay(
              Effect.sync(() => [Edit.replace(view.results[0]!.block, "[slow]")]),
              ms
            )
          ),
          100
        )
      const late = yield* Effect.forkChild(once(slow(101)))
      const inTime = yield* Effect.forkChild(once(slow(99)))
      yield* TestClock.adjust(200)
      const out = yield* Fiber.join(late)
      assert.deepStrictEqual(out.made, [])
      expect(out.error).toMatch(/time/i)
      assert.deepStrictEqual((yield* Fiber.join(inTime)).made, ["[slow]"])
    })
  )

  effectIt.effect("with a fallback gives the next one's answer", () =>
    Effect.gen(function* () {
      const hanging = make(
        "hanging",
        Effect.succeed(() => Effect.never)
      )
      const fiber = yield* Effect.forkChild(
        once(Policy.fallback(Policy.timeout(hanging, 100), clip("quick")))
      )
      yield* TestClock.adjust(100)
      assert.deepStrictEqual((yield* Fiber.join(fiber)).made, ["[quick]"])
    })
  )
})

describe("a breaker", () => {
  effectIt.effect("opens after failures in a row, and closes when a try does well", () =>
    Effect.gen(function* () {
      let [calls, ok] = [0, false]
      const flaky = strategy("flaky", () => {
        calls++
        if (!ok) throw new Error("no")
        return []
      })
      const options = { failures: 2, cooldown: 1000, maxCooldown: 3000 }
      const memory = yield* memoryOf(Policy.breaker(flaky, options))
      let n = 1
      const asked = Effect.gen(function* () {
        const before = calls
        yield* memory.prepare(session(n++, { images: 0, words: 3 }))
        return calls - before
      })
      const after = (ms: number) => Effect.andThen(TestClock.adjust(ms), asked)
      // Two failures; then tries after 1, 2, and never more than 3 seconds.
      assert.deepStrictEqual([yield* asked, yield* asked, yield* asked], [1, 1, 0])
      assert.deepStrictEqual([yield* after(999), yield* after(1)], [0, 1])
      assert.deepStrictEqual([yield* after(1999), yield* after(1)], [0, 1])
      assert.deepStrictEqual([yield* after(2999), yield* after(1)], [0, 1])
      ok = true
      assert.deepStrictEqual([yield* after(2999), yield* after(1), yield* asked], [0, 1, 1])
      ok = false
      assert.deepStrictEqual([yield* asked, yield* asked, yield* asked], [1, 1, 0])
      assert.deepStrictEqual([yield* after(999), yield* after(1)], [0, 1])
    })
  )

  effectIt.effect("counts for each memory by itself", () =>
    Effect.gen(function* () {
      let calls = 0
      const bad = Policy.breaker(
        strategy("bad", () => {
          calls++
          throw new Error("no")
        }),
        { failures: 1 }
      )
      for (const memory of [yield* memoryOf(bad), yield* memoryOf(bad)]) {
        yield* memory.prepare(session(1))
        yield* memory.prepare(session(2))
      }
      assert.strictEqual(calls, 2)
    })
  )
})

describe("in the background", () => {
  /** A strategy whose answer comes when it is let go: it clips the results that it saw first. */
  const scene = Effect.gen(function* () {
    const gates: Array<Deferred.Deferred<void>> = []
    let [running, most] = [0, 0]
    const slow = strategy("slow", (view) =>
      Effect.gen(function* () {
        most = Math.max(most, ++running)
        const gate = yield* Deferred.make<void>()
        gates.push(gate)
        yield* Deferred.await(gate)
        running--
        return view.results.slice(0, 2).map((r) => Edit.replace(r.block, "[slow]"))
      })
    )
    const memory = yield* memoryOf(Policy.background(slow))
    const made = (messages: ReadonlyArray<Message>) =>
      (JSON.stringify(messages).match(/\[slow\]/g) ?? []).length
    return {
      memory,
      gates,
      most: () => most,
      running: () => running,
      release: (i: number) => Deferred.succeed(gates[i]!, undefined),
      ask: (history: ReadonlyArray<Message>) =>
        Effect.map(memory.prepare(history), ({ messages, report }) => ({
          made: made(messages),
          own: report.strategies[0]!
        })).pipe(Effect.tap(Effect.yieldNow))
    }
  })

  effectIt.effect("a request doesn't wait; what is proposed is handed in at a later one", () =>
    Effect.gen(function* () {
      const s = yield* scene
      for (let n = 3; n <= 6; n++) assert.strictEqual((yield* s.ask(session(n))).made, 0)
      assert.deepStrictEqual([s.gates.length, s.most()], [1, 1])
      yield* s.release(0)
      yield* s.memory.flush
      const { made, own } = yield* s.ask(session(7))
      assert.deepStrictEqual([made, own.accepted, own.refused.length], [2, 2, 0])
      // The next run starts with the request after that, from its own view.
      yield* s.ask(session(8))
      assert.deepStrictEqual([s.gates.length, s.most()], [2, 1])
      yield* s.release(1)
    })
  )

  effectIt.effect("what no longer stands is refused, the rest is taken", () =>
    Effect.gen(function* () {
      const s = yield* scene
      const history = session(5)
      yield* s.ask(history)
      yield* s.release(0)
      yield* s.memory.flush
      // The host has trimmed the first step meanwhile.
      const trimmed = [history[0]!, ...history.slice(3), ...session(7).slice(11)]
      const { made, own } = yield* s.ask(trimmed)
      assert.strictEqual(made, 1)
      assert.deepStrictEqual(
        own.refused.map((r) => r.why),
        ["no such block"]
      )
    })
  )

  effectIt.effect(
    "messages that came meanwhile stay behind what was made of those before them",
    () =>
      Effect.gen(function* () {
        const s = yield* scene
        yield* s.ask(session(3))
        yield* s.ask([...session(5), user("arrived meanwhile")])
        yield* s.release(0)
        yield* s.memory.flush
        const history = [...session(5), user("arrived meanwhile"), ...session(6).slice(11)]
        const { messages } = yield* s.memory.prepare(history)
        assert.strictEqual(messages.length, history.length)
        assert.deepStrictEqual(messages.slice(5), history.slice(5))
      })
  )

  effectIt.effect("flush waits for it", () =>
    Effect.gen(function* () {
      const s = yield* scene
      yield* s.ask(session(3))
      const flush = yield* Effect.forkChild(s.memory.flush)
      yield* TestClock.adjust(1000)
      assert.isUndefined(flush.pollUnsafe())
      yield* s.release(0)
      yield* Fiber.join(flush)
      assert.strictEqual(s.running(), 0)
    })
  )

  effectIt.effect("the end of the memory waits for it", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const s = yield* Scope.provide(scene, scope)
      yield* s.ask(session(3))
      const close = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual([close.pollUnsafe(), s.running()], [undefined, 1])
      yield* s.release(0)
      yield* Fiber.join(close)
      assert.strictEqual(s.running(), 0)
    })
  )

  effectIt.effect("a failure is reported at the request that would have had the answer", () =>
    Effect.gen(function* () {
      const memory = yield* memoryOf(Policy.background(broken))
      const errors: Array<string | undefined> = []
      for (let n = 1; n <= 4; n++) {
        const { report } = yield* memory.prepare(session(n))
        errors.push(report.strategies[0]!.error)
        yield* memory.flush
      }
      assert.deepStrictEqual(errors, [undefined, "Error: no", undefined, "Error: no"])
    })
  )

  effectIt.effect(
    "what hangs ends with its memory, which waits no longer than for a strategy",
    () =>
      Effect.gen(function* () {
        let ended = false
        const endless = make(
          "endless",
          Effect.succeed(() =>
            Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (ended = true)))
          )
        )
        const fiber = yield* Effect.forkChild(
          Effect.scoped(
            Effect.gen(function* () {
              const memory = yield* memoryOf(Policy.background(endless))
              yield* memory.prepare(session(2))
              yield* Effect.yieldNow
            })
          )
        )
        yield* TestClock.adjust(89_999)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        yield* Fiber.join(fiber)
        assert.isTrue(ended)
      })
  )
})

describe("a policy around a guard", () => {
  effectIt.effect("is a guard", () =>
    Effect.gen(function* () {
      const guard = hardLimit()
      for (const policy of [
        Policy.inOrder("g", guard),
        Policy.when(() => true, guard),
        Policy.until("g", () => false, guard),
        Policy.fallback(guard, guard),
        Policy.timeout(guard, 1000),
        Policy.breaker(guard),
        Policy.background(guard)
      ]) {
        assert.strictEqual(policy.guard, true)
      }
      assert.isUndefined(Policy.timeout(broken, 1).guard)
      yield* Effect.void
    })
  )
})

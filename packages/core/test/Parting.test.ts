import { assert, it as effectIt } from "@effect/vitest"
import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import * as Memory from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import type { Store } from "@varve/core/Store"
import { memoryStore } from "@varve/core/Store"
import { StoreError } from "@varve/core/VarveError"
import type { VarveEvent } from "@varve/core/VarveEvent"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it } from "vitest"
import { session } from "./fixtures/history.ts"
import { keepImages } from "./fixtures/memories.ts"

const { lifetime } = defaultProfile.cache
/** A time of our days, ms. */
const NOW = 1_790_000_000_000

const at = (messages: ReadonlyArray<Message>, timestamp: number): ReadonlyArray<Message> =>
  messages.map((message) => ({ ...message, timestamp }))

/** One request by a process of its own. */
const alone = (
  messages: ReadonlyArray<Message>,
  options: Memory.MemoryOptions,
  act: (memory: Memory.Memory) => Effect.Effect<unknown> = () => Effect.void
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const memory = yield* Memory.make({ pipeline: [keepImages(3)], ...options })
      const { report } = yield* memory.prepare(messages)
      yield* act(memory)
      return report
    })
  )

describe("a session that goes on in another process", () => {
  effectIt.effect("finds the cache cold once it has expired, and warm before that", () =>
    Effect.gen(function* () {
      for (const [gap, committed] of [
        [lifetime, 0],
        [lifetime + 1, 2]
      ] as const) {
        yield* TestClock.setTime(NOW)
        const options = { store: memoryStore() }
        const before = yield* alone(session(4), options)
        assert.strictEqual(before.commit.waiting, 1)
        yield* TestClock.setTime(NOW + gap)
        const { commit } = yield* alone(session(5), options)
        assert.deepStrictEqual([commit.committed, commit.waiting], [committed, 2 - committed])
        if (committed > 0) assert.strictEqual(commit.reason, "the cache is cold")
      }
    })
  )

  effectIt.effect(
    "goes by the time of the newest answer where the other one ended in the middle",
    () =>
      Effect.gen(function* () {
        for (const [gap, committed] of [
          [lifetime, 0],
          [lifetime + 1, 2]
        ] as const) {
          yield* TestClock.setTime(NOW)
          const inner = memoryStore()
          let isDead = false
          const store: Store = {
            ...inner,
            append: (key, lines) => (isDead ? Effect.void : inner.append(key, lines))
          }
          yield* alone(at(session(4), NOW), { store }, () =>
            Effect.sync(() => void (isDead = true))
          )
          yield* TestClock.setTime(NOW + gap)
          const { commit } = yield* alone(at(session(5), NOW), { store: inner })
          assert.deepStrictEqual([commit.committed, commit.waiting], [committed, 2 - committed])
        }
      })
  )

  effectIt.effect("goes by what was saved where an answer's time is still to come", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const options = { store: memoryStore() }
      const ahead = NOW + 100 * lifetime
      yield* alone(at(session(4), ahead), options)
      yield* TestClock.setTime(NOW + lifetime + 1)
      const { commit } = yield* alone(at(session(5), ahead), options)
      assert.strictEqual(commit.reason, "the cache is cold")
    })
  )

  effectIt.effect("knows what was reported behind the last request of the one before", () =>
    Effect.gen(function* () {
      const report = (memory: Memory.Memory) =>
        Effect.andThen(memory.usage({ input: 2 * tokens }), Effect.orDie(memory.flush))
      let tokens = 0
      const options = { pipeline: [hardLimit()], store: memoryStore(), commit: Commit.immediate }
      const first = yield* alone(session(4), options, (memory) => {
        tokens = 4000
        return report(memory)
      })
      const second = yield* alone(session(4), options)
      assert.isBelow(first.after.tokens, 7000)
      assert.deepInclude(second.after, { tokens: 8000, source: "usage" })
      // So does one that is forked from it before the answer.
      yield* Effect.scoped(
        Effect.gen(function* () {
          const memory = yield* Memory.make({ pipeline: [hardLimit()], commit: Commit.immediate })
          yield* memory.prepare(session(4))
          yield* memory.usage({ input: 8000 })
          const fork = yield* Memory.make({ pipeline: [] }, yield* memory.snapshot)
          const { report: forked } = yield* fork.prepare(session(4))
          assert.deepInclude(forked.after, { tokens: 8000, source: "usage" })
        })
      ).pipe(Effect.orDie)
      // It is written once, however often the memory is flushed.
      const stored = yield* options.store.load("agent/session")
      const lines = stored.entries.filter((line) => (line as { t: string }).t === "calibration")
      assert.strictEqual(lines.length, 1)
    })
  )
})

describe("usage that can't be that of all of a request", () => {
  it("is passed over with one warning, so that the limit holds", async () => {
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [hardLimit()],
      budget: { tokens: 8000 },
      onEvent: (event) => void events.push(event)
    })
    const plain = createMemory({ pipeline: [] })
    let largest = 0
    let seen = 0
    for (let n = 1; n <= 60; n++) {
      const { messages } = await memory.prepare(session(n, { images: 0, words: 200 }))
      const { report } = await plain.prepare(messages.slice())
      largest = Math.max(largest, report.after.tokens)
      // As a server reports that leaves out what its cache held.
      memory.usage({ input: Math.max(20, report.after.tokens - seen) })
      seen = report.after.tokens
    }
    expect(largest).toBeLessThanOrEqual(8000)
    const warnings = events.filter(({ type }) => type === "warning")
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).toMatch(
      /usage of \d+ tokens was reported for a request of about \d+/
    )
    await memory.close()
    await plain.close()
  })
})

describe("a store that gives nothing for a session that it doesn't have", () => {
  it.each([undefined, null, {}, []])("is an error that says so: %j", async (given) => {
    const store = { ...memoryStore(), load: () => Effect.succeed(given as never) }
    const memory = createMemory({ pipeline: [hardLimit()], store, budget: { tokens: 3000 } })
    const history = session(20, { words: 200 })
    const error: unknown = await memory.prepare(history).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StoreError)
    expect((error as StoreError).message).toMatch(
      /^The store gave .+ for agent\/session, not \{ entries \}/
    )
    // The hook of a host goes on without it, and what is sent fits.
    const sent = await memory.transformContext([...history])
    expect(sent.length).toBeLessThan(history.length)
  })
})

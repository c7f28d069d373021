import { requireData } from "@varve-examples/session-readers/Data"
import { session as recorded } from "@varve-examples/session-readers/Sessions"
import { assert, it as effectIt } from "@effect/vitest"
import type { CacheBreak } from "@varve/core/CacheBreak"
import * as Commit from "@varve/core/Commit"
import * as Edit from "@varve/core/Edit"
import * as Memory from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { strategy } from "@varve/core/Strategy"
import type { VarveEvent } from "@varve/core/VarveEvent"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { session } from "./fixtures/history.ts"

const profile = {
  ...defaultProfile,
  cache: { kind: "marks", minimum: 1024, lifetime: 300_000 }
} as const

const keep3 = strategy("keep3", (view) =>
  view.images.slice(0, -3).map((i) => Edit.replace(i.block, `[image ${i.ordinal}]`))
)

/** A memory whose cache breaks are collected. */
const watched = (options: Memory.MemoryOptions = {}) =>
  Effect.gen(function* () {
    const breaks: Array<CacheBreak> = []
    const onEvent = (event: VarveEvent) => {
      if (event.type !== "cache-break") return
      const { type: _, ...rest } = event
      breaks.push(rest)
    }
    const memory = yield* Memory.make({ pipeline: [], profile, onEvent, ...options })
    return { memory, breaks }
  })

const usage = (cacheRead: number, cacheWrite: number) => ({ input: 5, cacheRead, cacheWrite })

describe("a cache break", () => {
  effectIt.effect("is none where all that was cached is read again", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched()
      yield* memory.prepare(session(2))
      yield* memory.usage(usage(0, 9000))
      yield* memory.prepare(session(3))
      yield* memory.usage(usage(9000, 1600))
      yield* memory.prepare(session(4))
      // A little less is what steps and marks make of it.
      yield* memory.usage(usage(9700, 1600))
      assert.deepStrictEqual(breaks, [])
    })
  )

  effectIt.effect(
    "of nothing that changed is unknown within the lifetime, and expired behind it",
    () =>
      Effect.gen(function* () {
        const { memory, breaks } = yield* watched()
        yield* memory.prepare(session(2))
        yield* memory.usage(usage(0, 9000))
        yield* TestClock.adjust(300_000)
        yield* memory.prepare(session(3))
        yield* memory.usage(usage(0, 10_600))
        yield* TestClock.adjust(300_001)
        yield* memory.prepare(session(4))
        yield* memory.usage(usage(0, 12_200))
        assert.deepStrictEqual(breaks, [
          { expected: 9000, actual: 0, position: null, cause: "unknown" },
          { expected: 10_600, actual: 0, position: null, cause: "expired" }
        ])
      })
  )

  effectIt.effect("names the tools and the system text, by what they say", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched()
      const tools = () => [{ name: "click", description: "Clicks" }]
      const given = [
        { system: "Be brief.", tools: tools() },
        { system: "Be brief.", tools: tools() },
        { system: "Be brief.", tools: [...tools(), { name: "type" }] },
        { system: "Be long.", tools: [...tools(), { name: "type" }] }
      ]
      for (const [i, overhead] of given.entries()) {
        yield* memory.prepare(session(2 + i), overhead)
        yield* memory.usage(i < 2 ? usage(9000 * i, 9000) : usage(0, 20_000))
      }
      assert.deepStrictEqual(
        breaks.map(({ cause }) => cause),
        ["tools", "system"]
      )
    })
  )

  effectIt.effect("names tools and system text that the host wrote to, and counts them anew", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched()
      const tools: Array<{ name: string; description: string }> = [
        { name: "click", description: "Clicks" }
      ]
      const system = [{ type: "text", text: "Be brief." }]
      const tokens: Array<number> = []
      let requests = 0
      const request = () =>
        Effect.gen(function* () {
          const overhead = { system: system as never, tools }
          const { report } = yield* memory.prepare(session(2 + requests++, { images: 0 }), overhead)
          tokens.push(report.before.tokens)
          yield* memory.usage(requests === 1 ? usage(0, 20_000) : usage(0, 20_000 + requests))
        })
      yield* request()
      tools.push({ name: "type", description: "Types a text. ".repeat(400) })
      yield* request()
      tools[0]!.description = "Clicks where it is told to. ".repeat(400)
      yield* request()
      system[0]!.text = "Be long. ".repeat(400)
      yield* request()
      yield* request()
      assert.deepStrictEqual(
        breaks.map(({ cause }) => cause),
        ["tools", "tools", "system", "unknown"]
      )
      // Above what the provider says of the request before: a tool that is put in is seen at once, and what changed
      // inside of something since the last break.
      assert.deepStrictEqual(
        tokens.slice(1).map((n) => n - 20_000 > 1000),
        [true, true, true, false]
      )
    })
  )

  effectIt.effect("tells once of tools that the host wrote to", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched()
      const tools = [{ name: "click", description: "Clicks" }]
      for (let n = 1; n < 4; n++) {
        if (n === 2) tools[0]!.description = "Clicks once."
        if (n === 3) yield* TestClock.adjust(profile.cache.lifetime + 1)
        yield* memory.prepare(session(n), { tools })
        yield* memory.usage(usage(0, 20_000))
      }
      assert.deepStrictEqual(
        breaks.map(({ cause }) => cause),
        ["tools", "expired"]
      )
    })
  )

  effectIt.effect("is none of usage that is passed over", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched({ pipeline: [keep3] })
      for (let n = 8; n < 12; n++) {
        const { report } = yield* memory.prepare(session(n))
        assert.strictEqual(report.commit.committed, 0)
        const right = n === 8 ? usage(0, 20_000) : usage(n === 10 ? 20_000 : 21_000, 1000)
        yield* memory.usage(n === 9 ? { input: 30, cacheRead: 0 } : right)
      }
      assert.deepStrictEqual(breaks, [])
    })
  )

  effectIt.effect("names the host where its change came with an edit of ours", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched({ pipeline: [keep3], commit: Commit.immediate })
      yield* memory.prepare(session(6))
      yield* memory.usage(usage(0, 9000))
      const changed: ReadonlyArray<Message> = session(7).map((m, i) =>
        i === 3 ? { ...m, content: [{ type: "text", text: "other words" }] } : m
      )
      const { report } = yield* memory.prepare(changed)
      yield* memory.usage(usage(1000, 9000))
      assert.strictEqual(report.commit.committed, 1)
      assert.deepInclude(breaks[0]!, { cause: "host", position: 3 })
    })
  )

  effectIt.effect("names the tail where only that changed", () =>
    Effect.gen(function* () {
      const notes = strategy("notes", (view) => [
        Edit.memo("notes", `[${view.requests} so far]`, { cap: 100, tail: true })
      ])
      const { memory, breaks } = yield* watched({ pipeline: [notes] })
      for (let n = 2; n < 4; n++) {
        yield* memory.prepare(session(n))
        yield* memory.usage(usage(0, 9000 + 1600 * n))
      }
      assert.deepStrictEqual(
        breaks.map(({ cause, position }) => [cause, position]),
        [["tail", null]]
      )
    })
  )

  effectIt.effect("names the host where it changed an old message, and where", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched()
      yield* memory.prepare(session(4))
      yield* memory.usage(usage(0, 9000))
      const changed: ReadonlyArray<Message> = session(5).map((m, i) =>
        i === 3 ? { ...m, content: [{ type: "text", text: "other words" }] } : m
      )
      yield* memory.prepare(changed)
      yield* memory.usage(usage(2000, 9000))
      assert.strictEqual(breaks.length, 1)
      assert.deepInclude(breaks[0]!, { expected: 9000, actual: 2000, cause: "host" })
      assert.isNotNull(breaks[0]!.position)
      assert.isAtMost(breaks[0]!.position, 3)
    })
  )

  effectIt.effect("names an edit of ours, and the first message that it changed", () =>
    Effect.gen(function* () {
      const { memory, breaks } = yield* watched({ pipeline: [keep3], commit: Commit.immediate })
      yield* memory.prepare(session(3))
      yield* memory.usage(usage(0, 9000))
      const { messages } = yield* memory.prepare(session(4))
      yield* memory.usage(usage(3000, 7000))
      const position = messages.findIndex((m) => JSON.stringify(m).includes("[image 1]"))
      assert.deepStrictEqual(breaks, [{ expected: 9000, actual: 3000, position, cause: "edit" }])
    })
  )

  effectIt.effect("is none where a host reports zeros for what it doesn't know", () =>
    Effect.gen(function* () {
      const prefix = { ...profile, cache: { ...profile.cache, kind: "prefix" as const } }
      const { memory, breaks } = yield* watched({ profile: prefix, pipeline: [keep3] })
      for (let n = 2; n < 6; n++) {
        const { report } = yield* memory.prepare(session(n))
        assert.strictEqual(report.commit.committed, 0)
        yield* memory.usage({ input: 9000 * n, cacheRead: 0, cacheWrite: 0 })
      }
      assert.deepStrictEqual(breaks, [])
      // Once it reads, it is held to that: all of a request is cached without a fee.
      yield* memory.prepare(session(6))
      yield* memory.usage({ input: 1000, cacheRead: 50_000 })
      yield* memory.prepare(session(7))
      yield* memory.usage({ input: 53_000, cacheRead: 0 })
      assert.deepInclude(breaks[0]!, { expected: 51_000, actual: 0 })
    })
  )

  effectIt.effect("is not looked for where nobody reports reads, or nothing is cached", () =>
    Effect.gen(function* () {
      const none = { ...profile, cache: { ...profile.cache, kind: "none" as const } }
      for (const options of [{}, { profile: none }]) {
        const { memory, breaks } = yield* watched(options)
        yield* memory.prepare(session(2))
        yield* memory.usage(usage(0, 9000))
        yield* memory.prepare(session(3))
        yield* memory.usage(options.profile === undefined ? { input: 9000 } : usage(0, 9000))
        yield* memory.prepare(session(4))
        yield* memory.usage(usage(0, 9000))
        assert.deepStrictEqual(breaks, [])
      }
    })
  )
})

describe("edits that wait", () => {
  effectIt.effect("come into force once the provider shows that nothing is cached", () =>
    Effect.gen(function* () {
      for (const [write, committed] of [
        [0, 2],
        [9600, 0]
      ] as const) {
        const { memory } = yield* watched({ pipeline: [keep3] })
        yield* memory.prepare(session(3))
        yield* memory.usage({ input: 5, cacheRead: 0, cacheWrite: 9000 })
        yield* memory.prepare(session(4))
        yield* memory.usage({ input: 9600 - write, cacheRead: 0, cacheWrite: write })
        const { report } = yield* memory.prepare(session(5))
        assert.strictEqual(report.commit.committed, committed)
        if (committed > 0) assert.strictEqual(report.commit.reason, "the cache is cold")
      }
    })
  )
})

describe("a miss", () => {
  effectIt.effect(
    "of a cache that is written for nothing is no cold cache: all was cached again",
    () =>
      Effect.gen(function* () {
        const prefix = { ...profile, cache: { ...profile.cache, kind: "prefix" as const } }
        const { memory, breaks } = yield* watched({ profile: prefix, pipeline: [keep3] })
        yield* memory.prepare(session(3))
        yield* memory.usage({ input: 4000, cacheRead: 5000 })
        yield* memory.prepare(session(4))
        yield* memory.usage({ input: 10_600, cacheRead: 0 })
        const { report } = yield* memory.prepare(session(5))
        assert.strictEqual(breaks.length, 1)
        assert.strictEqual(report.commit.committed, 0)
      })
  )
})

const hasData = requireData("cache breaks, on a real session")

describe.skipIf(!hasData)("on a real pi session", () => {
  effectIt.effect("every miss is told, and nothing else is", () =>
    Effect.gen(function* () {
      const own = recorded("pi/large-session")
      const profile4k = { ...profile, contextWindow: 10_000_000 }
      const { memory, breaks } = yield* watched({ profile: profile4k })
      let cached = 0
      let clock = 0
      let missed = 0
      for (const { at, timestamp = 0, usage: billed } of own.requests) {
        if (billed === undefined || billed.input + billed.cacheRead + billed.cacheWrite === 0)
          continue
        if (clock > 0 && timestamp > clock) yield* TestClock.adjust(timestamp - clock)
        clock = Math.max(clock, timestamp)
        yield* memory.prepare(own.messages.slice(0, at))
        const told = breaks.length
        yield* memory.usage(billed)
        const isMiss = cached - billed.cacheRead > Math.max(1024, 0.05 * cached)
        assert.strictEqual(breaks.length - told, isMiss ? 1 : 0, `request at ${at}`)
        if (isMiss) missed++
        cached = billed.cacheRead + billed.cacheWrite
      }
      assert.isAbove(missed, 33)
      // Nobody touched the history: a miss is the time that went by, or not to be seen from here.
      assert.deepStrictEqual(
        breaks.filter(({ cause }) => cause !== "expired" && cause !== "unknown"),
        []
      )
      assert.isAbove(breaks.filter(({ cause }) => cause === "unknown").length, 30)
    })
  )
})

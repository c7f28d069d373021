import { assert, it as effectIt } from "@effect/vitest"
import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import * as Memory from "@varve/core/Memory"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import type { Store } from "@varve/core/Store"
import { memoryStore } from "@varve/core/Store"
import { make, strategy } from "@varve/core/Strategy"
import { beside } from "@varve/core/Beside"
import { ConfigError, NotAvailable, StoreError } from "@varve/core/VarveError"
import type { VarveEvent } from "@varve/core/VarveEvent"
import { checkValidity } from "@varve/core/Validity"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it } from "vitest"
import { read, session, step, task } from "./fixtures/history.ts"
import { listened } from "./fixtures/memories.ts"

const history = deepFreeze(session(6))

describe("what is no history", () => {
  for (const [name, given] of [
    ["nothing", undefined],
    ["null", null],
    ["a text", "Hello"],
    ["one message", { role: "user", content: "Hello" }]
  ] as const) {
    it(`${name} is refused with what was wrong, and changes nothing`, async () => {
      const memory = createMemory({})
      const { messages } = await memory.prepare(history)
      for (const call of [
        () => memory.prepare(given as never),
        () => memory.recover(new Error("prompt is too long"), given as never)
      ]) {
        await expect(call()).rejects.toBeInstanceOf(ConfigError)
        await expect(call()).rejects.toThrow("messages: got ")
      }
      expect(await memory.transformContext(given as never)).toBe(given)
      expect((await memory.prepare(history)).messages).toEqual(messages)
    })
  }

  it("an id that is none is not available", async () => {
    const memory = createMemory({})
    await memory.prepare(history)
    for (const id of [null, undefined, 7, {}, ""])
      await expect(memory.recall(id as never)).rejects.toBeInstanceOf(NotAvailable)
  })

  it("options that are none are refused", () => {
    for (const [options, path] of [
      [[hardLimit()], "options"],
      [{ pipeline: null }, "pipeline"],
      [{ agent: null }, "agent"],
      [{ session: null }, "session"]
    ] as const) {
      expect(() => createMemory(options as never)).toThrow(ConfigError)
      expect(() => createMemory(options as never)).toThrow(new RegExp(`^${path}`))
    }
  })
})

describe("a host's own functions", () => {
  it("that fail later, or give what they shouldn't, are told of and change nothing", async () => {
    const warnings: Array<string> = []
    const memory = createMemory({
      overhead: () => 5 as never,
      onEvent: async (event: VarveEvent) => {
        if (event.type === "warning") warnings.push(event.message)
        throw new Error("later")
      }
    })
    expect((await memory.prepare(history)).messages).toBe(history)
    expect(warnings).toEqual(["overhead gave 5, not { system, tools }"])
    const asynchronous = createMemory({
      overhead: (async () => ({ system: "s" })) as never,
      onEvent: (event) => void (event.type === "warning" && warnings.push(event.message))
    })
    await asynchronous.prepare(history)
    expect(warnings.at(-1)).toBe("overhead gave a promise, not { system, tools }")
    await new Promise((resolve) => setImmediate(resolve))
  })
})

describe("an aborted request", () => {
  it("rejects with the signal's reason, before and while it runs", async () => {
    const memory = createMemory({
      pipeline: [strategy("never", () => new Promise<never>(() => undefined))]
    })
    const before = AbortSignal.abort()
    await expect(memory.prepare(history, { signal: before })).rejects.toMatchObject({
      name: "AbortError"
    })
    const abort = new AbortController()
    const running = memory.prepare(history, { signal: abort.signal })
    const why = new Error("the user pressed stop")
    abort.abort(why)
    await expect(running).rejects.toBe(why)
  })
})

describe("a fork", () => {
  it("never takes the place of a session that is there", async () => {
    const store = memoryStore()
    const other = createMemory({ store, session: "kept" })
    other.steps.begin({ id: "s1", goal: "of the kept one" })
    await other.close()
    const memory = createMemory({ store, session: "first" })
    memory.steps.begin({ id: "s2", goal: "of the first one" })
    await memory.prepare(history)
    await expect(memory.fork("kept")).rejects.toMatchObject({
      _tag: "StoreError",
      reason: "exists"
    })
    await expect(memory.fork("first")).rejects.toMatchObject({ reason: "exists" })
    const { entries } = await Effect.runPromise(store.load("agent/kept"))
    expect(JSON.stringify(entries)).toContain("of the kept one")
    const fork = await memory.fork("new")
    expect((await fork.prepare(history)).messages).toHaveLength(history.length)
  })
})

describe("a store that can't be read", () => {
  const unreadable: Store = {
    ...memoryStore(),
    load: (key) => Effect.fail(new StoreError("read", key, "no such disk"))
  }

  it("still lets the hook send what fits; nothing of that is saved", async () => {
    const given: MemoryOptions = { budget: { tokens: 3000 }, pipeline: [hardLimit()] }
    const memory = listened({ ...given, store: unreadable })
    const calm = createMemory(given)
    const long: Array<Message> = [task]
    for (let i = 1; i <= 20; i++) {
      long.push(...step(i, { words: 100 }))
      const sent = await memory.transformContext(long.slice())
      expect(sent).toEqual(await calm.transformContext(long.slice()))
      expect(checkValidity(sent)).toEqual([])
    }
    expect(read(await memory.transformContext(long)).length).toBeLessThan(read(long).length)
    expect(memory.events.some((e) => e.type === "failed")).toBe(true)
    await expect(memory.prepare(long)).rejects.toBeInstanceOf(StoreError)
  })

  it("is asked again at each request, and used once it can be read", async () => {
    let broken = true
    const real = memoryStore()
    const earlier = createMemory({ store: real })
    earlier.steps.begin({ id: "s1", goal: "of the earlier run" })
    await earlier.close()
    const memory = createMemory({
      store: {
        ...real,
        load: (key) =>
          broken ? Effect.fail(new StoreError("read", key, "no such disk")) : real.load(key)
      }
    })
    await memory.transformContext([...history])
    broken = false
    await memory.transformContext([...history])
    await memory.flush()
    expect(JSON.stringify((await Effect.runPromise(real.load("agent/session"))).entries)).toContain(
      "of the earlier run"
    )
  })
})

describe("what hangs", () => {
  const hanging = (part: "load" | "append"): Store => ({
    ...memoryStore(),
    [part]: () => Effect.never
  })

  /** A memory for a while; closing it may take until its stores are given up. */
  const during = <A, E>(
    options: MemoryOptions,
    use: (memory: Memory.Memory) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const memory = yield* Effect.provideService(Memory.make(options), Scope.Scope, scope)
      yield* use(memory)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(120_000)
      yield* Fiber.join(closing)
    })

  effectIt.effect("a store that never loads is an error after 30 s, and is asked again", () =>
    during(
      { store: hanging("load") },
      Effect.fnUntraced(function* (memory) {
        for (let i = 0; i < 2; i++) {
          const fiber = yield* Effect.forkChild(Effect.flip(memory.prepare(history)))
          yield* TestClock.adjust(29_999)
          assert.isUndefined(fiber.pollUnsafe())
          yield* TestClock.adjust(1)
          const error = yield* Fiber.join(fiber)
          assert.strictEqual(error._tag, "StoreError")
          assert.include(error.message, "no answer within 30000 ms")
        }
      })
    )
  )

  effectIt.effect("a store that never writes holds a request up for 30 s at most", () =>
    Effect.suspend(() => {
      const warnings: Array<string> = []
      const onEvent: MemoryOptions["onEvent"] = (e) => {
        if (e.type === "warning") warnings.push(e.message)
      }
      return during(
        { store: hanging("append"), pipeline: [hardLimit()], budget: { tokens: 500 }, onEvent },
        Effect.fnUntraced(function* (memory) {
          const fiber = yield* Effect.forkChild(memory.prepare(history))
          yield* TestClock.adjust(30_000)
          const { messages } = yield* Fiber.join(fiber)
          assert.isAbove(messages.length, 0)
          assert.include(warnings.join(), "not saved yet")
        })
      )
    })
  )

  effectIt.effect(
    "work beside the agent holds up flush() and close() no longer than a strategy",
    () =>
      Effect.gen(function* () {
        const store = memoryStore()
        const endless = make(
          "endless",
          Effect.map(beside, (fork) => () => Effect.as(fork(Effect.never), []))
        )
        yield* during(
          { store, pipeline: [endless], strategyTimeout: 1000 },
          Effect.fnUntraced(function* (memory) {
            yield* memory.prepare(history)
            yield* memory.steps.begin({ id: "s1", goal: "to be saved" })
            const fiber = yield* Effect.forkChild(memory.flush)
            yield* TestClock.adjust(999)
            assert.isUndefined(fiber.pollUnsafe())
            yield* TestClock.adjust(1)
            yield* Fiber.join(fiber)
            const { entries } = yield* store.load("agent/session")
            assert.include(JSON.stringify(entries), "to be saved")
          })
        )
      })
  )
})

import { describe, expect, it } from "@effect/vitest"
import type { Memory, Message } from "@varve/core"
import { estimateCounter } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { work } from "../src/Agent.ts"
import { AgentMemory } from "../src/AgentMemory.ts"
import { Chat, ChatError } from "../src/Chat.ts"
import { Sessions } from "../src/Sessions.ts"

const task: ReadonlyArray<Message> = Object.freeze([
  Object.freeze({ role: "user" as const, content: "Find the invoices that are open." })
])

const text = (messages: ReadonlyArray<Message>) => JSON.stringify(messages)

describe("memory as a service", () => {
  it.effect(
    "what the model got is valid and fits; its summary comes from the model's layer",
    () => {
      const requests: Array<ReadonlyArray<Message>> = []
      return Effect.gen(function* () {
        const history = yield* work(task)
        expect(history).toHaveLength(61)
        expect(requests).toHaveLength(31)
        for (const messages of requests) {
          expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
          expect(estimateCounter().request({ messages }).tokens).toBeLessThanOrEqual(2500)
        }
        expect(text(requests.at(-1)!)).toMatch(/Read up to Page \d+: all paid\./)
        expect(text(requests.at(-1)!)).toContain("[Step memory:")
      }).pipe(
        Effect.provide(AgentMemory.layer("one")),
        Effect.provide(
          Layer.merge(
            Chat.scripted(30, { onRequest: (messages) => requests.push([...messages]) }),
            Sessions.inMemory
          )
        )
      )
    }
  )

  it.effect("a session goes on in a new scope, from the store that both layers share", () => {
    const requests: Array<ReadonlyArray<Message>> = []
    return Effect.gen(function* () {
      const history = yield* Effect.provide(work(task), AgentMemory.layer("one"))
      const prepared = AgentMemory.pipe(
        Effect.flatMap((memory: Memory.Memory) => memory.prepare(history)),
        Effect.map(({ messages }) => messages)
      )
      const same = yield* Effect.provide(prepared, AgentMemory.layer("one"))
      expect(text(same)).toBe(text(requests.at(-1)!))
      const other = yield* Effect.provide(prepared, AgentMemory.layer("two"))
      expect(text(other)).not.toBe(text(same))
    }).pipe(
      Effect.provide(Chat.scripted(30, { onRequest: (messages) => requests.push([...messages]) })),
      Effect.provide(Sessions.inMemory)
    )
  })

  it.effect("the same with the folder's layer in the place of the other", () => {
    const folder = mkdtempSync(join(tmpdir(), "varve-effect-"))
    return Effect.gen(function* () {
      yield* Effect.provide(work(task), AgentMemory.layer("one"))
      expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(0)
    }).pipe(
      Effect.provide(Chat.scripted(5)),
      Effect.provide(Sessions.inFolder(folder)),
      Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true })))
    )
  })

  it.effect(
    "after the scope, a call fails with MemoryClosed; an oversized task with ContextOverflow",
    () =>
      Effect.gen(function* () {
        const large: ReadonlyArray<Message> = [{ role: "user", content: "word ".repeat(10_000) }]
        const memory = yield* Effect.provide(
          Effect.gen(function* () {
            const memory = yield* AgentMemory
            const { need } = yield* memory.prepare(large).pipe(
              Effect.as({ need: 0 }),
              Effect.catchTag("ContextOverflow", () => Effect.succeed({ need: 1 }))
            )
            expect(need).toBe(1)
            return memory
          }),
          AgentMemory.layer("one")
        )
        const error = yield* Effect.flip(memory.prepare(task))
        expect(error._tag).toBe("MemoryClosed")
      }).pipe(Effect.provide(Layer.merge(Chat.scripted(0), Sessions.inMemory)))
  )

  it.effect(
    "interruption of a request reaches the summary that it waits for; the memory goes on",
    () =>
      Effect.gen(function* () {
        const asked = yield* Deferred.make<void>()
        const ended = yield* Deferred.make<void>()
        const summary = Deferred.succeed(asked, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
        )
        yield* Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(work(task))
          yield* TestClock.adjust("1 second")
          yield* Deferred.await(asked)
          yield* Fiber.interrupt(fiber)
          yield* Deferred.await(ended)
          const memory = yield* AgentMemory
          const { messages } = yield* memory.prepare(task)
          expect(messages.at(0)).toBe(task[0])
        }).pipe(
          Effect.provide(AgentMemory.layer("one")),
          Effect.provide(Layer.merge(Chat.scripted(30, { summary }), Sessions.inMemory))
        )
      })
  )

  it.effect("a model that fails, or that never answers, costs the summary and not the run", () =>
    Effect.gen(function* () {
      const run = (summary: Effect.Effect<void, ChatError>) =>
        work(task).pipe(
          Effect.provide(AgentMemory.layer("one")),
          Effect.provide(Layer.merge(Chat.scripted(20, { summary }), Sessions.inMemory))
        )
      const failed = yield* run(Effect.fail(new ChatError({ message: "no model today" })))
      expect(failed).toHaveLength(41)
      const fiber = yield* Effect.forkChild(run(Effect.never))
      yield* TestClock.adjust("1 hour")
      expect(yield* Fiber.join(fiber)).toHaveLength(41)
    })
  )
})

it("runs offline and says what each part shows", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "../src/main.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  expect(stderr).toBe("")
  expect(stdout.trim().split("\n")).toEqual([
    expect.stringMatching(/^history 61 messages, last request \d\d$/),
    expect.stringMatching(/^the same session in a new scope: \d\d messages, \d+ edits$/),
    "the memory is closed with its scope",
    "a request was given up, and the summary that it waited for with it",
    expect.stringMatching(/^and the next request is prepared: \d messages$/)
  ])
}, 30_000)

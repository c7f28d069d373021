import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { estimateCounter } from "../src/Counter.ts"
import { hardLimit } from "../src/HardLimit.ts"
import * as Memory from "../src/Memory.ts"
import type { Message } from "../src/Message.ts"
import { textOf } from "../src/Message.ts"
import type { Explanation } from "../src/Report.ts"
import type { Step } from "../src/StepLog.ts"
import { stepMemory } from "../src/StepMemory.ts"
import type { Store } from "../src/Store.ts"
import { memoryStore } from "../src/Store.ts"
import type { Summarizer } from "../src/Summarizer.ts"
import { checkValidity } from "../src/Validity.ts"
import { session, task } from "./fixtures/history.ts"

const STEPS = 13
const LIMIT = 3500
const counter = estimateCounter()
const whole = session(STEPS, { images: 0, words: 220 })
const history = (steps: number): ReadonlyArray<Message> => whole.slice(0, 1 + 2 * steps)

/** A process: everything in it stands still for ever at the await at which it is killed. */
class Process {
  awaits = 0
  readonly #killAt: number
  readonly died = Deferred.makeUnsafe<void>()
  readonly names: Array<string> = []

  constructor(killAt = Infinity) {
    this.#killAt = killAt
  }

  /** An await: others run meanwhile, or the process ends here. */
  at(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.awaits >= this.#killAt) return Effect.callback<void>(() => undefined)
      this.names.push(name)
      if (++this.awaits < this.#killAt) return Effect.yieldNow
      return Effect.andThen(
        Deferred.succeed(this.died, undefined),
        Effect.callback<void>(() => undefined)
      )
    })
  }
}

const storeIn = (process: Process, inner: Store): Store => ({
  load: (key) => Effect.andThen(process.at("store.load"), inner.load(key)),
  append: (key, entries) =>
    Effect.andThen(process.at("store.append"), inner.append(key, entries)).pipe(
      Effect.tap(process.at("store.append resolves"))
    ),
  replace: (key, entries) =>
    Effect.andThen(process.at("store.replace"), inner.replace(key, entries)).pipe(
      Effect.tap(process.at("store.replace resolves"))
    )
})

/** What the model was told of, in all processes. */
type Told = Set<string>

const summarizerIn =
  (process: Process, told: Told): Summarizer =>
  (request) =>
    Effect.gen(function* () {
      yield* process.at("summarizer begins")
      for (const { from } of request.material) told.add(from)
      yield* process.at("summarizer resolves")
      const { length } = request.material
      const before = /(\d+) pieces/.exec(request.previous ?? "")?.[1] ?? "0"
      return { text: `Of ${Number(before) + length} pieces.`, stopReason: "stop" }
    })

/** What a process has said to be so. */
interface Said {
  steps: ReadonlyArray<Step>
  edits: ReadonlyArray<Explanation>
  /** Steps whose messages were in the last request that was prepared. */
  length: number
  /** True once a request held a summary. */
  summary: boolean
}

const isValid = (messages: ReadonlyArray<Message>): void => {
  expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
  expect(messages[0]).toBe(task)
  expect(messages.reduce((sum, m) => sum + counter.message(m), 0)).toBeLessThanOrEqual(LIMIT)
}

const summaryIn = (messages: ReadonlyArray<Message>): string | undefined =>
  messages.map(textOf).find((text) => text.startsWith("<summary so far"))

/** Runs a session on from where the log of its steps is; gives the last request. */
const run = (process: Process, inner: Store, told: Told, said: Said) =>
  Effect.gen(function* () {
    const summarizer = summarizerIn(process, told)
    const memory = yield* Effect.provideService(
      Memory.make({
        store: storeIn(process, inner),
        budget: { tokens: LIMIT },
        commit: Commit.immediate,
        pipeline: [
          conversationSummary({ summarizer, soft: 0.5, hard: 0.8 }),
          stepMemory({ summarizer, recentTokens: 40 }),
          hardLimit()
        ]
      }),
      Scope.Scope,
      Scope.makeUnsafe()
    )
    const prepare = (length: number) =>
      Effect.gen(function* () {
        const { messages } = yield* memory.prepare(history(length))
        yield* process.at("prepare resolves")
        isValid(messages)
        const edits = (yield* memory.explain()).filter((e) => e.state === "in force")
        Object.assign(said, {
          edits,
          length,
          summary: said.summary || summaryIn(messages) !== undefined
        })
        return messages
      })
    const tell = (call: Effect.Effect<void>, name: string) =>
      Effect.gen(function* () {
        yield* call
        yield* process.at(`${name} resolves`)
        said.steps = yield* memory.steps.list
      })
    yield* memory.flush
    const found = { steps: yield* memory.steps.list, edits: yield* memory.explain() }
    expectKept(said, found)
    let messages: ReadonlyArray<Message> = yield* prepare(said.length)
    if (said.summary) expect(summaryIn(messages)).toMatch(/Of \d+ pieces|Assistant|tool/i)
    for (let i = 1; i <= STEPS; i++) {
      const id = `s${i}`
      const step = found.steps[i - 1]
      const begun = { id, goal: `goal ${i}`, callId: `c${i}` }
      if (step === undefined) yield* tell(memory.steps.begin(begun), "steps.begin")
      if (step === undefined || step.status === "pending") {
        const outcome = i % 5 === 0 ? "failed" : "success"
        yield* tell(memory.steps.finish({ id, callId: `c${i}`, outcome }), "steps.finish")
      }
      if (i > said.length) messages = yield* prepare(i)
      if (i % 4 === 0) yield* memory.flush
    }
    return { messages, memo: yield* memory.compose, steps: yield* memory.steps.list }
  })

/** What was said is still so: all steps as they were, and every edit that was in force, or one in its place. */
const expectKept = (said: Said, found: Pick<Said, "steps" | "edits">): void => {
  for (const [i, step] of said.steps.entries()) {
    const now = found.steps[i]
    expect(now?.id).toBe(step.id)
    if (step.status !== "pending") expect(now).toEqual(step)
  }
  const now = new Set(found.edits.map(({ id, kind }) => `${kind} ${id}`))
  for (const { id, kind } of said.edits) expect(now).toContain(`${kind} ${id}`)
}

const nothing = (): Said => ({ steps: [], edits: [], length: 0, summary: false })

it(
  "a process that is killed at any await loses no step, no edit in force and no summary",
  { timeout: 120_000 },
  async () => {
    const alive = new Process()
    await Effect.runPromise(run(alive, memoryStore(), new Set(), nothing()))
    // Each kind of await is among those at which it is killed.
    expect([...new Set(alive.names)].sort()).toEqual([
      "prepare resolves",
      "steps.begin resolves",
      "steps.finish resolves",
      "store.append",
      "store.append resolves",
      "store.load",
      "summarizer begins",
      "summarizer resolves"
    ])
    for (let killAt = 1; killAt <= alive.awaits; killAt++) {
      const process = new Process(killAt)
      const store = memoryStore()
      const told: Told = new Set()
      const said = nothing()
      await Effect.runPromise(
        Effect.raceFirst(
          Effect.asVoid(run(process, store, told, said)),
          Effect.uninterruptible(Deferred.await(process.died))
        )
      )
      const { memo, messages, steps } = await Effect.runPromise(
        run(new Process(), store, told, said)
      )
      const where = `killed at await ${killAt}, ${process.names.at(-1)}`
      expect(
        steps.map(({ id, status }) => [id, status]),
        where
      ).toEqual(
        Array.from({ length: STEPS }, (_, i) => [
          `s${i + 1}`,
          (i + 1) % 5 === 0 ? "failed" : "success"
        ])
      )
      expect(summaryIn(messages), where).toContain("pieces.")
      // Each step was told to the model or stands in the memory's text.
      for (let i = 1; i <= STEPS; i++) {
        expect(told.has(`step ${i}`) || memo.includes(`step ${i}: `), `${where}: step ${i}`).toBe(
          true
        )
      }
    }
  }
)

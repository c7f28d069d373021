/** Memory as an Effect service: layers, scopes, interruption. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import type { Message } from "@varve/core"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { work } from "./Agent.ts"
import { AgentMemory } from "./AgentMemory.ts"
import { Chat } from "./Chat.ts"
import { Sessions } from "./Sessions.ts"

const task: ReadonlyArray<Message> = [{ role: "user", content: "Find the invoices that are open." }]
const sent: Array<number> = []
const program = Effect.gen(function* () {
  // One scope for each session; the store and the model outlive both.
  const history = yield* Effect.provide(work(task), AgentMemory.layer("invoices"))
  console.log(`history ${history.length} messages, last request ${sent.at(-1)}`)

  const again = Effect.gen(function* () {
    const memory = yield* AgentMemory
    const { messages } = yield* memory.prepare(history)
    const edits = yield* memory.explain()
    console.log(
      `the same session in a new scope: ${messages.length} messages, ${edits.length} edits`
    )
    return memory
  })
  const closed = yield* Effect.provide(again, AgentMemory.layer("invoices"))

  // The scope is over, and the type says what a call may fail with.
  const late = closed.prepare(history).pipe(
    Effect.as("prepared"),
    Effect.catchTag("MemoryClosed", () => Effect.succeed("the memory is closed with its scope"))
  )
  console.log(yield* Effect.orDie(late))
})

/** A request that waits for a summary is given up; what it started ends with it, and the memory goes on. */
const givenUp = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<void>()
  const summary = Effect.sleep("10 millis").pipe(
    Effect.andThen(Deferred.succeed(asked, undefined)),
    Effect.andThen(Effect.never),
    Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
  )
  yield* Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(work(task))
    yield* Deferred.await(asked)
    yield* Fiber.interrupt(fiber)
    yield* Deferred.await(ended)
    console.log("a request was given up, and the summary that it waited for with it")
    const memory = yield* AgentMemory
    const { messages } = yield* memory.prepare(task)
    console.log(`and the next request is prepared: ${messages.length} messages`)
  }).pipe(
    Effect.provide(AgentMemory.layer("given-up")),
    Effect.provide(Chat.scripted(30, { summary }))
  )
})

await Effect.runPromise(
  program.pipe(
    Effect.provide(Chat.scripted(30, { onRequest: (messages) => sent.push(messages.length) })),
    Effect.andThen(givenUp),
    Effect.provide(Sessions.inMemory)
  )
)

import type { Proposal } from "@varve/core/Edit"
import type { Store } from "@varve/core/Store"
import type { Strategy } from "@varve/core/Strategy"
import { make } from "@varve/core/Strategy"
import { StoreError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"

/** What goes wrong at one request. */
export type FaultKind =
  /** An exception that nobody typed. */
  | "throw"
  /** A typed failure. */
  | "fail"
  /** No answer, ever. Give the memory a short `strategyTimeout`. */
  | "hang"
  /** An answer of a wrong shape. */
  | "garbage"
  /** The right answer, 20 ms late. */
  | "slow"

/** All kinds, for tables and arbitraries. */
export const faultKinds: ReadonlyArray<FaultKind> = ["throw", "fail", "hang", "garbage", "slow"]

const GARBAGE: ReadonlyArray<unknown> = [
  { edits: "not a list" },
  { edits: [null, 7, { kind: "replace" }], reason: "odd" },
  {
    edits: [{ kind: "fold", id: "x", items: ["nothing"], text: " ", basis: "nothing" }],
    reason: "odd"
  }
]

const injected = (): Error => new Error("injected by the testkit")

/**
 * A strategy that goes wrong by a script, one entry a request; `undefined` stands for a request at which it
 * works, and so does all behind the end. Each memory starts at the first entry.
 *
 * @example
 * ```ts
 * import { createMemory, hardLimit, stepMemory } from "@varve/core"
 * import { faulty } from "@varve/testkit/Faults"
 *
 * const memory = createMemory({ pipeline: [faulty(stepMemory(), ["throw"]), hardLimit()] })
 * const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
 * console.log(report.strategies[0]?.error) // => Error: injected by the testkit
 * ```
 */
export const faulty = (
  strategy: Strategy,
  script: ReadonlyArray<FaultKind | undefined>
): Strategy =>
  make(
    strategy.name,
    Effect.map(strategy.start, (propose) => {
      let request = 0
      return (view) =>
        Effect.suspend((): Effect.Effect<ReadonlyArray<Proposal>, unknown> => {
          switch (script[request++]) {
            case "throw":
              throw injected()
            case "fail":
              return Effect.fail(injected())
            case "hang":
              return Effect.never
            case "garbage":
              return Effect.succeed(GARBAGE as ReadonlyArray<Proposal>)
            case "slow":
              return Effect.delay(propose(view), 20)
            case undefined:
              return propose(view)
          }
        })
    }),
    strategy.guard === true ? { guard: true } : {}
  )

/**
 * A store that refuses to write at some appends, one entry each; what it refuses is not kept.
 *
 * @example
 * ```ts
 * import { memoryStore } from "@varve/core"
 * import { faultyStore } from "@varve/testkit/Faults"
 * import * as Effect from "effect/Effect"
 *
 * const store = faultyStore(memoryStore(), ["fail"])
 * console.log((await Effect.runPromise(Effect.result(store.append("a/s", []))))._tag) // => Failure
 * console.log((await Effect.runPromise(Effect.result(store.append("a/s", []))))._tag) // => Success
 * ```
 */
export const faultyStore = (
  store: Store,
  script: ReadonlyArray<"fail" | "throw" | undefined>
): Store => {
  let writes = 0
  return {
    ...store,
    append: (key, entries) =>
      Effect.suspend(() => {
        const fault = script[writes++]
        if (fault === "throw") throw injected()
        return fault === "fail"
          ? Effect.fail(new StoreError("write", key, "injected by the testkit"))
          : store.append(key, entries)
      })
  }
}

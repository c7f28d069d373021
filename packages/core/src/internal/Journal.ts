import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import type { Restored, Saved } from "../Ledger.ts"
import { restore, SAVED_VERSION } from "../Ledger.ts"
import type { StepLog } from "../StepLog.ts"
import type { Loaded, Store } from "../Store.ts"
import { noStore } from "../Store.ts"
import type { StoreReason } from "../VarveError.ts"
import { show, StoreError } from "../VarveError.ts"
import { errorText } from "./box.ts"

const HEAD: Saved = { t: "varve", version: SAVED_VERSION }

/** A journal is written anew once so many of its lines are needed no more, and a quarter of those that are. */
const COMPACT_FROM = 1000

/** Longest that a store may take, ms: a request must not hang on it. */
const STORE_TIMEOUT = 30_000

/** Waits for a store no longer than that. One that answers at once costs no timer. */
const within = <A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(answer, { startImmediately: true })
    const exit =
      fiber.pollUnsafe() ??
      (yield* Fiber.await(fiber).pipe(
        Effect.timeoutOrElse({
          duration: STORE_TIMEOUT,
          orElse: () =>
            Effect.andThen(
              Effect.forkDetach(Fiber.interrupt(fiber)),
              Effect.die(new Error(`no answer within ${STORE_TIMEOUT} ms`))
            )
        }),
        Effect.onInterrupt(() => Fiber.interrupt(fiber))
      ))
    return yield* exit
  })

/** A session's lines on their way into the store: in order, none twice, none lost where a write fails. */
export class Journal {
  readonly #store: Store
  readonly #key: string
  readonly #writing = Semaphore.makeUnsafe(1)
  #waiting: ReadonlyArray<Saved> = []
  /** True while lines are on their way into the store. */
  #isWriting = false
  /** Lines in the store. */
  #stored = 0

  constructor(store: Store, key: string) {
    this.#store = store
    this.#key = key
  }

  /** Asks the store; one that throws has failed like any other. */
  #asked<A>(
    reason: StoreReason,
    ask: (store: Store) => Effect.Effect<A, StoreError>
  ): Effect.Effect<A, StoreError> {
    const answer = Effect.suspend((): Effect.Effect<A, StoreError> => {
      const given: unknown = ask(this.#store)
      // A store of the host's own may give promises.
      return Effect.isEffect(given)
        ? (given as Effect.Effect<A, StoreError>)
        : Effect.promise(() => Promise.resolve(given as A))
    })
    return within(answer).pipe(
      Effect.catchDefect((defect) => {
        const message = `Could not ${reason} ${this.#key}: ${errorText(defect)}`
        return Effect.fail(new StoreError(reason, this.#key, message, defect))
      })
    )
  }

  get load(): Effect.Effect<Loaded, StoreError> {
    const loaded = this.#asked("read", (store) => store.load(this.#key))
    return Effect.flatMap(loaded, (given) => {
      if (Array.isArray((given as Loaded | undefined | null)?.entries)) {
        this.#stored = given.entries.length
        return Effect.succeed(given)
      }
      const message = `The store gave ${show(given)} for ${this.#key}, not { entries }; of what it doesn't have, entries is [].`
      return Effect.fail(new StoreError("read", this.#key, message, given))
    })
  }

  /** Begins a session with these lines; where one of this name is stored, that stays as it is. */
  begin(lines: ReadonlyArray<Saved>): Effect.Effect<void, StoreError> {
    return Effect.flatMap(this.load, ({ entries }) => {
      if (entries.length === 0) return this.replace(lines)
      const message = `The store has a session ${this.#key}: fork under another name, or open that one.`
      return Effect.fail(new StoreError("exists", this.#key, message))
    })
  }

  /** Puts these lines in the place of all that is stored. */
  replace(lines: ReadonlyArray<Saved>): Effect.Effect<void, StoreError> {
    return this.#writing.withPermit(
      Effect.tap(
        this.#asked("write", (store) => store.replace(this.#key, lines)),
        () =>
          Effect.sync(() => {
            this.#waiting = []
            this.#stored = lines.length
          })
      )
    )
  }

  /**
   * Appends lines. `whole` gives the shortest journal of the same state, and `needed` about how many lines that
   * has: once the stored one has grown far beyond, it takes its place. What was given before is stored too once
   * this returns.
   */
  write(
    lines: ReadonlyArray<Saved>,
    whole: () => ReadonlyArray<Saved>,
    needed: number
  ): Effect.Effect<void, StoreError> {
    if (this.#store === noStore) return Effect.void
    this.#waiting = this.#waiting.length === 0 ? lines : [...this.#waiting, ...lines]
    if (this.#waiting.length === 0 && !this.#isWriting) return Effect.void
    return this.#writing.withPermit(
      Effect.suspend(() => {
        const now = this.#waiting
        if (now.length === 0) return Effect.void
        this.#waiting = []
        const compact = this.#stored - needed > Math.max(COMPACT_FROM, needed / 4)
        const journal = compact ? whole() : this.#stored === 0 ? [HEAD, ...now] : now
        this.#isWriting = true
        const written = this.#asked("write", (store) =>
          compact ? store.replace(this.#key, journal) : store.append(this.#key, journal)
        )
        return Effect.onExit(written, (exit) =>
          Effect.sync(() => {
            this.#isWriting = false
            if (exit._tag === "Failure") this.#waiting = [...now, ...this.#waiting]
            else this.#stored = journal.length + (compact ? 0 : this.#stored)
          })
        )
      })
    )
  }
}

/** Reads a journal back; what is not ours is a `StoreError`. */
export const restoring = (
  key: string,
  entries: ReadonlyArray<unknown>,
  steps: StepLog
): Effect.Effect<Restored, StoreError> =>
  Effect.try({
    try: () => restore(key, entries, steps),
    catch: (error) =>
      error instanceof StoreError ? error : new StoreError("corrupt", key, errorText(error), error)
  })

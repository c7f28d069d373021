import * as Effect from "effect/Effect"
import { StoreError } from "./VarveError.ts"

/** What a store gave back. */
export interface Loaded {
  readonly entries: ReadonlyArray<unknown>
  /** What had to be cut off, in one sentence, where the end was damaged. */
  readonly cut?: string
}

/**
 * Keeps the journals of sessions: lists of JSON values by key (`agent/session`).
 * An append is on disk, or fails, before it returns.
 */
export interface Store {
  readonly load: (key: string) => Effect.Effect<Loaded, StoreError>
  readonly append: (key: string, entries: ReadonlyArray<unknown>) => Effect.Effect<void, StoreError>
  /** Puts a compacted journal in the place of the old one, all or nothing. */
  readonly replace: (
    key: string,
    entries: ReadonlyArray<unknown>
  ) => Effect.Effect<void, StoreError>
}

/**
 * A store in the process's memory. Entries are kept as JSON text, as any other store would give them back.
 *
 * @example
 * ```ts
 * import { memoryStore } from "@varve/core/Store"
 * import * as Effect from "effect/Effect"
 *
 * const store = memoryStore()
 * await Effect.runPromise(store.append("agent/session", [{ t: "varve", version: 1 }]))
 * const { entries } = await Effect.runPromise(store.load("agent/session"))
 * console.log(entries.length) // => 1
 * ```
 */
export const memoryStore = (): Store => {
  const journals = new Map<string, Array<string>>()
  const write = (key: string, journal: Array<string>, entries: ReadonlyArray<unknown>) =>
    Effect.try({
      try: () => {
        const lines = entries.map((entry) => JSON.stringify(entry))
        for (const line of lines) journal.push(line)
        journals.set(key, journal)
      },
      catch: (cause) => new StoreError("write", key, `An entry of ${key} is no JSON.`, cause)
    })
  return {
    load: (key) =>
      Effect.sync(() => ({
        entries: (journals.get(key) ?? []).map((line): unknown => JSON.parse(line))
      })),
    append: (key, entries) => Effect.suspend(() => write(key, journals.get(key) ?? [], entries)),
    replace: (key, entries) => Effect.suspend(() => write(key, [], entries))
  }
}

/** Keeps nothing: for a session that ends with its process. */
export const noStore: Store = {
  load: () => Effect.succeed({ entries: [] }),
  append: () => Effect.void,
  replace: () => Effect.void
}

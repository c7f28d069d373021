import * as Context from "effect/Context"
import type { ItemId } from "./Edit.ts"

/** A fold that a model would have to be called for. */
export interface FoldAhead {
  /** The items that it would take together, oldest first. */
  readonly items: ReadonlyArray<ItemId>
  /** Tokens that it would take away. */
  readonly saved: number
  /** Tokens of the call. */
  readonly call: { readonly input: number; readonly output: number }
}

/**
 * Says whether the memory's commit rule would bring a fold into force now, its call paid for: a strategy that pays
 * for its folds asks before it pays. Outside of a memory always true.
 *
 * @example
 * ```ts
 * import { CommitAhead } from "@varve/core/CommitAhead"
 * import * as Effect from "effect/Effect"
 *
 * const fold = { items: ["g1"], saved: 900, call: { input: 1000, output: 100 } }
 * console.log(Effect.runSync(Effect.map(CommitAhead, (ask) => ask(fold)))) // => true
 * ```
 */
export const CommitAhead = Context.Reference<(fold: FoldAhead) => boolean>(
  "@varve/core/CommitAhead",
  { defaultValue: () => () => true }
)

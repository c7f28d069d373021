import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Edit, Proposal } from "./Edit.ts"
import { ConfigError, show } from "./VarveError.ts"
import type { View } from "./View.ts"

/** Looks at a view and proposes edits; never changes a message. */
export type Propose<out E = never> = (view: View) => Effect.Effect<ReadonlyArray<Proposal>, E>

/**
 * A strategy: a name and a start. It is started once a memory, in a scope of its own; two memories
 * made from one strategy share nothing.
 */
export interface Strategy<out E = unknown, out R = never> {
  readonly name: string
  readonly start: Effect.Effect<Propose<E>, ConfigError, R | Scope.Scope>
  /** True for a guard: it runs when the view is over a limit, and may touch what is softly protected. */
  readonly guard?: boolean
}

/** What the plain form of a strategy may give back. */
export type Proposed =
  | ReadonlyArray<Edit>
  | ReadonlyArray<Proposal>
  | Promise<ReadonlyArray<Edit> | ReadonlyArray<Proposal>>
  | Effect.Effect<ReadonlyArray<Edit> | ReadonlyArray<Proposal>, unknown>

const isProposal = (u: unknown): u is Proposal =>
  typeof u === "object" && u !== null && Array.isArray((u as Proposal).edits)

const toProposals = (
  name: string,
  proposed: ReadonlyArray<Edit> | ReadonlyArray<Proposal>
): ReadonlyArray<Proposal> => {
  if (!Array.isArray(proposed))
    throw new TypeError(`${name} gave ${show(proposed)}, not a list of edits`)
  const proposals: Array<Proposal> = []
  const edits: Array<Edit> = []
  for (const p of proposed as ReadonlyArray<Edit | Proposal>) {
    if (isProposal(p)) proposals.push(p)
    else edits.push(p)
  }
  return edits.length === 0 ? proposals : [...proposals, { edits, reason: name }]
}

/**
 * Makes a strategy from a function that gives edits, a promise of edits, or an Effect of edits.
 *
 * Fails with `ConfigError` where the name is empty.
 *
 * @example
 * ```ts
 * import * as Edit from "@varve/core/Edit"
 * import { strategy } from "@varve/core/Strategy"
 *
 * const mine = strategy("drop-debug-output", (view) =>
 *   view.results
 *     .filter((r) => r.toolName === "debug")
 *     .map((r) => Edit.replace(r.block, "[debug output removed]"))
 * )
 * console.log(mine.name) // => drop-debug-output
 * ```
 */
export const strategy = (
  name: string,
  propose: (view: View) => Proposed,
  options?: { readonly guard?: boolean }
): Strategy => {
  checkName(name)
  if (typeof propose !== "function") {
    throw new ConfigError([
      { path: `strategy(${name}).propose`, given: show(propose), allowed: "a function" }
    ])
  }
  const run: Propose<unknown> = (view) =>
    Effect.suspend(() => {
      const proposed = propose(view)
      const edits = Effect.isEffect(proposed)
        ? proposed
        : proposed instanceof Promise
          ? Effect.tryPromise({ try: () => proposed, catch: (e) => e })
          : Effect.succeed(proposed)
      return Effect.map(edits, (e) => toProposals(name, e))
    })
  return make(name, Effect.succeed(run), options)
}

/** Makes a strategy from its start; the memory that it is started for gives the scope. */
export const make = <E, R>(
  name: string,
  start: Effect.Effect<Propose<E>, ConfigError, R>,
  options?: { readonly guard?: boolean }
): Strategy<E, Exclude<R, Scope.Scope>> => {
  checkName(name)
  return {
    name,
    start: start as Strategy<E, Exclude<R, Scope.Scope>>["start"],
    ...(options?.guard === true ? { guard: true } : {})
  }
}

const checkName = (name: unknown): void => {
  if (typeof name !== "string" || name.trim() === "") {
    throw new ConfigError([
      { path: "strategy.name", given: show(name), allowed: "a text that is not blank" }
    ])
  }
}

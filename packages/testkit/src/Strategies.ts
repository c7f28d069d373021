import * as fc from "fast-check"
import type { Edit } from "@varve/core/Edit"
import type { Proposed, Strategy } from "@varve/core/Strategy"
import { strategy } from "@varve/core/Strategy"
import type { View } from "@varve/core/View"
import * as Effect from "effect/Effect"
import { below } from "./internal/chance.ts"
import { greedyEdits, hostileEdits, nonsenseEdits, saneEdits } from "./internal/proposals.ts"

/** How a random strategy behaves. */
export type Temper =
  /** Proposes good edits of what is not protected. */
  | "sane"
  /** The same, as a promise and as an effect. */
  | "async"
  /** Whole proposals that stand or fall together. */
  | "atomic"
  /** Well-formed edits of everything. */
  | "greedy"
  /** Edits that must be refused. */
  | "hostile"
  /** Values of wrong shapes. */
  | "nonsense"
  /** Writes to the view and to its messages. */
  | "meddling"
  /** Changes the edits that it proposed at the view before. */
  | "spoiling"
  /** Throws, rejects, fails or dies at some views. */
  | "throwing"
  /** Never answers at some views. Give the pipeline a short time limit, or a test clock. */
  | "hanging"

/** All tempers but `hanging`, which costs a time limit each. */
export const tempers: ReadonlyArray<Temper> = [
  "sane",
  "async",
  "atomic",
  "greedy",
  "hostile",
  "nonsense",
  "meddling",
  "spoiling",
  "throwing"
]

/** What a random strategy is made from: plain data, so that a failing test prints it. */
export interface StrategyPlan {
  readonly name: string
  readonly temper: Temper
  readonly seed: number
}

const error = () => new Error("a strategy that throws")

/** What a careless author does with edits that were given away. */
const spoil = (edits: ReadonlyArray<Edit>): void => {
  for (const edit of edits) {
    if (edit.kind === "replace")
      (edit.to as Array<unknown>).push({ type: "text", text: "slipped in" })
    if (edit.kind === "fold") Object.assign(edit, { text: "changed afterwards", items: [] })
    if (edit.kind === "memo") Object.assign(edit, { text: "changed afterwards" })
  }
}

const attempt = (write: () => void): void => {
  try {
    write()
  } catch {
    // Frozen: as it should be.
  }
}

const meddle = (view: View): void => {
  attempt(() => (view.messages as Array<unknown>).pop())
  attempt(() => (view.items as Array<unknown>).shift())
  attempt(() => (view.images as Array<unknown>).splice(0))
  for (const message of view.messages) {
    attempt(() => Object.assign(message, { content: "meddled" }))
    const { content } = message as { readonly content?: unknown }
    if (!Array.isArray(content)) continue
    attempt(() => content.push({ type: "text", text: "meddled" }))
    for (const block of content) attempt(() => Object.assign(block as object, { text: "meddled" }))
  }
}

type Proposer = (view: View) => Proposed

const nonsenseLists: ReadonlyArray<unknown> = [
  undefined,
  null,
  "edits",
  { edits: [] },
  [{ edits: "x" }],
  [{ edits: [null] }]
]

const proposers: Readonly<Record<Temper, (seed: number) => Proposer>> = {
  sane: (seed) => (view) => saneEdits(view, seed),
  async: (seed) => (view) =>
    below(2, seed, view.newest) === 0
      ? Promise.resolve().then(() => saneEdits(view, seed))
      : Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => saneEdits(view, seed))
        ),
  atomic: (seed) => (view) => {
    const bad = below(3, seed, view.newest) === 0 ? nonsenseEdits(view, seed).slice(0, 1) : []
    return [{ edits: [...saneEdits(view, seed), ...bad], reason: "all or nothing", atomic: true }]
  },
  greedy: (seed) => (view) => greedyEdits(view, seed),
  hostile: (seed) => (view) => hostileEdits(view, seed),
  nonsense: (seed) => (view) => {
    const kind = below(nonsenseLists.length * 3, seed, "shape", view.newest)
    return kind < nonsenseLists.length
      ? (nonsenseLists[kind] as Proposed)
      : nonsenseEdits(view, seed)
  },
  meddling: (seed) => (view) => {
    const edits = saneEdits(view, seed)
    meddle(view)
    return edits
  },
  spoiling: (seed) => {
    let before: ReadonlyArray<Edit> = []
    return (view) => {
      spoil(before)
      return (before = saneEdits(view, seed))
    }
  },
  throwing: (seed) => (view) => {
    const kind = below(6, seed, view.newest)
    if (kind === 0) throw error()
    if (kind === 1) return Promise.reject(error())
    if (kind === 2) return Effect.fail("failed")
    if (kind === 3) return Effect.die(error())
    return kind === 4 ? Effect.interrupt : saneEdits(view, seed)
  },
  hanging: (seed) => (view) => {
    const kind = below(4, seed, view.newest)
    if (kind === 0) return Effect.never
    return kind === 1 ? new Promise<never>(() => {}) : saneEdits(view, seed)
  }
}

/** Makes the strategy of a plan. Its proposals depend on the seed and the view alone. */
export const randomStrategy = (plan: StrategyPlan): Strategy =>
  strategy(plan.name, proposers[plan.temper](plan.seed))

/**
 * Chains of random strategies as plans; `randomStrategy` makes each. From `least` to `most` of them,
 * default 0 and 4.
 *
 * @example
 * ```ts
 * import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
 * import * as fc from "fast-check"
 *
 * const [plans] = fc.sample(strategyPlans({ tempers: ["sane"] }), 1)
 * const pipeline = plans?.map(randomStrategy)
 * ```
 */
export const strategyPlans = (
  options: {
    readonly tempers?: ReadonlyArray<Temper>
    readonly least?: number
    readonly most?: number
  } = {}
): fc.Arbitrary<ReadonlyArray<StrategyPlan>> =>
  fc
    .array(fc.tuple(fc.constantFrom(...(options.tempers ?? tempers)), fc.nat(1000)), {
      minLength: options.least ?? 0,
      maxLength: options.most ?? 4,
      size: "max"
    })
    .map((list) => list.map(([temper, seed], i) => ({ name: `${temper}-${i}`, temper, seed })))

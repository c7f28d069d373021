import { growthAsCode } from "@varve/testkit/Code"
import { explain } from "@varve/testkit/Invariants"
import type { Tried } from "@varve/testkit/Trial"
import { runTrial } from "@varve/testkit/Trial"
import * as fc from "fast-check"
import type { Triple } from "./Triple.ts"
import { trialOf, triples } from "./Triple.ts"

/** Sums over triples. */
export interface Figures {
  readonly triples: number
  readonly requests: number
  /** Triples in which edits came into force, and those in which edits of strategies did. */
  readonly committing: number
  readonly byStrategies: number
  readonly guarded: number
  readonly overflowing: number
  /** Triples in which a strategy failed inside its box. */
  readonly erring: number
}

export const none: Figures = {
  triples: 0,
  requests: 0,
  committing: 0,
  byStrategies: 0,
  guarded: 0,
  overflowing: 0,
  erring: 0
}

export const sum = (a: Figures, b: Figures): Figures => ({
  triples: a.triples + b.triples,
  requests: a.requests + b.requests,
  committing: a.committing + b.committing,
  byStrategies: a.byStrategies + b.byStrategies,
  guarded: a.guarded + b.guarded,
  overflowing: a.overflowing + b.overflowing,
  erring: a.erring + b.erring
})

const figuresOf = (t: Tried): Figures => ({
  triples: 1,
  requests: t.requests,
  committing: t.commits > 0 ? 1 : 0,
  byStrategies: t.committed > 0 ? 1 : 0,
  guarded: t.guarded > 0 ? 1 : 0,
  overflowing: t.overflows > 0 ? 1 : 0,
  erring: t.errors.length > 0 ? 1 : 0
})

const show = ({ growth, ...rest }: Triple): string =>
  `${JSON.stringify(rest)}\n${growthAsCode(growth)}`

/**
 * Runs `count` triples from a seed. Where one fails, the smallest failing one is found and given as text:
 * what is wrong with it, its pipeline and profile, and its history as code.
 */
export const runChunk = async (
  seed: number,
  count: number
): Promise<{ readonly figures: Figures; readonly failure: string | undefined }> => {
  let figures = none
  let failed = false
  const property = fc.asyncProperty(triples, async (triple) => {
    const tried = await runTrial(trialOf(triple))
    if (tried.violations.length > 0) failed = true
    if (!failed) figures = sum(figures, figuresOf(tried))
    return tried.violations.length === 0
  })
  const { counterexample } = await fc.check(property, { numRuns: count, seed })
  if (counterexample === null) return { figures, failure: undefined }
  const [triple] = counterexample
  const why = await runTrial(trialOf(triple)).then(
    ({ violations }) => explain(violations),
    (error: unknown) => String((error as Error).stack)
  )
  return { figures, failure: `seed ${seed}:\n${why}\n${show(triple)}` }
}

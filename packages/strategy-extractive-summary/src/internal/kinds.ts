import type { StatementKind } from "@varve/core/Statement"

/**
 * What a line is: the user's correction, a statement of a kind, what the user asked, what the agent said (with
 * a file or a number: `named`), a step that failed, changed something or looked at it, what came of a run, a
 * call that changes something or another one, prose that a tool gave. `little` says nothing by itself: "go on",
 * "Let me look:". `noise` is no sentence: code, logs, tables, pieces.
 */
export type LineKind =
  | StatementKind
  | "correction"
  | "asked"
  | "named"
  | "said"
  | "failed"
  | "changed"
  | "looked"
  | "result"
  | "called"
  | "did"
  | "seen"
  | "little"
  | "noise"

/** The prior of a line: how much it counts by its kind, before anything else is known of it. */
export const WEIGHT: Readonly<Record<LineKind, number>> = {
  correction: 6,
  failed: 6,
  constraint: 4,
  decision: 4,
  asked: 3,
  error: 3,
  outcome: 2.5,
  changed: 2.5,
  named: 1.5,
  result: 1,
  said: 1,
  called: 0.6,
  seen: 0.4,
  looked: 0.4,
  did: 0.3,
  little: 0.1,
  noise: 0.02
}

/**
 * The share of the tokens that lines of a kind get in any case, the worthiest first; what is left goes by worth.
 */
export const SHARES: ReadonlyArray<readonly [kind: LineKind | "before", share: number]> = [
  ["constraint", 0.15],
  ["before", 0.45],
  ["decision", 0.15],
  ["failed", 0.25],
  ["error", 0.15],
  ["outcome", 0.15],
  ["asked", 0.15],
  ["called", 0.08]
]

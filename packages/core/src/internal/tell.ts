import type { Report } from "../Report.ts"
import type { ContextOverflow } from "../VarveError.ts"
import type { VarveEvent } from "../VarveEvent.ts"

/** Tells a listener. Its faults are its own, also those that it has later. */
export const tell = (
  listener: ((event: VarveEvent) => void) | undefined,
  event: VarveEvent
): void => {
  try {
    const answer: unknown = listener?.(event)
    if (answer instanceof Promise) answer.catch(() => undefined)
  } catch {
    // Nothing of ours depends on it.
  }
}

/** What went wrong in a walk, as events: strategies that failed, and a view that can't fit. */
export const faultsIn = (
  report: Report,
  overflow: ContextOverflow | undefined
): ReadonlyArray<VarveEvent> => [
  ...report.strategies.flatMap(({ error, name }): ReadonlyArray<VarveEvent> =>
    error === undefined ? [] : [{ type: "strategy-failed", strategy: name, error }]
  ),
  ...(overflow === undefined
    ? []
    : [
        {
          type: "overflow" as const,
          axis: overflow.axis,
          limit: overflow.limit,
          needed: overflow.needed
        }
      ])
]

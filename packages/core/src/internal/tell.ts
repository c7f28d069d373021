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

import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Counter } from "../Counter.ts"
import { overLimits } from "./limits.ts"
import type { Meter } from "./Meter.ts"
import type { Session } from "./Session.ts"
import type { ViewContext } from "./ViewState.ts"

/** What a request is measured with. */
export interface Measured {
  readonly session: Session
  readonly meter: Meter
  readonly context: () => ViewContext
}

/** The loading of a counter: once, and no request waits for it that can be answered without. */
export class CounterLoad {
  readonly #ready: Counter["ready"]
  #fiber: Fiber.Fiber<void> | undefined
  isDone: boolean
  /** True while counts are provisional: nothing is learned from them. */
  isProvisional = false

  constructor({ ready }: Counter) {
    this.#ready = ready
    this.isDone = ready === undefined
  }

  /**
   * Ends at once where provisional counts answer the request for these messages, else as soon as the counter
   * is there; all is counted anew then. A counter that can't be loaded counts as it can.
   */
  until(messages: ReadonlyArray<unknown> | undefined, measured: Measured): Effect.Effect<void> {
    return Effect.suspend(() => {
      const ready = this.#ready
      if (this.isDone || ready === undefined) return Effect.void
      const self = this
      return Effect.gen(function* () {
        // Detached: a request that is aborted leaves the loading to the next one.
        self.#fiber ??= yield* Effect.forkDetach(ready, { startImmediately: true })
        if (self.#fiber.pollUnsafe() === undefined) {
          self.isProvisional = messages !== undefined && answers(messages, measured)
          if (self.isProvisional) return
          yield* Fiber.await(self.#fiber)
        }
        self.isDone = true
        self.isProvisional = false
        recount(measured)
      })
    })
  }
}

/** True where the provider's last figure says that what is in force still fits. */
const answers = (
  messages: ReadonlyArray<unknown>,
  { session, meter, context }: Measured
): boolean => {
  const { anchored } = session.ledger
  if (anchored === undefined) return false
  const keep = session.update(messages)
  const sent = session.follow(context(), keep, true)
  return meter.provisional(sent, anchored) && overLimits(sent.with(context())).length === 0
}

const recount = ({ session, meter, context }: Measured): void => {
  meter.settle()
  const { last, transcript } = session
  if (transcript.length === 0) return
  transcript.recount()
  const sent = session.follow(context(), 0, true)
  if (last !== undefined) session.remember(sent, last.at, meter.overheads.last)
  meter.resent(last, session.last)
}

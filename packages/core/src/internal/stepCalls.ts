import * as Effect from "effect/Effect"
import type { Memory } from "../Memory.ts"
import type { StepLog } from "../StepLog.ts"
import type { Session } from "./Session.ts"
import { readBegin, readFinish } from "./stepInput.ts"

const noneSuch = ({ steps }: StepLog, id: string): string =>
  steps.some((step) => step.id === id && step.status === "pending")
    ? `step ${id} is pending for another callId, or for several`
    : `no step ${id} is pending`

/** What a host records of its steps: what is odd is a warning, and the run goes on. */
export const stepCalls = (
  session: () => Session,
  when: (act: () => void) => Effect.Effect<void>,
  warn: (message: string) => void
): Memory["steps"] => ({
  begin: (given) =>
    Effect.suspend(() => {
      const step = readBegin(given)
      return when(() => {
        if (step === undefined) warn("a step without an id that is a text was left out")
        else if (session().steps.begin(step)) {
          session().journal.push({ t: "begin", ...session().steps.clean(step) })
        } else if (!session().steps.knows(step))
          warn(`step ${step.id} was begun before; left as it is`)
      })
    }),
  finish: (given) =>
    Effect.suspend(() => {
      const step = readFinish(given)
      return when(() => {
        if (step === undefined) {
          warn("the end of a step without an id and an outcome, success or failed, was left out")
        } else if (session().steps.finish(step)) {
          session().journal.push({ t: "finish", ...session().steps.clean(step) })
        } else if (!session().steps.knows(step))
          warn(`${noneSuch(session().steps, step.id)}; its end was left out`)
      })
    }),
  list: Effect.sync(() => session().steps.steps)
})

import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { PlainMemory, VarveEvent } from "@varve/core"
import type { ReportedUsage } from "@varve/core/Memory"
import type { BeginStep, FinishStep } from "@varve/core/StepLog"

/** A memory, and what it was told. */
export const spied = (options: Parameters<typeof createMemory>[0] = {}) => {
  const begun: Array<BeginStep> = []
  const finished: Array<FinishStep> = []
  const usages: Array<ReportedUsage> = []
  const events: Array<VarveEvent> = []
  const real = createMemory({
    pipeline: [stepMemory(), hardLimit()],
    onEvent: (event) => events.push(event),
    ...options
  })
  const memory: PlainMemory = {
    ...real,
    steps: {
      begin: (step) => {
        begun.push(step)
        real.steps.begin(step)
      },
      finish: (step) => {
        finished.push(step)
        real.steps.finish(step)
      }
    },
    usage: (usage) => {
      usages.push(usage)
      real.usage(usage)
    }
  }
  return { memory, begun, finished, usages, events }
}

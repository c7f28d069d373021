import type { OptimumOptions, PlannedCommit } from "../Optimum.ts"
import { piecesOf, type Laid } from "../Pieces.ts"
import { planned, type Answer, type Keep, type Policy } from "../Policy.ts"
import { simulate, type Simulated } from "../simulate.ts"
import type { Trace } from "../Trace.ts"

/** Pieces that two requests begin with alike. */
const common = (a: Laid, b: Laid): number => {
  const i = a.pieces.findIndex(({ key }, at) => b.pieces[at]?.key !== key)
  return i < 0 ? a.pieces.length : i
}

/**
 * A schedule's run, billed. With marks they are set by somebody who knows the schedule: behind what is left of
 * the request before, and behind what the next commit will leave.
 */
export const replay = async (
  trace: Trace,
  keep: Keep,
  commits: ReadonlyArray<PlannedCommit>,
  options: OptimumOptions
): Promise<Simulated> => {
  const policy = planned(keep, commits)
  if (options.marks !== true || options.cache === "lcp" || options.cache === "none")
    return simulate(trace, policy, options)
  const { counter, profile } = options
  const running = policy.start({ counter, profile })
  const answers: Array<Answer> = []
  for (const { history, at } of trace.requests) answers.push(await running.prepare(history, at))
  await running.close()
  const laid = answers.map(({ messages }) => piecesOf(messages, trace.overhead, counter))
  /** How many pieces each request leaves of the one before, and whether that is less than all. */
  const left = laid.map((one, t) => (t === 0 ? 0 : common(laid[t - 1]!, one)))
  const breaks = left.map((same, t) => t > 0 && same < laid[t - 1]!.pieces.length)
  const marked: Policy = {
    name: `${policy.name} + marks`,
    start: () => {
      let t = -1
      return {
        prepare: async () => {
          t++
          const next = left[breaks.indexOf(true, t + 1)] ?? 0
          const { ofMessage, pieces } = laid[t]!
          const marks = [left[t]!, next].map((n) =>
            ofMessage.lastIndexOf(Math.min(n, pieces.length) - 1)
          )
          return { ...answers[t]!, marks }
        },
        close: async () => {}
      }
    }
  }
  return simulate(trace, marked, options)
}

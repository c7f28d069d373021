import { fingerprint } from "./internal/hash.ts"
import { brief, goalOf } from "./StepGoal.ts"
import type { BeginStep, FinishStep } from "./StepLog.ts"

/** A call in a host's history, and how it ended where it has. */
export interface ToldCall {
  readonly callId: string
  readonly tool: string
  /** As the host has them; a step keeps a brief copy. */
  readonly args: unknown
  readonly outcome?: FinishStep["outcome"] | undefined
  readonly note?: string | undefined
}

/** What takes steps: `memory.steps`. */
export interface TakesSteps {
  readonly begin: (step: BeginStep) => void
  readonly finish: (step: FinishStep) => void
}

/** A call of the last history, and the id of its step. */
interface Placed {
  readonly key: string
  readonly id: string
}

/** How many calls left at the front, where what is left of those before begins the list. */
const leftAtFront = (
  before: ReadonlyArray<Placed>,
  keys: ReadonlyArray<string>
): number | undefined => {
  for (let left = Math.max(0, before.length - keys.length); left < before.length; left++) {
    let i = left
    while (i < before.length && before[i]!.key === keys[i - left]) i++
    if (i === before.length) return left
  }
  return undefined
}

/**
 * Records the calls of a history as steps, each once, for a host that shows the whole history each time.
 *
 * Call ids may repeat, messages may get new ids, and old messages may leave: a step is told by its call id, its
 * arguments and which of such calls it is. Calls that can't be told apart are counted; of those, one that is
 * new in the very history in which old ones have left may be missed. After a restart the same history has the
 * same ids, so that a saved session knows its steps.
 *
 * @example
 * ```ts
 * import { historySteps } from "@varve/core/HistorySteps"
 *
 * const goals: Array<string> = []
 * const steps = { begin: ({ goal }: { goal: string }) => void goals.push(goal), finish: () => {} }
 * const tell = historySteps(steps)
 * const call = (n: number) => ({ callId: "call_0", tool: "click", args: { n } })
 * tell([call(1), call(2)])
 * tell([call(2), call(3)])
 * console.log(goals.join()) // => click(n: 1),click(n: 2),click(n: 3)
 * ```
 */
export const historySteps = (
  steps: TakesSteps,
  goalArgument?: string
): ((calls: ReadonlyArray<ToldCall>) => void) => {
  const keys = new WeakMap<object, string>()
  /** The highest number that a call of a key has had. */
  const highest = new Map<string, number>()
  /** The steps that were begun, and whether they have an outcome. */
  const known = new Map<string, boolean>()
  let before: ReadonlyArray<Placed> = []

  const keyOf = ({ args, callId, tool }: ToldCall): string => {
    const isObject = typeof args === "object" && args !== null
    let print = isObject ? keys.get(args) : undefined
    if (print === undefined) {
      print = fingerprint({ content: brief(args) ?? null })
      if (isObject) keys.set(args, print)
    }
    return `${callId}@${tool}-${print}`
  }

  const placed = (key: string, n: number): Placed => {
    highest.set(key, Math.max(n, highest.get(key) ?? 0))
    return { key, id: n === 1 ? key : `${key}#${n}` }
  }

  const place = (all: ReadonlyArray<string>): ReadonlyArray<Placed> => {
    const left = leftAtFront(before, all)
    if (left === undefined) {
      // Another history: the memory knows what it was told, and takes the rest.
      if (all.length < before.length) known.clear()
      const uses = new Map<string, number>()
      return all.map((key) => {
        const n = (uses.get(key) ?? 0) + 1
        uses.set(key, n)
        return placed(key, n)
      })
    }
    const stayed = before.slice(left)
    const added = all.slice(stayed.length)
    return [...stayed, ...added.map((key) => placed(key, (highest.get(key) ?? 0) + 1))]
  }

  const begin = (id: string, { args, callId, tool }: ToldCall): void => {
    const kept = brief(args)
    const goal = goalOf(tool, kept, goalArgument)
    steps.begin({ id, callId, tool, goal, ...(kept === undefined ? {} : { args: kept }) })
  }

  return (calls) => {
    before = place(calls.map(keyOf))
    for (const [i, call] of calls.entries()) {
      const { id } = before[i]!
      if (!known.has(id)) {
        known.set(id, false)
        begin(id, call)
      }
      const { callId, note, outcome } = call
      if (outcome === undefined || known.get(id) === true) continue
      known.set(id, true)
      steps.finish({ id, callId, outcome, ...(note === undefined ? {} : { note }) })
    }
  }
}

import type { BeginStep, FinishStep } from "../StepLog.ts"

const isText = (u: unknown): u is string => typeof u === "string"

/** A copy as JSON; nothing where it is none. */
const json = (value: unknown): unknown => {
  try {
    const text = JSON.stringify(value)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A step as far as a host's plain code gave it right, so that it can be saved; nothing where it names none. */
export const readBegin = (given: unknown): BeginStep | undefined => {
  const { id, step, goal, callId, tool, args } = (given ?? {}) as Record<string, unknown>
  if (!isText(id)) return undefined
  const own = json(args)
  return {
    id,
    goal: isText(goal) ? goal : "",
    ...(typeof step === "number" && Number.isFinite(step) ? { step } : {}),
    ...(isText(callId) ? { callId } : {}),
    ...(isText(tool) ? { tool } : {}),
    ...(own === undefined ? {} : { args: own })
  }
}

/** The same for a step's end, which needs an outcome. */
export const readFinish = (given: unknown): FinishStep | undefined => {
  const { id, callId, outcome, note } = (given ?? {}) as Record<string, unknown>
  if (!isText(id) || (outcome !== "success" && outcome !== "failed")) return undefined
  return {
    id,
    outcome,
    ...(isText(callId) ? { callId } : {}),
    ...(isText(note) ? { note } : {})
  }
}

import type { ToldCall } from "@varve/core/HistorySteps"
import { historySteps } from "@varve/core/HistorySteps"
import { cut } from "@varve/core/StepGoal"
import type { SdkMemory } from "../SdkMemory.ts"

const NOTE = 200

type Loose = Readonly<Record<string, unknown>>

const record = (u: unknown): Loose => (typeof u === "object" && u !== null ? (u as Loose) : {})

const FAILED: ReadonlySet<unknown> = new Set(["error-text", "error-json", "execution-denied"])

/** What the result of a failed call says, shortened. */
const noteOf = ({ reason, value }: Loose): string | undefined => {
  const said = value ?? reason
  const text = (typeof said === "string" ? said : (JSON.stringify(said) ?? "")).trim()
  return text === "" ? undefined : cut(text, NOTE)
}

type Outcome = Pick<ToldCall, "outcome" | "note">

const outcomeOf = ({ output }: Loose): Outcome =>
  FAILED.has(record(output)["type"])
    ? { outcome: "failed", note: noteOf(record(output)) }
    : { outcome: "success" }

/** The calls of a history, with their outcomes where there are results. */
const callsOf = (messages: ReadonlyArray<unknown>): ReadonlyArray<ToldCall> => {
  const told: Array<ToldCall> = []
  /** By call id where the calls stand that have no result yet: some models use the same ids again. */
  const open = new Map<string, Array<number>>()
  for (const message of messages) {
    const { content } = record(message)
    for (const part of Array.isArray(content) ? (content as ReadonlyArray<unknown>) : []) {
      const { input, toolCallId: callId, toolName, type } = record(part)
      if (typeof callId !== "string") continue
      if (type === "tool-call") {
        open.set(callId, [...(open.get(callId) ?? []), told.length])
        told.push({ callId, tool: String(toolName), args: input })
      } else if (type === "tool-result") {
        const at = open.get(callId)?.shift()
        if (at !== undefined) told[at] = { ...told[at]!, ...outcomeOf(record(part)) }
      }
    }
  }
  return told
}

/** Records the calls of a history as steps of a memory, each with its outcome once there is a result. */
export type RecordCalls = (messages: ReadonlyArray<unknown>) => void

export const makeRecorder = (memory: SdkMemory, goalArgument: string | undefined): RecordCalls => {
  const tell = historySteps(memory.steps, goalArgument)
  return (messages) => {
    // What is odd loses its step; the run goes on.
    try {
      tell(callsOf(messages))
    } catch {}
  }
}

import { brief, cut, goalOf } from "@varve/core/StepGoal"
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

/** A call of a history, with its result where there is one. */
interface Told {
  readonly call: Loose
  result?: Loose
}

/**
 * The calls of a history by the ids of their steps. Some models use the same ids again in each answer: the
 * second use of one is a step of its own.
 */
const callsOf = (messages: ReadonlyArray<unknown>): Map<string, Told> => {
  const told = new Map<string, Told>()
  const uses = new Map<string, number>()
  const open = new Map<string, Array<Told>>()
  for (const message of messages) {
    const { content } = record(message)
    for (const part of Array.isArray(content) ? (content as ReadonlyArray<unknown>) : []) {
      const { toolCallId, type } = record(part)
      if (typeof toolCallId !== "string") continue
      if (type === "tool-call") {
        const use = (uses.get(toolCallId) ?? 0) + 1
        uses.set(toolCallId, use)
        const call: Told = { call: record(part) }
        told.set(use === 1 ? toolCallId : `${toolCallId}#${use}`, call)
        open.set(toolCallId, [...(open.get(toolCallId) ?? []), call])
      } else if (type === "tool-result") {
        const call = open.get(toolCallId)?.shift()
        if (call !== undefined) call.result = record(part)
      }
    }
  }
  return told
}

/** Records the calls of a history as steps of a memory, each with its outcome once there is a result. */
export type RecordCalls = (messages: ReadonlyArray<unknown>) => void

export const makeRecorder = (memory: SdkMemory, goalArgument: string | undefined): RecordCalls => {
  /** The steps that were begun, and whether they have an outcome. */
  const known = new Map<string, boolean>()

  const begin = (id: string, { input, toolCallId, toolName }: Loose): void => {
    known.set(id, false)
    const tool = String(toolName)
    const args = brief(input)
    memory.steps.begin({
      id,
      callId: String(toolCallId),
      tool,
      goal: goalOf(tool, args, goalArgument),
      ...(args === undefined ? {} : { args })
    })
  }

  const finish = (id: string, { output, toolCallId }: Loose): void => {
    known.set(id, true)
    const failed = FAILED.has(record(output)["type"])
    const note = failed ? noteOf(record(output)) : undefined
    memory.steps.finish({
      id,
      callId: String(toolCallId),
      outcome: failed ? "failed" : "success",
      ...(note === undefined ? {} : { note })
    })
  }

  return (messages) => {
    // What is odd loses its step; the run goes on.
    try {
      const told = callsOf(messages)
      // Another history: the memory knows what it was told, and takes the rest.
      if (told.size < known.size) known.clear()
      for (const [id, { call, result }] of told) {
        if (!known.has(id)) begin(id, call)
        if (result !== undefined && known.get(id) === false) finish(id, result)
      }
    } catch {}
  }
}

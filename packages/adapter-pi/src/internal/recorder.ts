import { reportedUsage } from "@varve/core/Calibration"
import type { ReportedUsage } from "@varve/core/Memory"
import { brief, cut, goalOf } from "@varve/core/StepGoal"
import type { PiEvent, PiMemory } from "../PiAgent.ts"

const NOTE = 200

type Loose = Readonly<Record<string, unknown>>

/** The text of a failed call's result, shortened. */
const noteOf = (result: unknown): string | undefined => {
  const { content } = (result ?? {}) as Loose
  const blocks = Array.isArray(content) ? (content as ReadonlyArray<Loose | null>) : []
  const text = blocks.flatMap((b) => (typeof b?.["text"] === "string" ? [b["text"]] : [])).join(" ")
  return text.trim() === "" ? undefined : cut(text.trim(), NOTE)
}

/** Turns pi's events into steps and usage of a memory. */
export interface Recorder {
  /** Takes an event; never throws. */
  readonly take: (event: PiEvent) => void
  /** Says that the memory prepared a request: the usage reported next is that of this request. */
  readonly sent: () => void
  /** The answer that the last request failed with; told once. */
  readonly failure: () => unknown
  /** Ends the steps that have no outcome. */
  readonly end: () => void
}

export const makeRecorder = (memory: PiMemory, goalArgument: string | undefined): Recorder => {
  /** By call id: the ids of its steps that have no outcome yet, oldest first. */
  const open = new Map<string, Array<string>>()
  // Some models use the same call ids again in each answer, and a saved session may know them from the
  // run before: the time of the answer, which pi keeps with it, tells them apart.
  let answer = ""
  let uses = new Map<string, number>()
  let awaited = false
  let failed: unknown

  const begin = ({ toolCallId, toolName, args }: Loose): void => {
    if (typeof toolCallId !== "string") return
    const use = (uses.get(toolCallId) ?? 0) + 1
    uses.set(toolCallId, use)
    const id = `${toolCallId}@${answer}${use === 1 ? "" : `#${use}`}`
    open.set(toolCallId, [...(open.get(toolCallId) ?? []), id])
    const tool = String(toolName)
    const kept = brief(args)
    memory.steps.begin({
      id,
      callId: toolCallId,
      tool,
      goal: goalOf(tool, kept, goalArgument),
      ...(kept === undefined ? {} : { args: kept })
    })
  }

  const finish = ({ toolCallId, isError, result }: Loose): void => {
    if (typeof toolCallId !== "string") return
    const [id, ...others] = open.get(toolCallId) ?? []
    if (id === undefined) return
    if (others.length === 0) open.delete(toolCallId)
    else open.set(toolCallId, others)
    const note = isError === true ? noteOf(result) : undefined
    memory.steps.finish({
      id,
      callId: toolCallId,
      outcome: isError === true ? "failed" : "success",
      ...(note === undefined ? {} : { note })
    })
  }

  const answered = (message: Loose): void => {
    if (message["role"] !== "assistant") return
    const time = String(message["timestamp"])
    if (time !== answer) uses = new Map()
    answer = time
    if (awaited && reportedUsage(message) !== undefined) {
      const { input, cacheRead, cacheWrite, output } = message["usage"] as ReportedUsage
      memory.usage({ input, cacheRead, cacheWrite, output })
    }
    failed = awaited && message["stopReason"] === "error" ? message : undefined
    awaited = false
  }

  const end = (): void => {
    const left = [...open]
    open.clear()
    for (const [callId, ids] of left) {
      for (const id of ids) {
        memory.steps.finish({ id, callId, outcome: "failed", note: "no outcome was recorded" })
      }
    }
  }

  // An odd event loses its step; the run goes on.
  const quietly = (act: () => void): void => {
    try {
      act()
    } catch {}
  }

  return {
    sent: () => void (awaited = true),
    failure: () => {
      const last = failed
      failed = undefined
      return last
    },
    end: () => quietly(end),
    take: (event) =>
      quietly(() => {
        const { type, message } = event as PiEvent & { readonly message?: Loose }
        if (type === "tool_execution_start") begin(event as unknown as Loose)
        else if (type === "tool_execution_end") finish(event as unknown as Loose)
        else if (type === "message_end" && message !== undefined) answered(message)
        else if (type === "agent_end") end()
      })
  }
}

import type { PlainMemory } from "@varve/core/createMemory"
import type { Message } from "@varve/core/Message"
import { textOf } from "@varve/core/Message"
import { contentOf, isRecord, roleOf } from "./origins.ts"

/** Records every tool call of a history as a step, as a host does that hears of them; each once. */
export const recordSteps = (
  on: boolean
): ((history: ReadonlyArray<Message>, memories: ReadonlyArray<PlainMemory>) => void) => {
  const begun = new Set<string>()
  const finished = new Set<string>()
  return (history, memories) => {
    if (!on) return
    const open = new Map<string, Array<string>>()
    history.forEach((message, at) => {
      if (roleOf(message) === "assistant") {
        contentOf(message).forEach((block, i) => {
          if (!isRecord(block) || block["type"] !== "toolCall") return
          const { arguments: args, id: callId, name } = block
          if (typeof callId !== "string") return
          const id = `${at}.${i}`
          open.set(callId, [...(open.get(callId) ?? []), id])
          if (begun.has(id)) return
          begun.add(id)
          const tool = String(name)
          const step = { id, goal: textOf(message).slice(0, 200) || tool, callId, tool, args }
          for (const memory of memories) memory.steps.begin(step)
        })
      } else if (message?.role === "toolResult") {
        const { isError, toolCallId: callId } = message
        const id = open.get(callId)?.pop()
        if (id === undefined || finished.has(id)) return
        finished.add(id)
        const note = textOf(message).slice(0, 200)
        const outcome = isError === true ? ("failed" as const) : ("success" as const)
        for (const memory of memories)
          memory.steps.finish({ id, callId, outcome, ...(note === "" ? {} : { note }) })
      }
    })
  }
}

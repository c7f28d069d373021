import { isDeepStrictEqual } from "node:util"
import type { Message } from "@varve/core/Message"
import { contentOf, isRecord, originsOf, roleOf } from "./origins.ts"

type Messages = ReadonlyArray<Message>

/**
 * For providers that refuse reasoning whose prefix was edited: remembers what stood before each answer when it was
 * made, and says where an answer's reasoning now stands behind something else. For sessions that only grow.
 */
export const boundReasoning = (): ((
  input: Messages,
  output: Messages
) => ReadonlyArray<{ readonly at: number; readonly what: string }>) => {
  /** For each position of the history that holds an answer, what was before it. */
  const before = new Map<number, Messages>()
  let known = 0
  let sent: Messages = []
  return (input, output) => {
    for (let i = known; i < input.length; i++) {
      if (roleOf(input[i]) === "assistant") before.set(i, [...sent, ...input.slice(known, i)])
    }
    const origins = originsOf(input, output)
    const faults: Array<{ at: number; what: string }> = []
    output.forEach((message, at) => {
      const origin = origins[at]
      if (origin?.kind !== "same" && origin?.kind !== "edited") return
      const prefix = before.get(origin.index)
      if (prefix === undefined || !contentOf(message).some(isThinking)) return
      if (!isDeepStrictEqual(prefix, output.slice(0, at)))
        faults.push({
          at,
          what: "its reasoning is bound to what stood before it, and that was edited"
        })
    })
    known = input.length
    sent = [...output]
    return faults
  }
}

const isThinking = (block: unknown): boolean => isRecord(block) && block["type"] === "thinking"

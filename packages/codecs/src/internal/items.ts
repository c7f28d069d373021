import type { Loose } from "./values.ts"
import { isRecord } from "./values.ts"

/** What an item of the Responses API is in a conversation. */
export type ItemKind =
  /** Said by a user, a developer or the system. */
  | "given"
  /** A call that waits for an output. */
  | "call"
  | "output"
  /** Anything else that the model or the provider made: messages, reasoning, server-side tools. */
  | "made"
  /** The client's answer to something made; belongs to it. */
  | "answer"
  /** What stands for a state of the conversation: references, compactions, settings. */
  | "state"

const MADE = new Set([
  "reasoning",
  "program",
  "program_output",
  "mcp_list_tools",
  "mcp_approval_request",
  "tool_search_output"
])

const hasId = (item: Loose): boolean => typeof item.call_id === "string"

export const kindOf = (item: Loose): ItemKind => {
  const { role, type } = item
  if (typeof role === "string" && (type === undefined || type === "message"))
    return role === "assistant" ? "made" : "given"
  if (typeof type !== "string") return "state"
  if (type === "mcp_approval_response") return "answer"
  if (type === "program_output") return "made"
  if (type.endsWith("_output") && hasId(item)) return "output"
  if (type.endsWith("_call")) return hasId(item) ? "call" : "made"
  return MADE.has(type) ? "made" : "state"
}

const isMade = (item: unknown): boolean => {
  if (!isRecord(item)) return false
  const kind = kindOf(item)
  return kind === "made" || kind === "call"
}

/** What an item waits for, by id: its output, the end of a program, an approval. */
const waitsFor = (item: Loose): unknown =>
  item.type === "mcp_approval_request"
    ? item.id
    : item.type === "program" || kindOf(item) === "call"
      ? item.call_id
      : undefined

const answers = (item: Loose): unknown =>
  item.type === "mcp_approval_response"
    ? item.approval_request_id
    : item.type === "program_output" || kindOf(item) === "output"
      ? item.call_id
      : undefined

/**
 * How many items from one on belong together: all that the model made in a row. Where one of them ends only
 * behind later ones (a program that makes calls, an approval, outputs among other items), all up to that.
 */
export const runFrom = (items: ReadonlyArray<unknown>, at: number): number => {
  if (!isMade(items[at])) return 1
  const open = new Set<unknown>()
  const programs = new Set<unknown>()
  let end = at
  let passed = false
  for (let i = at; i < items.length; i++) {
    const item = items[i]
    if (!isRecord(item)) break
    const kind = kindOf(item)
    if (kind === "given" || kind === "state") break
    if (kind === "made" || kind === "call") {
      // Behind outputs another answer begins, unless something of this one is still open and ends later.
      if (passed && !endsLater(items, i, open, programs)) break
      if (!passed || open.size > 0) end = i + 1
      if (item.type === "program_output") open.delete(answers(item))
      const id = waitsFor(item)
      if (id !== undefined) open.add(id)
      if (item.type === "program") programs.add(id)
      passed = false
    } else {
      passed = true
      open.delete(answers(item))
      if (kind === "answer") end = i + 1
    }
  }
  return end - at
}

const endsLater = (
  items: ReadonlyArray<unknown>,
  from: number,
  open: ReadonlySet<unknown>,
  programs: ReadonlySet<unknown>
): boolean => {
  if (open.size === 0) return false
  for (let i = from; i < items.length; i++) {
    const item = items[i]
    if (!isRecord(item) || kindOf(item) === "given" || kindOf(item) === "state") return false
    if (open.has(answers(item))) return true
    const { caller } = item
    if (isRecord(caller) && programs.has(caller.caller_id)) return true
  }
  return false
}

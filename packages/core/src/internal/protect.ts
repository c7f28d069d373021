import type { Block } from "../Message.ts"
import { blockAt, splitBlockId } from "../Message.ts"
import type { Protection } from "../Protection.ts"
import type { Entry, Group } from "../Transcript.ts"
import { isUnknownRole, OPENER } from "../Transcript.ts"
import type { ViewContext } from "./ViewState.ts"

const hard = (reason: string): Protection => ({ level: "hard", reason })
const soft = (reason: string): Protection => ({ level: "soft", reason })

const SYSTEM = hard("system message")
const UNKNOWN = hard("message of a role that is not known here")
const TASK = hard("the task")
const OPENING = hard("the provider wants a user's message first")
const PINNED = hard("pinned")
const NEEDED = hard("needed by a pinned result")
const NEWEST_USER = soft("the newest user message")
const UNSEEN = soft("the model has not seen it yet")
const UNANSWERED = soft("a call without a result")
const NEWEST_IMAGE = soft("the newest screenshot")
const PENDING = soft("its step is pending")
const RECENT = soft("one of the last groups")

/** True for what protects the newest of its kind: as a history grows, it passes on and never comes back. */
export const isNewest = (protection: Protection | undefined): boolean =>
  protection === NEWEST_IMAGE || protection === UNSEEN || protection === NEWEST_USER

const isPinned = ({ pins }: ViewContext, entry: Entry): boolean =>
  pins.size > 0 && (pins.has(entry.id) || (entry.hostId !== undefined && pins.has(entry.hostId)))

const hasText = (entry: Entry): boolean => {
  const { content } = entry.message
  return typeof content === "string"
    ? content !== ""
    : Array.isArray(content) && (content as ReadonlyArray<Block>).some((b) => b?.type === "text")
}

/** What protects a whole message, whatever block is meant. */
const hardOf = (context: ViewContext, entry: Entry): Protection | undefined => {
  const { role } = entry.message
  if (role === "system") return SYSTEM
  if (isUnknownRole(role)) return UNKNOWN
  if (entry.message === OPENER) return OPENING
  return isPinned(context, entry) ? PINNED : undefined
}

const isTask = ({ transcript }: ViewContext, entry: Entry): boolean => {
  const task = transcript.totals.task
  return (
    task >= 0 &&
    entry.group === task &&
    transcript.groups[task]!.entries.find((e) => e.message.role === "user") === entry
  )
}

const softOf = (context: ViewContext, group: Group): Protection | undefined => {
  const { transcript, steps, protectLast } = context
  const last = transcript.groups.length - 1
  if (group.open.length > 0) return UNANSWERED
  if (group.index === last && group.entries.at(-1)?.message.role === "toolResult") return UNSEEN
  if (group.entries.some((e) => e.id === transcript.totals.newestUser)) return NEWEST_USER
  if (
    steps.pending > 0 &&
    group.entries.some((e) => e.facts.calls.some((c) => steps.byCall(c)?.status === "pending"))
  ) {
    return PENDING
  }
  return group.index > last - protectLast ? RECENT : undefined
}

const ofBlock = (context: ViewContext, entry: Entry, path: string): Protection | undefined => {
  const { transcript } = context
  const found = hardOf(context, entry)
  if (found !== undefined) return found
  const block = blockAt(entry.message, path)
  const group = transcript.groups[entry.group]!
  if (block?.type === "text" && isTask(context, entry)) return TASK
  const id = entry.id + "/" + path
  const isImage = entry.facts.images.some((image) => image.path === path)
  if (isImage) {
    if (id === transcript.totals.newestImage) return NEWEST_IMAGE
    const whole = softOf(context, group)
    return whole === RECENT ? undefined : whole
  }
  if (context.pins.size > 0 && (block?.type === "toolCall" || block?.type === "thinking")) {
    for (const other of group.entries) {
      if (other.message.role !== "toolResult" || !isPinned(context, other)) continue
      if (block.type === "thinking" || other.message.toolCallId === block.id) return NEEDED
    }
  }
  return softOf(context, group)
}

const ofGroup = (context: ViewContext, group: Group): Protection | undefined => {
  for (const entry of group.entries) {
    const found = hardOf(context, entry)
    if (found !== undefined) return found
    if (isTask(context, entry) && hasText(entry)) return TASK
  }
  const whole = softOf(context, group)
  if (whole !== undefined) return whole
  const newest = context.transcript.totals.newestImage
  if (newest !== undefined && group.images > 0) {
    const [message] = splitBlockId(newest)
    if (group.entries.some((e) => e.id === message)) return NEWEST_IMAGE
  }
  return undefined
}

/** How an item, a message or a block is protected. */
export const protectionOf = (context: ViewContext, id: string): Protection | undefined => {
  const { transcript } = context
  const group = transcript.groupById.get(id)
  if (group !== undefined) return ofGroup(context, group)
  const entry = transcript.byId.get(id)
  if (entry !== undefined) {
    return (
      hardOf(context, entry) ??
      (isTask(context, entry) && hasText(entry)
        ? TASK
        : softOf(context, transcript.groups[entry.group]!))
    )
  }
  const [message, path] = splitBlockId(id)
  const owner = transcript.byId.get(message)
  return owner === undefined ? undefined : ofBlock(context, owner, path)
}

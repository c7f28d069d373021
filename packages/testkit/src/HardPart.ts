import type { Counter, Overhead } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { contentOf, isRecord, isText, roleOf } from "./internal/origins.ts"
import type { Measure } from "./Measure.ts"
import { measure } from "./Measure.ts"

/** Says whether a message of the history is pinned. */
export type IsPinned = (message: Message, index: number) => boolean

const known = new Set(["user", "assistant", "toolResult", "system"])

/** True for what nobody may touch, whatever stands around it: system messages and unknown roles. */
export const isFixed = (message: unknown): boolean => {
  const role = roleOf(message)
  return role === "system" || (role !== undefined && !known.has(role))
}

/** The index of the first user message that says anything; -1 where there is none. */
export const taskIndex = (history: ReadonlyArray<Message>): number =>
  history.findIndex(
    (m) =>
      roleOf(m) === "user" &&
      contentOf(m).some((b) =>
        isText(b) ? b.text.trim() !== "" : isRecord(b) && typeof b["type"] === "string"
      )
  )

const withContent = (message: Message, content: ReadonlyArray<unknown>): Message =>
  ({ ...message, content }) as unknown as Message

const isCall = (block: unknown): block is { readonly id: unknown } =>
  isRecord(block) && block["type"] === "toolCall"

/** An assistant message with calls, their results, and what stands between them: it leaves whole or stays. */
interface Bundle {
  readonly caller: number
  readonly results: Set<number>
}

/** For each message that belongs to one, its bundle. By position: each result with the nearest open call. */
const bundlesOf = (history: ReadonlyArray<Message>): ReadonlyMap<number, Bundle> => {
  const open = new Map<unknown, Array<Bundle>>()
  const bundles: Array<Bundle> = []
  history.forEach((message, at) => {
    if (roleOf(message) === "assistant" && contentOf(message).some(isCall)) {
      const bundle = { caller: at, results: new Set<number>() }
      bundles.push(bundle)
      for (const { id } of contentOf(message).filter(isCall)) {
        open.set(id, [...(open.get(id) ?? []), bundle])
      }
    } else if (roleOf(message) === "toolResult") {
      const id = (message as { readonly toolCallId?: unknown }).toolCallId
      open.get(id)?.pop()?.results.add(at)
    }
  })
  const found = new Map<number, Bundle>()
  for (const bundle of bundles) {
    for (let i = bundle.caller; i <= Math.max(bundle.caller, ...bundle.results); i++)
      found.set(i, bundle)
  }
  return found
}

/**
 * What of a history is hard-protected, and nothing else: system messages, unknown roles, the text of the
 * first user message, pinned messages. Where one of them stands among a call and its results, these stay
 * too, as bare as they can be: calls without arguments (a pinned result's call and reasoning whole),
 * results without content. The least that any view can show.
 *
 * @example
 * ```ts
 * import { hardPart } from "@varve/testkit/HardPart"
 *
 * const task = { role: "user" as const, content: "the task" }
 * const answer = { role: "assistant" as const, content: "an answer" }
 * console.log(hardPart([task, answer, { role: "user", content: "more" }]).length) // => 1
 * ```
 */
export const hardPart = (
  history: ReadonlyArray<Message>,
  isPinned: IsPinned = () => false
): ReadonlyArray<Message> => {
  const pinned = new Set(history.flatMap((m, i) => (isRecord(m) && isPinned(m, i) ? [i] : [])))
  const task = taskIndex(history)
  const texts = task < 0 ? [] : contentOf(history[task]).filter(isText)
  const bundles = bundlesOf(history)
  const isHard = (i: number) =>
    isFixed(history[i]) || pinned.has(i) || (i === task && texts.length > 0)
  const held = new Set(
    history.flatMap((_, i) => (isHard(i) && bundles.has(i) ? [bundles.get(i)] : []))
  )
  const bare = (message: Message, { results }: Bundle): Message => {
    const role = roleOf(message)
    if (role === "toolResult") return withContent(message, [])
    if (role !== "assistant") return message
    const answers = [...results].filter((at) => pinned.has(at))
    const asked = new Set(
      answers.map((at) => (history[at] as { readonly toolCallId?: unknown }).toolCallId)
    )
    const isReasoning = (b: unknown) => isRecord(b) && b["type"] === "thinking"
    return withContent(
      message,
      contentOf(message).flatMap((b) => {
        if (isCall(b)) return [asked.has(b.id) ? b : { ...b, arguments: {} }]
        return asked.size > 0 && isReasoning(b) ? [b] : []
      })
    )
  }
  return history.flatMap((message, i): ReadonlyArray<Message> => {
    if (isFixed(message) || pinned.has(i)) return [message]
    if (i === task) return texts.length === 0 ? [] : [withContent(message, texts)]
    const bundle = bundles.get(i)
    return bundle !== undefined && held.has(bundle) ? [bare(message, bundle)] : []
  })
}

/** What the hard-protected part costs by itself. `ContextOverflow` may come only where this is over a limit. */
export const measureHardPart = (
  history: ReadonlyArray<Message>,
  counter: Counter,
  overhead: Overhead = {},
  isPinned?: IsPinned
): Measure => measure(hardPart(history, isPinned), counter, overhead)

/** Tokens of the hard-protected part, the overhead included. */
export const hardOnlyTokens = (
  history: ReadonlyArray<Message>,
  counter: Counter,
  overhead: Overhead = {},
  isPinned?: IsPinned
): number => measureHardPart(history, counter, overhead, isPinned).tokens

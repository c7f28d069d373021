import type { Message } from "@varve/core/Message"
import { historyAsCode } from "./Code.ts"
import { contentOf, isRecord } from "./internal/origins.ts"

type History = ReadonlyArray<Message>

/** Says whether a history still shows the fault. What throws shows it, too. */
export type Fails = (history: History) => boolean | Promise<boolean>

const failsSafely = async (fails: Fails, history: History): Promise<boolean> => {
  try {
    return await fails(history)
  } catch {
    return true
  }
}

/** Leaves out runs of messages, long runs first, as long as the fault shows. */
const fewer = async (history: History, fails: Fails): Promise<History> => {
  let now = history
  for (
    let size = Math.ceil(now.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < now.length;) {
      const without = now.toSpliced(at, size)
      if (without.length < now.length && (await failsSafely(fails, without))) now = without
      else at += size
    }
  }
  return now
}

const withContent = (message: Message, content: unknown): Message =>
  ({ ...message, content }) as unknown as Message

/** Simpler forms of one message, simplest first. */
const simpler = (message: Message): ReadonlyArray<Message> => {
  if (!isRecord(message)) return []
  const { content } = message as { readonly content?: unknown }
  if (typeof content === "string") return shorter(content).map((text) => withContent(message, text))
  const blocks = contentOf(message)
  return [
    ...blocks.map((_, i) => withContent(message, blocks.toSpliced(i, 1))),
    ...blocks.flatMap((block, i) => {
      if (!isRecord(block)) return []
      const text = block["type"] === "thinking" ? "thinking" : "text"
      const texts = typeof block[text] === "string" ? shorter(block[text]) : []
      const args = block["type"] === "toolCall" && JSON.stringify(block["arguments"]) !== "{}"
      return [
        ...texts.map((t) => withContent(message, blocks.with(i, { ...block, [text]: t }))),
        ...(args ? [withContent(message, blocks.with(i, { ...block, arguments: {} }))] : [])
      ]
    })
  ]
}

const shorter = (text: string): ReadonlyArray<string> => {
  const lengths = new Set([1, text.length >> 2, text.length >> 1, text.length - 1])
  return [...lengths].filter((n) => n > 0 && n < text.length).map((n) => text.slice(0, n))
}

const simplest = async (history: History, fails: Fails): Promise<History> => {
  let now = history
  for (let at = 0; at < now.length; at++) {
    for (let again = true; again;) {
      again = false
      for (const message of simpler(now[at]!)) {
        const next = now.with(at, message)
        if (!(await failsSafely(fails, next))) continue
        now = next
        again = true
        break
      }
    }
  }
  return now
}

/**
 * The smallest history that still fails: without the messages, blocks and text that the fault does without. For
 * histories that no arbitrary made, such as recorded ones; those of `histories` shrink by themselves. Gives back
 * what it was given where that does not fail.
 *
 * @example
 * ```ts
 * import { smallest } from "@varve/testkit/Shrink"
 *
 * const history = ["a", "long", "story"].map((content) => ({ role: "user" as const, content }))
 * const found = await smallest(history, (h) => h.some((m) => String(m.content).startsWith("l")))
 * console.log(found) // => [ { role: 'user', content: 'l' } ]
 * ```
 */
export const smallest = async (history: History, fails: Fails): Promise<History> => {
  if (!(await failsSafely(fails, history))) return history
  let now = history
  for (let before: History | undefined; before !== now;) {
    before = now
    const next = await simplest(await fewer(now, fails), fails)
    if (JSON.stringify(next) !== JSON.stringify(now)) now = next
  }
  return now
}

/** `smallest`, as code to be pasted into a test. */
export const smallestAsCode = async (history: History, fails: Fails): Promise<string> =>
  historyAsCode(await smallest(history, fails))

import type { Message } from "@varve/core/Message"
import { contentOf, isRecord, isText, roleOf } from "./origins.ts"

/** A request in two parts. */
export interface Parted {
  /** What is there without the texts at the tail. */
  readonly body: ReadonlyArray<Message>
  /** The message that holds them, and its place; as many as there are where none does. */
  readonly at: number
  readonly holder: Message | undefined
}

/**
 * The host's own message that the one at `at` is a copy of with `rest` as its blocks; the newest between those that
 * stand around it, if there are several.
 */
const originalOf = (
  input: ReadonlyArray<Message>,
  output: ReadonlyArray<Message>,
  at: number,
  rest: ReadonlyArray<unknown>
): Message | undefined => {
  const copy = output[at]!
  const places = (list: ReadonlyArray<Message>) => list.map((m) => input.indexOf(m))
  const after = Math.max(-1, ...places(output.slice(0, at)))
  const before = Math.min(input.length, ...places(output.slice(at + 1)).filter((i) => i > after))
  return input.slice(after + 1, before).findLast((message) => {
    if (!isRecord(message) || roleOf(message) !== copy.role) return false
    const { content: _, ...frame } = message as unknown as Record<string, unknown>
    const same = Object.entries(frame).every(
      ([key, value]) => (copy as unknown as Record<string, unknown>)[key] === value
    )
    const blocks = contentOf(message)
    const isBlock = (block: unknown, i: number): boolean =>
      typeof message.content === "string"
        ? isText(block) && block.text === message.content
        : block === blocks[i]
    return same && blocks.length === rest.length && rest.every(isBlock)
  })
}

/** Takes the texts at the tail off a request: the last blocks of the newest message that has them there. */
export const partTail = (
  input: ReadonlyArray<Message>,
  output: ReadonlyArray<Message>,
  isTail: ((text: string) => boolean) | undefined
): Parted => {
  const none = { body: output, at: output.length, holder: undefined }
  if (isTail === undefined) return none
  const isOurs = (block: unknown): boolean => isText(block) && isTail(block.text)
  const at = output.findLastIndex((message) => isOurs(contentOf(message).at(-1)))
  if (at < 0) return none
  const holder = output[at]!
  const blocks = contentOf(holder)
  const rest = blocks.slice(0, blocks.findLastIndex((block) => !isOurs(block)) + 1)
  const content = rest as unknown as ReadonlyArray<never>
  const whole = originalOf(input, output, at, rest) ?? { ...holder, content }
  return { body: output.with(at, whole), at, holder }
}

import type { Block, Message } from "@varve/core/Message"
import { replaceBlocks } from "@varve/core/Message"
import type { Codec } from "@varve/codecs"

type Json = Record<string, any>

/** What is put in the place of blocks: by position of the neutral message, then by path. */
export type Edits = Readonly<
  Record<number, Readonly<Record<string, string | Block | ReadonlyArray<Block>>>>
>

const blocks = (to: string | Block | ReadonlyArray<Block>): ReadonlyArray<Block> =>
  typeof to === "string" ? [{ type: "text", text: to }] : Array.isArray(to) ? to : [to as Block]

/** A request as it is written after edits, as core makes them. `without` are messages that have left. */
export const edited = (
  codec: Codec<any>,
  request: ReadonlyArray<unknown>,
  edits: Edits,
  without: ReadonlyArray<number> = []
): Array<Json> => {
  const now = codec.read(request).flatMap((message, i): ReadonlyArray<Message> => {
    if (without.includes(i)) return []
    const to = edits[i]
    if (to === undefined) return [message]
    return [
      replaceBlocks(message, new Map(Object.entries(to).map(([path, b]) => [path, blocks(b)])))
    ]
  })
  return codec.write<Json>(now)
}

/** A note as a fold leaves it. */
export const note = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] })

/** A result that stands for one that was never recorded. */
export const noResult = (toolCallId: string): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "t",
  content: [{ type: "text", text: "[no result was recorded]" }],
  isError: true
})

import type { Block, Message } from "../Message.ts"
import { imageOf, replaceBlocks, visitBlocks } from "../Message.ts"

const blind = new WeakMap<Message, Message>()

const NOTE: ReadonlyArray<Block> = [{ type: "text", text: "[image; this model takes none]" }]

/**
 * The messages for a model that takes no images: a note stands for each. Not an edit, so that the images are
 * back with a model that sees.
 */
export const withoutImages = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  messages.map((message) => {
    const done = blind.get(message)
    if (done !== undefined) return done
    const notes = new Map<string, ReadonlyArray<Block>>()
    visitBlocks(message, (block, path) => {
      if (imageOf(block) !== undefined) notes.set(path, NOTE)
    })
    const projected = notes.size === 0 ? message : replaceBlocks(message, notes)
    blind.set(message, projected)
    return projected
  })

import type { Block, Message } from "@varve/core/Message"
import { imageOf, replaceBlocks, visitBlocks } from "@varve/core/Message"
import { isRecord } from "./origins.ts"

/** As long as what core puts there. */
const NOTE: ReadonlyArray<Block> = [{ type: "text", text: "[image; this model takes none]" }]

/** A history as a model that takes no images gets it: what stands for an image may cost more than a tiny one. */
export const blind = (history: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  history.map((message) => {
    if (!isRecord(message)) return message
    const notes = new Map<string, ReadonlyArray<Block>>()
    visitBlocks(message, (block, path) => {
      if (imageOf(block) !== undefined) notes.set(path, NOTE)
    })
    return notes.size === 0 ? message : replaceBlocks(message, notes)
  })

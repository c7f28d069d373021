import type { Edit } from "../Edit.ts"
import * as EditOf from "../Edit.ts"
import { blockId, visitBlocks } from "../Message.ts"
import type { Block } from "../Message.ts"
import { GroupItem, replacementAt } from "./items.ts"
import type { ViewState } from "./ViewState.ts"

/** The reasoning behind a position that is still sent, as edits that take it out whole. */
export const reasoningBehind = (view: ViewState, from: number): ReadonlyArray<Edit> => {
  const edits: Array<Edit> = []
  for (const item of view.items) {
    if (!(item instanceof GroupItem) || item.last < from) continue
    for (const entry of item.group.entries) {
      if (entry.facts.thinking === 0) continue
      const { content } = entry.message
      const alone =
        Array.isArray(content) &&
        (content as ReadonlyArray<Block>).every((b) => b?.type === "thinking")
      visitBlocks(entry.message, (block, path) => {
        if (block.type !== "thinking" || replacementAt(item.replaced, entry.id, path)) return
        edits.push(
          EditOf.replace(
            blockId(entry.id, path),
            alone && path === "0" ? "[reasoning left out]" : []
          )
        )
      })
    }
  }
  return edits
}

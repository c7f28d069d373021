/** A strategy of your own: what a file held before it was written again is no longer worth its tokens. */
import { Edit, strategy } from "@varve/core"
import type { View } from "@varve/core"
import { visitBlocks } from "@varve/core/Message"

export const staleReads = strategy("staleReads", (view) => {
  const paths = pathsOf(view)
  const written = new Set<string>()
  return view.results.toReversed().flatMap(({ block, callId, rank, toolName }) => {
    const path = paths.get(callId) ?? ""
    if (toolName === "write") written.add(path)
    const stale = toolName === "read" && rank === 0 && written.has(path)
    return stale ? [Edit.replace(block, `[${path} was written after this; read it again]`)] : []
  })
})

/** The file that each call is about. */
const pathsOf = ({ messages }: View): ReadonlyMap<string, string> => {
  const paths = new Map<string, string>()
  for (const message of messages) {
    visitBlocks(message, (block) => {
      if (block.type !== "toolCall") return
      const { path } = (block.arguments ?? {}) as { readonly path?: unknown }
      if (typeof path === "string") paths.set(block.id, path)
    })
  }
  return paths
}

import type { Block, ImageBlock } from "../Message.ts"
import { type Builder, text } from "./Builder.ts"

/** A screen that an agent saw, and what it did then. */
export interface Frame {
  readonly image?: ImageBlock | undefined
  /** What the agent was told with the screen. */
  readonly note?: string | undefined
  readonly thought?: string | undefined
  readonly action?: { readonly name: string; readonly arguments: unknown } | undefined
  readonly timestamp?: number | undefined
}

/**
 * Builds a session of a sequence of screens: the task, a call for the first screen, then one call an action with
 * the next screen as its result. What was done at the last screen has no result, so it stands as text.
 */
export const addFrames = (builder: Builder, task: string, frames: ReadonlyArray<Frame>): void => {
  builder.user(task, frames[0]?.timestamp)
  frames.forEach((frame, i) => {
    const before = frames[i - 1]
    const action = before === undefined ? { name: "screenshot", arguments: {} } : before.action
    const seen: ReadonlyArray<Block> = [
      ...text(frame.note),
      ...(frame.image === undefined ? [] : [frame.image])
    ]
    // Without a first screen in the data the session begins with the first action.
    if (before === undefined && seen.length === 0) return
    const id = `call_${i + 1}`
    const call: Block = {
      type: "toolCall",
      id,
      name: action?.name ?? "screenshot",
      arguments: action?.arguments ?? {}
    }
    builder.assistant([...text(before?.thought), call], {
      timestamp: before?.timestamp ?? frame.timestamp
    })
    builder.result(id, seen, frame.timestamp)
  })
  const last = frames.at(-1)
  if (last?.thought === undefined && last?.action === undefined) return
  const done = last.action === undefined ? [] : text(JSON.stringify(last.action.arguments))
  builder.assistant([...text(last.thought), ...done], { timestamp: last.timestamp })
}

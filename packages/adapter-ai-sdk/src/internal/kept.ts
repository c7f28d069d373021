import type { AiSdkMessage } from "@varve/codecs/AiSdk"
import { same } from "./same.ts"

/** Makes a function that gives the same tools as the same object, so that they are counted once. */
export const keptTools = () => {
  let known: ReadonlyArray<unknown> | undefined
  return (tools: ReadonlyArray<unknown> | undefined): ReadonlyArray<unknown> | undefined => {
    if (!Array.isArray(tools) || tools.length === 0) return undefined
    if (!same(known, tools)) known = tools
    return known
  }
}

/**
 * Makes a function that gives the messages that stood in the last prompt as the objects that they were then.
 * The SDK makes each prompt anew; what is known by object needn't be read and counted again.
 */
export const keptMessages = () => {
  let known: ReadonlyArray<AiSdkMessage> = []
  return (prompt: ReadonlyArray<AiSdkMessage>): ReadonlyArray<AiSdkMessage> =>
    (known = prompt.map((message, i) => {
      const before = known[i]
      return before !== undefined && same(before, message) ? before : message
    }))
}

import type { Message } from "@varve/core"
import type { Peer } from "./Peer.ts"

/** Where the newest `keep` messages begin, without parting a result from its call. */
export const tailAt = (messages: ReadonlyArray<Message>, keep: number): number => {
  let at = Math.max(1, messages.length - keep)
  while (at > 1 && messages[at]?.role === "toolResult") at--
  return at
}

/** The classic sliding window: the task, and the newest messages. */
export const slidingWindow: Peer<Message> = {
  name: "sliding window",
  keeps: "window",
  hook: "written for this page, in nine lines",
  settings: "The task and the number of messages; a call is not parted from its results.",
  start: ({ messages: keep }) => {
    const all: Array<Message> = []
    return {
      read: (fresh) => fresh,
      write: (sent) => sent,
      request: async (fresh) => {
        all.push(...fresh)
        return [...all.slice(0, 1), ...all.slice(tailAt(all, keep))]
      }
    }
  }
}

import type { ModelMessage } from "ai"
import { pruneMessages } from "ai"
import type { Message } from "@varve/core"
import type { Peer } from "../../src/peers/Peer.ts"
import { shapes } from "./messages.ts"

const prune: Peer<any> = {
  name: "AI SDK pruneMessages",
  keeps: "calls",
  hook: "pruneMessages({ messages, … }) in prepareStep",
  settings:
    "toolCalls: before-last-N-messages, N twice the number of results (call and result); reasoning: none.",
  lacks: "No mark: it prunes in every request.",
  start: ({ results }) => {
    const { read, write } = shapes()
    const all: Array<ModelMessage> = []
    return {
      read: (fresh: ReadonlyArray<Message>) => read(fresh),
      write,
      request: async (fresh) => {
        all.push(...fresh)
        return pruneMessages({
          messages: all,
          reasoning: "none",
          toolCalls: `before-last-${2 * results}-messages`
        })
      }
    }
  }
}

export const peers = [prune]

import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  trimMessages
} from "@langchain/core/messages"
import type { Peer } from "../../src/peers/Peer.ts"
import { shapes } from "./messages.ts"

const trim: Peer<any> = {
  name: "LangChain trimMessages",
  keeps: "window",
  hook: "trimMessages(messages, …) before each model call",
  settings:
    "maxTokens: the number of messages, tokenCounter: one a message, strategy: last, includeSystem. " +
    "The task goes as the system message, since nothing else is kept; startOn: ai or human, since with " +
    "human alone nothing is left of a run of one turn.",
  lacks: "Drops whole messages only. Keeps the task only as a system message.",
  start: ({ messages: keep }) => {
    const { read, write } = shapes({ AIMessage, HumanMessage, SystemMessage, ToolMessage }, true)
    const all: Array<any> = []
    return {
      read,
      write,
      request: async (fresh) => {
        all.push(...fresh)
        // With a system message alone it throws.
        if (all.length === 1) return all.slice()
        return trimMessages(all, {
          maxTokens: keep + 1,
          tokenCounter: (list) => list.length,
          strategy: "last",
          includeSystem: true,
          startOn: ["human", "ai"]
        })
      }
    }
  }
}

const tokensOf = (message: any): number => Math.ceil(JSON.stringify(message.content).length / 4)

const byTokens: Peer<any> = {
  ...trim,
  name: "LangChain trimMessages, by tokens",
  settings:
    "As above, with a tokenCounter of tokens as a provider reports them, and maxTokens such that, in the mean over " +
    "the run, what it keeps has as many tokens as so many newest messages.",
  start: ({ limitFor, count }) => {
    const { read, write } = shapes({ AIMessage, HumanMessage, SystemMessage, ToolMessage }, true)
    const all: Array<any> = []
    const tokens = new Map<string, number>()
    const limit = limitFor(count)
    return {
      read: (fresh) => {
        const theirs = read(fresh)
        theirs.forEach((m, i) => tokens.set(m.id, count(fresh[i]!)))
        return theirs
      },
      write,
      request: async (fresh) => {
        all.push(...fresh)
        if (all.length === 1) return all.slice()
        return trimMessages(all, {
          maxTokens: limit + tokens.get("m0")!,
          tokenCounter: (list) =>
            list.reduce((sum, m) => sum + (tokens.get(String(m.id)) ?? tokensOf(m)), 0),
          strategy: "last",
          includeSystem: true,
          startOn: ["human", "ai"]
        })
      }
    }
  }
}

export const peers = [trim, byTokens]

import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  trimMessages
} from "@langchain/core/messages"
import {
  ClearToolUsesEdit,
  contextEditingMiddleware,
  countTokensApproximately,
  summarizationMiddleware
} from "langchain"
import type { Peer } from "../../src/peers/Peer.ts"
import { withTask } from "../../src/peers/Pairs.ts"
import { shapes } from "../langchain-core/messages.ts"

const classes = { AIMessage, HumanMessage, SystemMessage, ToolMessage }

const editing: Peer<any> = {
  name: "LangChain contextEditing",
  keeps: "results",
  hook: "contextEditingMiddleware: wrapModelCall",
  settings:
    "ClearToolUsesEdit with keep: the number of results, trigger: the mark in tokens. Its own count takes images " +
    "for nothing, so the trigger is the mark times the share of text in the run. What it cleared stays cleared.",
  lacks:
    "Counts images as nothing, so with the mark as it stands a run of screenshots fills the window before it acts.",
  start: ({ results, at, textShare }) => {
    const { read, write } = shapes(classes)
    const state: Array<any> = []
    const { wrapModelCall }: any = contextEditingMiddleware({
      edits: [
        new ClearToolUsesEdit({
          trigger: { tokens: Math.ceil(at * textShare) },
          keep: { messages: results }
        })
      ]
    })
    return {
      read,
      write,
      request: async (fresh) => {
        state.push(...fresh)
        let sent: ReadonlyArray<any> = []
        await wrapModelCall({ messages: state, model: {} }, async (request: any) => {
          sent = request.messages.slice()
        })
        return sent
      }
    }
  },
  count: (messages) => countTokensApproximately([...shapes(classes).read(messages)])
}

const trimming: Peer<any> = {
  name: "LangChain trimMessages, by its own count",
  keeps: "window",
  speedOnly: true,
  hook: "trimMessages(messages, …) before each model call",
  settings:
    "As by tokens, with countTokensApproximately of langchain as tokenCounter: it counts what it is given in every call.",
  start: ({ limitFor }) => {
    const { read, write } = shapes(classes, true)
    const all: Array<any> = []
    const known = new WeakMap<object, number>()
    const limit = limitFor((message) => {
      let tokens = known.get(message)
      if (tokens === undefined) {
        tokens = countTokensApproximately([...shapes(classes).read([message])])
        known.set(message, tokens)
      }
      return tokens
    })
    return {
      read,
      write,
      request: async (fresh) => {
        all.push(...fresh)
        // With a system message alone it throws.
        if (all.length === 1) return all.slice()
        return trimMessages(all, {
          maxTokens: limit + countTokensApproximately(all.slice(0, 1)),
          tokenCounter: countTokensApproximately,
          strategy: "last",
          includeSystem: true,
          startOn: ["human", "ai"]
        })
      }
    }
  }
}

const summarization: Peer<any> = {
  name: "LangChain summarization",
  keeps: "summary",
  hook: "summarizationMiddleware: beforeModel",
  settings:
    "trigger: the mark in tokens, counted as a provider reports them; keep: the number of messages; " +
    "trimTokensToSummarize: all (by default the model that summarises gets the newest 4 000 tokens and no more). " +
    "The host keeps the task, before what it sends.",
  lacks: "By itself it would let the task go into the summary with the rest.",
  start: ({ messages: keep, at, summarize, count }) => {
    const { read, write } = shapes(classes)
    let state: Array<any> = []
    const model: any = {
      invoke: async (prompt: string) => new AIMessage(summarize(prompt))
    }
    const tokens = new WeakMap<object, number>()
    const tokenCounter = (list: ReadonlyArray<any>): number =>
      list.reduce((sum, m) => {
        let own = tokens.get(m)
        if (own === undefined) {
          own = write([m]).reduce((s, ours) => s + count(ours), 0)
          tokens.set(m, own)
        }
        return sum + own
      }, 0)
    const { beforeModel }: any = summarizationMiddleware({
      model,
      trigger: { tokens: at },
      keep: { messages: keep },
      tokenCounter,
      trimTokensToSummarize: 1e9
    })
    return withTask({
      read,
      write,
      request: async (fresh) => {
        state.push(...fresh)
        const update = await beforeModel({ messages: state }, { context: {} })
        if (update?.messages !== undefined)
          state = update.messages.filter((m: any) => !RemoveMessage.isInstance(m))
        return state.slice()
      }
    })
  }
}

export const peers = [editing, trimming, summarization]

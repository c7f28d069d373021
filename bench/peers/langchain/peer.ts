import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage
} from "@langchain/core/messages"
import { ClearToolUsesEdit, contextEditingMiddleware, summarizationMiddleware } from "langchain"
import type { Peer } from "../../src/peers/Peer.ts"
import { withTask } from "../../src/peers/Pairs.ts"
import { shapes } from "../langchain-core/messages.ts"

const classes = { AIMessage, HumanMessage, SystemMessage, ToolMessage }

/** Its own count, as it is in the middleware: four characters a token, images as nothing. */
const countTokensApproximately = async (messages: ReadonlyArray<any>): Promise<number> => {
  let counted = 0
  // The function is not exported; an edit gets it.
  const probe = {
    apply: async ({ countTokens }: any) => void (counted = await countTokens(messages))
  }
  const { wrapModelCall }: any = contextEditingMiddleware({ edits: [probe as any] })
  await wrapModelCall({ messages }, async () => undefined)
  return counted
}

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
  count: (messages) => countTokensApproximately(shapes(classes).read(messages))
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

export const peers = [editing, summarization]

import {
  BedrockModel,
  configureLogging,
  Message,
  SlidingWindowConversationManager,
  SummarizingConversationManager,
  TextBlock
} from "@strands-agents/sdk"
import type { Peer } from "../../src/peers/Peer.ts"
import { shapes } from "./messages.ts"

configureLogging({ debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } as any)

/** The handler of its proactive compression, called before the model: `reduce` once the mark is reached. */
const running = (manager: any, model: any, at: number) => {
  const { read, write } = shapes()
  const agent: any = { messages: [] }
  return {
    read,
    write,
    request: async (fresh: ReadonlyArray<any>, tokens: number) => {
      agent.messages.push(...fresh)
      if (tokens >= at) await manager.reduce({ agent, model })
      return agent.messages.slice()
    }
  }
}

const sliding: Peer<any> = {
  name: "Strands SlidingWindow",
  keeps: "window",
  hook: "SlidingWindowConversationManager.reduce, as its proactive compression calls it before the model",
  settings:
    "windowSize: the number of messages and the task; pinFirst: 1; compressionThreshold: the mark in tokens. " +
    "Without it the window is cut only when a turn is over, which a run of one turn never is.",
  start: ({ messages: keep, at }) =>
    running(new SlidingWindowConversationManager({ windowSize: keep, pinFirst: 1 }), undefined, at)
}

const summarizing: Peer<any> = {
  name: "Strands Summarizing",
  keeps: "summary",
  hook: "SummarizingConversationManager.reduce, as its proactive compression calls it before the model",
  settings:
    "preserveRecentMessages: the number of messages; summaryRatio: 0.8, the most that it takes (it keeps at " +
    "least a fifth); pinFirst: 1; compressionThreshold: the mark in tokens.",
  start: ({ messages: keep, at, summarize }) => {
    const model = {
      // eslint-disable-next-line require-yield
      streamAggregated: async function* (messages: ReadonlyArray<Message>, { systemPrompt }: any) {
        let images = 0
        const text = JSON.stringify(messages, (_, value) => {
          if (value?.image === undefined) return value
          images++
          return "image"
        })
        const answer = summarize(`${systemPrompt}\n${text}`, images)
        return { message: new Message({ role: "assistant", content: [new TextBlock(answer)] }) }
      }
    }
    const manager = new SummarizingConversationManager({
      preserveRecentMessages: keep,
      summaryRatio: 0.8,
      pinFirst: 1
    })
    return running(manager, model, at)
  },
  count: (messages) =>
    new BedrockModel({ region: "us-east-1" } as any).constructor.prototype.__proto__.countTokens(
      shapes().read(messages)
    )
}

export const peers = [sliding, summarizing]

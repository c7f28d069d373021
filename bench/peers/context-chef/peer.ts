import { estimate, Janitor, summarize as summarizing } from "@context-chef/core"
import type { Message } from "@varve/core"
import { blocksOf, pairs, textIn, withTask } from "../../src/peers/Pairs.ts"
import type { Peer } from "../../src/peers/Peer.ts"

const shapes = () => {
  const { pair, write } = pairs<any>((m) =>
    m.role === "assistant"
      ? { role: "assistant", content: [{ type: "text", text: m.content }] }
      : { role: "user", content: m.content }
  )
  const one = (message: Message): any => {
    const blocks = blocksOf(message.content)
    const content = textIn(blocks)
    const images = blocks.flatMap((b) =>
      b.type === "image" ? [{ mediaType: b.mimeType, data: b.data }] : []
    )
    const attachments = images.length === 0 ? {} : { attachments: images }
    if (message.role === "toolResult")
      return { role: "tool", content, tool_call_id: message.toolCallId, ...attachments }
    if (message.role !== "assistant")
      return { role: message.role === "system" ? "system" : "user", content, ...attachments }
    const calls = blocks.flatMap((b) =>
      b.type === "toolCall"
        ? [
            {
              id: b.id,
              type: "function",
              function: { name: b.name, arguments: JSON.stringify(b.arguments) }
            }
          ]
        : []
    )
    return { role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
  }
  return { read: (fresh: ReadonlyArray<Message>) => fresh.map((m) => pair(one(m), m)), write }
}

/** What its README asks of a compression model: the roles and calls flattened to text. */
const flat = (messages: ReadonlyArray<any>): string =>
  messages
    .map((m) => [m.role, m.content, ...(m.tool_calls ?? []).map((c: any) => JSON.stringify(c))])
    .map((parts) => parts.join("\n"))
    .join("\n\n")

const janitor: Peer<any> = {
  name: "ContextChef summarize",
  keeps: "summary",
  hook: "Janitor.compress(history), its result kept as the history",
  settings:
    "contextWindow: the mark in tokens, triggerRatio: 1, fed with the tokens that a provider reports; summarize " +
    "with preserveRecentMessages: as many turns (a call with its results is one) as the messages hold. The host " +
    "keeps the task, before what it sends.",
  lacks:
    "By itself it would let the task go into the summary with the rest, unless the host pins it. Its check that a summary is short " +
    "enough counts characters alone: where most of what goes is images it refuses the summary, and after three " +
    "refusals it does nothing more.",
  start: ({ messages: keep, at, summarize, count }) => {
    const { read, write } = shapes()
    const tokens = new WeakMap<object, number>()
    const tokensOf = (m: object): number => {
      let own = tokens.get(m)
      if (own === undefined)
        tokens.set(m, (own = write([m]).reduce((sum, ours) => sum + count(ours), 0)))
      return own
    }
    const runner = new Janitor({
      contextWindow: at,
      triggerRatio: 1,
      tokenizer: (list: ReadonlyArray<object>) => list.reduce((sum, m) => sum + tokensOf(m), 0),
      usagePreference: "feedFirst",
      logger: { warn: () => {} },
      strategy: summarizing({
        compressionModel: async (list: ReadonlyArray<any>) => summarize(flat(list)),
        preserveRecentMessages: Math.max(1, keep >> 1),
        split: "recent-turns"
      })
    } as any)
    let history: Array<any> = []
    return withTask({
      read,
      write,
      request: async (fresh, total) => {
        history.push(...fresh)
        runner.feedTokenUsage(total)
        history = (await runner.compress(history)).slice()
        return history.slice()
      }
    })
  },
  count: (messages) =>
    shapes()
      .read(messages)
      .reduce((sum: number, m: any) => sum + estimate(JSON.stringify({ ...m, attachments: [] })), 0)
}

export const peers = [janitor]

import { TokenLimiterProcessor } from "@mastra/core/processors"
import type { Message } from "@varve/core"
import type { Peer } from "../../src/peers/Peer.ts"
import { shapes } from "../ai/messages.ts"

/** Tokens that its estimate gives a prompt: the smallest limit under which nothing is taken away. */
const tokensOf = (prompt: ReadonlyArray<any>): number => {
  const processor: any = new TokenLimiterProcessor(1)
  return prompt.reduce((sum, message) => sum + processor.countPromptMessageTokens(message), 24)
}

const withMode = (trimMode: "best-fit" | "contiguous"): Peer<any> => ({
  name: "Mastra TokenLimiter",
  keeps: "window",
  hook: "TokenLimiterProcessor.processLLMRequest({ prompt })",
  settings:
    "limit: by its own estimate, and such that, in the mean over the run, what it keeps has as many tokens as so many " +
    "newest messages; trimMode: contiguous. The task goes as the system message, since nothing else is kept.",
  lacks: "Drops whole messages only. Keeps the task only as a system message.",
  start: ({ limitFor }) => {
    const { read, write } = shapes(true)
    const all: Array<any> = []
    let processor: TokenLimiterProcessor | undefined
    return {
      read: (fresh: ReadonlyArray<Message>) => {
        const theirs = read(fresh)
        if (processor === undefined) {
          const task = theirs[0]?.role === "system" ? tokensOf(theirs.slice(0, 1)) : 24
          const own = new WeakMap<Message, number>()
          const estimate = (message: Message): number => {
            let tokens = own.get(message)
            if (tokens === undefined)
              own.set(message, (tokens = tokensOf(shapes().read([message])) - 24))
            return tokens
          }
          const limit = Math.ceil(task + limitFor(estimate)) + 1
          processor = new TokenLimiterProcessor({ limit, trimMode })
        }
        return theirs
      },
      write,
      request: async (fresh) => {
        all.push(...fresh)
        // With a system message alone it throws.
        if (all.length === 1) return all.slice()
        const result: any = await processor!.processLLMRequest({ prompt: all } as any)
        return result?.prompt ?? all.slice()
      }
    }
  },
  count: (messages) => tokensOf(shapes().read(messages)) - 24
})

export const peers = [
  withMode("contiguous"),
  // Its default looks at all messages: what is older may be smaller, and fit.
  { ...withMode("best-fit"), name: "Mastra TokenLimiter, best-fit", speedOnly: true }
]

import type { Message } from "@varve/core"
import type { Policy } from "./Policy.ts"
import { slide } from "./Policy.ts"

/** What `compaction` takes. */
export interface CompactionOptions {
  /** Tokens of the messages from which on everything old becomes a summary. */
  readonly at: number
  /** Messages at the end that stay as they are; default 6. A call and its result are not parted. */
  readonly keep?: number
  /** Tokens of the summary; default 1 500. */
  readonly summary?: number
}

/** Tokens of what asks a model for a summary. */
const INSTRUCTION = 300

/**
 * A baseline: at a mark, one summary takes the place of all but the task and the newest messages, as hosts
 * with a "compact" command do it. The call that writes it shares the prefix of the request before: it reads
 * that from the cache, and is billed for its instruction and its answer. It keeps less than a policy of kept
 * images does, so compare its cost with that in mind.
 */
export const compaction = ({ at, keep = 6, summary = 1500 }: CompactionOptions): Policy => ({
  name: `compaction @${Math.round(at / 1000)}k`,
  start: ({ counter }) => {
    const tokensOf = (m: Message): number =>
      counter !== undefined && "message" in counter ? counter.message(m) : 0
    let from = 0
    let head: ReadonlyArray<Message> = []
    let count = 0
    return {
      prepare: async (history) => {
        const sum = (messages: ReadonlyArray<Message>): number =>
          messages.reduce((s, m) => s + tokensOf(m), 0)
        const shown = [...head, ...history.slice(from)]
        const tokens = sum(shown)
        if (tokens < at) return { messages: shown, reasoningLost: 0 }
        let cut = Math.max(from, history.length - keep)
        while (cut < history.length && history[cut]!.role === "toolResult") cut++
        // Too little between the last summary and the tail to be worth another one.
        if (cut <= from) return { messages: shown, reasoningLost: 0 }
        const before = sum(history.slice(cut))
        count++
        from = Math.max(1, cut)
        const text = `[Summary ${count} of what came before]`.padEnd(summary * 4, " of the run")
        head = [history[0]!, { role: "user", content: text }]
        return {
          messages: [...head, ...history.slice(from)],
          reasoningLost: 0,
          call: { read: Math.max(0, tokens - before), input: INSTRUCTION + before, output: summary }
        }
      },
      close: async () => {}
    }
  }
})

/**
 * A baseline: the newest `keep` images, and a memory of `tokens` tokens in the system prompt that changes with
 * every step. Nothing behind the system prompt is ever read from the cache.
 */
export const memoryInSystemPrompt = (keep: number, tokens = 700): Policy => {
  const inner = slide(keep)
  return {
    name: `memory in the system prompt, slide ${keep}`,
    start: (given) => {
      const running = inner.start(given)
      return {
        ...running,
        prepare: async (history, at) => ({
          ...(await running.prepare(history, at)),
          system: { text: `memory after ${history.length} messages`, tokens }
        })
      }
    }
  }
}

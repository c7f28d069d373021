import { conversationSummary } from "@varve/core/ConversationSummary"
import * as Commit from "@varve/core/Commit"
import { estimateCounter } from "@varve/core/Counter"
import { createMemory } from "@varve/core/createMemory"
import { textOf } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { expect, it } from "vitest"
import { readable } from "./retention/run.ts"

const counter = estimateCounter()

/** What was dropped and what came of it: the test's own idea of a path, a name and a touched file. */
const PATH = /(?:~|\.{1,2})?\/?(?:[\w@.+-]+\/)+[\w@+-][\w@.+-]*\.[a-z]\w{0,4}\b/g
const NAME = /\b(?:[a-z]+[A-Z]|[A-Z]+[a-z0-9]+[A-Z]|[A-Za-z0-9]+_)\w*\b/g
const touched = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages.flatMap((m) =>
    m.role === "assistant" && Array.isArray(m.content)
      ? m.content.flatMap((block) => {
          const args = (block?.type === "toolCall" ? block.arguments : null) as Record<
            string,
            unknown
          > | null
          const path = args?.path ?? args?.file_path
          return typeof path === "string" && path.includes("/") ? [path] : []
        })
      : []
  )

const found = (messages: ReadonlyArray<Message>, pattern: RegExp): ReadonlyArray<string> => [
  // Escapes of JSON and of code are no part of a name.
  ...new Set(
    readable(messages)
      .replaceAll(/\\+[nrt]/g, " ")
      .match(pattern) ?? []
  )
]

it.runIf(requireData("summaries of real sessions"))(
  "of real coding sessions, a fold has the files that were touched, and what the agent writes again",
  { timeout: 600_000 },
  async () => {
    const sums = { touched: [0, 0], path: [0, 0], name: [0, 0] }
    let folds = 0
    for (const entry of sessions().filter(({ kind }) => kind === "coding")) {
      const messages = entry.read().messages as ReadonlyArray<Message>
      if (messages.length < 60) continue
      for (const at of [Math.round(messages.length / 2), Math.round(messages.length * 0.75)]) {
        const history = messages.slice(0, at)
        const tokens = history.reduce((sum, m) => sum + counter.message(m), 0)
        const memory = createMemory({
          // Half of the history is over the mark.
          budget: { tokens: Math.max(1000, Math.floor(tokens * 0.9)) },
          commit: Commit.immediate,
          pipeline: [conversationSummary({ summarizer: extractiveSummarizer(), keep: 0.3 })]
        })
        const { messages: view } = await memory.prepare(history)
        await memory.close()
        expect(checkValidity(view, { startsWithUser: true })).toEqual([])
        const fold = view.map(textOf).find((text) => text.startsWith("<summary so far"))
        if (fold === undefined) continue
        folds++
        const sent = new Set<unknown>(view)
        const dropped = history.filter((message) => !sent.has(message))
        const later = messages.slice(at).filter(({ role }) => role === "assistant")
        const text = readable(view)
        const add = (kind: keyof typeof sums, needed: ReadonlyArray<string>): void => {
          sums[kind][0]! += needed.filter((anchor) => text.includes(anchor)).length
          sums[kind][1]! += needed.length
        }
        const needed = (pattern: RegExp): ReadonlyArray<string> => {
          const again = new Set(found(later, pattern))
          return found(dropped, pattern).filter((anchor) => again.has(anchor))
        }
        add("touched", [...new Set(touched(dropped))])
        add("path", needed(PATH))
        add("name", needed(NAME))
      }
    }
    expect(folds).toBeGreaterThan(10)
    const share = ([kept, of]: ReadonlyArray<number>): number => kept! / of!
    console.log(`${folds} folds; kept of needed: ${JSON.stringify(sums)}`)
    expect(share(sums.touched)).toBe(1)
    expect(share(sums.path)).toBeGreaterThanOrEqual(0.95)
    expect(share(sums.name)).toBeGreaterThanOrEqual(0.6)
  }
)

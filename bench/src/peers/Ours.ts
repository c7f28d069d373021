import { Commit, conversationSummary, Edit, strategy, type Strategy } from "@varve/core"
import type { CommitRule } from "@varve/core/Commit"
import type { View } from "@varve/core/View"
import { keepImages, memoryPolicy, type Policy } from "@varve/simulator"
import { modelSummarizer } from "@varve/strategy-llm-summary"
import { standIn, type Call, type Input } from "./Inputs.ts"
import { blocksOf, textIn } from "./Pairs.ts"
import type { Kept } from "./Peer.ts"

/** What we keep: as the peers of a kind do, and the newest images with all that was said. */
export type OurKept = Kept | "images"

/** The messages of the newest `keep` results. */
const newestResults = (view: View, keep: number): ReadonlySet<string> => {
  const ids = new Set<string>()
  for (let i = view.items.length - 1; i >= 0 && ids.size < keep; i--) {
    const { members, messages } = view.items[i]!
    for (let j = messages.length - 1; j >= 0 && ids.size < keep; j--)
      if (messages[j]!.role === "toolResult") ids.add(members[j]!)
  }
  return ids
}

const keepResults = (keep: number): Strategy =>
  strategy(`keepResults ${keep}`, (view) => {
    const kept = newestResults(view, keep)
    const old = [...view.results.filter(({ rank }) => rank === 0), ...view.images].filter(
      ({ block, message }) => !kept.has(message) && view.protection(block) === undefined
    )
    return old.map(({ block }) => Edit.replace(block, "[cleared]"))
  })

/** All that was said, and the newest `keep` groups with calls; of older ones only what the model said. */
const keepCalls = (keep: number): Strategy =>
  strategy(`keepCalls ${keep}`, (view) => {
    const calling = view.items.filter(({ kind, messages }) => {
      return kind === "group" && messages.some(({ role }) => role === "toolResult")
    })
    return calling
      .slice(0, -keep)
      .filter(({ id, members }) => members.length > 0 && view.protection(id) === undefined)
      .map(({ id, members, messages }) => {
        const said = textIn(
          messages.flatMap((m) => (m.role === "assistant" ? blocksOf(m.content) : []))
        )
        return Edit.fold([id], said === "" ? null : said, members.at(-1)!)
      })
  })

/** The task, and at least the newest `keep` messages. Nothing stands for the others. */
const keepMessages = (keep: number): Strategy =>
  strategy(`keepMessages ${keep}`, (view) => {
    let end = view.items.length
    for (let left = keep; end > 0 && left > 0;) left -= view.items[--end]!.messages.length
    return view.items
      .slice(1, end)
      .filter(({ closed, id, members }) => {
        return closed && members.length > 0 && view.protection(id) === undefined
      })
      .map(({ id, members }) => Edit.fold([id], null, members.at(-1)!))
  })

/** Share of the token limit that the mark is. */
const SOFT = 0.3

/** One strategy of ours for what is kept, and the calls of a model that it makes. */
export const keeping = (kept: OurKept, { steps, counter, at }: Input) => {
  const calls: ReadonlyArray<Call> = []
  switch (kept) {
    case "images":
      return { strategy: keepImages(steps), calls, options: {} }
    case "results":
      return { strategy: keepResults(steps), calls, options: {} }
    case "calls":
      return { strategy: keepCalls(steps), calls, options: {} }
    case "window":
      return { strategy: keepMessages(2 * steps), calls, options: {} }
    case "summary": {
      const { summarize, calls } = standIn(counter)
      const summarizer = modelSummarizer({
        complete: async ({ system, prompt }) => ({
          text: summarize(system + prompt),
          stopReason: "stop"
        })
      })
      const strategy = conversationSummary({
        summarizer,
        soft: SOFT,
        // Each is waited for, as the peers do, and is in force in the same request.
        hard: SOFT,
        // The groups alone say what stays.
        keep: 1e-6,
        keepGroups: steps,
        registryTokens: 0
      })
      // The mark is the soft one. The limit is far: nobody's window is one here.
      const tokens = Math.round(at / SOFT)
      return { strategy, calls, options: { budget: { tokens } } }
    }
  }
}

/** A memory of ours that keeps the same as the peers of a kind, with the calls of its model billed. */
export const ours = (
  name: string,
  kept: OurKept,
  input: Input,
  commit: CommitRule,
  marks = false
): Policy => ({
  name,
  start: (given) => {
    const { strategy, calls, options } = keeping(kept, input)
    const running = memoryPolicy(
      name,
      { pipeline: [strategy], commit, ...options },
      { marks }
    ).start(given)
    let called = 0
    return {
      ...running,
      prepare: async (history, at) => {
        const answer = await running.prepare(history, at)
        const own = calls.slice(called)
        called = calls.length
        if (own.length === 0) return answer
        const sum = (f: (call: Call) => number): number => own.reduce((s, call) => s + f(call), 0)
        const call = { read: 0, input: sum((c) => c.input), output: sum((c) => c.output) }
        return { ...answer, call }
      }
    }
  }
})

/** The commit rules that the page compares. */
export const rules = (expectedRequests: number) => ({
  immediate: Commit.immediate,
  pays: Commit.whenItPays(),
  paysMarks: Commit.whenItPays({ marks: true }),
  known: Commit.whenItPays({ expectedRequests }),
  knownMarks: Commit.whenItPays({ expectedRequests, marks: true })
})

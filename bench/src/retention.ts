/**
 * What a summary keeps of what an agent needs again, on the real session of 914 messages: folded at its half
 * and at three quarters, each time with 20 000 tokens left word for word behind it.
 *
 * An anchor is a path, an identifier, a number of three digits or more, or a file that a tool touched, of what
 * was dropped. It is needed where the agent itself writes it before the next fold (or the end). Recall is the
 * share of these that stand in what the model gets; `alone` is that of the folded text by itself. Each maker
 * of summaries is measured with a registry beside it, and with as many tokens for a plain summary.
 *
 * `node --conditions=@varve/source src/retention.ts`
 */
import {
  clipSummarizer,
  Commit,
  conversationSummary,
  createMemory,
  defaultProfile,
  memoryStore
} from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { textOf, visitBlocks } from "@varve/core/Message"
import type { Summarizer } from "@varve/core/Summarizer"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { requireData } from "@varve-examples/session-readers/Data"
import { session } from "@varve-examples/session-readers/Sessions"

const TAIL = 20_000
const TOKENS = 1500
const SOFT = 0.6

const counter = estimateCounter()

/** The texts of a message, and the texts in the arguments of its calls. */
const readable = (message: Message): string => {
  const parts = [textOf(message)]
  const add = (value: unknown): void => {
    if (typeof value === "string" || typeof value === "number") parts.push(String(value))
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(add)
  }
  visitBlocks(message, (block) => {
    if (block.type === "toolCall") add(block.arguments)
  })
  return parts.join("\n")
}

const all = (messages: ReadonlyArray<Message>): string => messages.map(readable).join("\n")

/** Patterns of this measurement's own: what is measured doesn't say what counts. */
const PATTERNS = {
  path: /(?:~|\.{1,2})?\/?(?:[\w@.+-]+\/)+[\w@+-][\w@.+-]*\.\w{1,5}\b|\b[\w-]+\.(?:tsx?|js|mjs|json|md|sh|ya?ml|css|html|py|lock)\b/g,
  identifier: /\b(?:[a-z]+[A-Z]|[A-Z]+[a-z0-9]+[A-Z]|[A-Za-z0-9]+_)\w*\b/g,
  number: /\b\d{3,}\b/g
}

type Kind = keyof typeof PATTERNS | "touched file"

const touched = (messages: ReadonlyArray<Message>): ReadonlySet<string> => {
  const files = new Set<string>()
  for (const message of messages)
    visitBlocks(message, (block) => {
      if (block.type !== "toolCall") return
      const { path } = (block.arguments ?? {}) as { path?: unknown }
      if (typeof path === "string") files.add(path)
    })
  return files
}

const anchors = (kind: Kind, messages: ReadonlyArray<Message>): ReadonlySet<string> =>
  kind === "touched file" ? touched(messages) : new Set(all(messages).match(PATTERNS[kind]) ?? [])

const isIn = (text: string, anchor: string): boolean => {
  for (let at = text.indexOf(anchor); at >= 0; at = text.indexOf(anchor, at + 1))
    if (!/\w/.test(text[at - 1] ?? " ") && !/\w/.test(text[at + anchor.length] ?? " ")) return true
  return false
}

const percent = (n: number, of: number): string =>
  of === 0 ? "-" : `${Math.round((100 * n) / of)} %`

const row = (...cells: ReadonlyArray<string | number>): void =>
  console.log(
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(24) : String(cell).padStart(11))).join("")
  )

const HEAD = "<summary so far"

interface Seen {
  readonly dropped: ReadonlyArray<Message>
  readonly later: ReadonlyArray<Message>
  readonly view: string
  readonly fold: string
}

/** Folds the session at each place, the second time over the first fold, as after a restart. */
const foldAt = async (
  messages: ReadonlyArray<Message>,
  places: ReadonlyArray<number>,
  summarizer: Summarizer,
  options: { readonly targetTokens: number; readonly registryTokens: number }
): Promise<ReadonlyArray<Seen>> => {
  const store = memoryStore()
  const seen: Array<Seen> = []
  let folds = ""
  for (const [i, place] of places.entries()) {
    const history = messages.slice(0, place)
    // What the view has now, less one: so it is folded here, whatever was folded before.
    const open = async (tokens: number) => {
      const mark = tokens * SOFT
      const memory = createMemory({
        budget: { tokens },
        profile: { ...defaultProfile, contextWindow: 10_000_000 },
        commit: Commit.immediate,
        store,
        pipeline: [
          conversationSummary({
            summarizer,
            soft: SOFT,
            keep: Math.min(1, TAIL / mark),
            ...options
          })
        ]
      })
      const prepared = await memory.prepare(history)
      await memory.close()
      return prepared.messages
    }
    const now = (await open(5_000_000)).reduce((sum, m) => sum + counter.message(m), 0)
    const view = await open(Math.floor((now - 1) / SOFT))
    const fold = view.map(textOf).find((text) => text.startsWith(HEAD)) ?? ""
    if (fold === folds) throw new Error(`nothing was folded at ${place}`)
    folds = fold
    const sent = new Set(view)
    seen.push({
      dropped: history.filter((message) => !sent.has(message)),
      later: messages.slice(place, places[i + 1]).filter(({ role }) => role === "assistant"),
      view: all(view),
      fold
    })
  }
  return seen
}

const makers: Readonly<Record<string, Summarizer>> = {
  extractive: extractiveSummarizer(),
  clip: clipSummarizer()
}

if (requireData("retention")) {
  const messages = session("pi/large-session").messages as ReadonlyArray<Message>
  const places = [Math.round(messages.length / 2), Math.round((messages.length * 3) / 4)]
  for (const [name, maker] of Object.entries(makers)) {
    const kept = await foldAt(messages, places, maker, {
      targetTokens: TOKENS,
      registryTokens: TOKENS
    })
    const plain = await foldAt(messages, places, maker, {
      targetTokens: 2 * TOKENS,
      registryTokens: 0
    })
    for (const [i, place] of places.entries()) {
      const [a, b] = [kept[i]!, plain[i]!]
      console.log(
        `\n${name}, at message ${place}: ${a.dropped.length} messages dropped; ` +
          `${counter.text(a.fold)} tokens with a registry, ${counter.text(b.fold)} without`
      )
      row("", "dropped", "needed", "recall", "alone", "plain", "plain alone")
      for (const kind of ["touched file", "path", "identifier", "number"] as const) {
        const dropped = anchors(kind, a.dropped)
        const later = all(a.later)
        const needed = [...dropped].filter((anchor) => isIn(later, anchor))
        const recall = (text: string): string =>
          percent(needed.filter((anchor) => isIn(text, anchor)).length, needed.length)
        row(
          kind,
          dropped.size,
          needed.length,
          recall(a.view),
          recall(a.fold),
          recall(b.view),
          recall(b.fold)
        )
      }
    }
  }
}

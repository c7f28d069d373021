import { conversationSummary } from "@varve/core/ConversationSummary"
import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { textOf, visitBlocks } from "@varve/core/Message"
import { stepMemory } from "@varve/core/StepMemory"
import type { Summarizer } from "@varve/core/Summarizer"
import * as Commit from "@varve/core/Commit"
import { deepFreeze } from "@varve/testkit/Freeze"
import type { Needle, NeedleKind, Trace } from "./trace.ts"
import { needleKinds } from "./trace.ts"

/** What the model got in the first request after a compaction. */
export interface Compaction {
  /** The step before which the request was made. */
  readonly at: number
  /** The steps of which nothing stands word for word any more. */
  readonly dropped: ReadonlySet<number>
  readonly text: string
  readonly summary: string
  readonly messages: ReadonlyArray<Message>
}

const HEAD = "<summary so far"

/** All that a model reads of messages: texts, and calls with their arguments. */
export const readable = (messages: ReadonlyArray<Message>): string => {
  const parts: Array<string> = []
  for (const message of messages) {
    parts.push(textOf(message))
    visitBlocks(message, (block) => {
      if (block.type === "toolCall") parts.push(`${block.name} ${JSON.stringify(block.arguments)}`)
    })
  }
  return parts.join("\n")
}

export interface RunOptions {
  /** Made anew for each strategy. */
  readonly summarizer: () => Summarizer
  readonly compactions: number
  /** Default: as the strategy has it. */
  readonly registryTokens?: number
  readonly targetTokens?: number
}

/** Runs a trace through a memory, request by request, until there were so many compactions. */
export const runTrace = async (
  { task, steps }: Trace,
  { summarizer, compactions, ...summary }: RunOptions
): Promise<ReadonlyArray<Compaction>> => {
  const memory = createMemory({
    budget: { tokens: 24_000 },
    commit: Commit.immediate,
    pipeline: [
      // A bad summary is clipped at the same mark, so that all stand-ins compact equally often.
      conversationSummary({ summarizer: summarizer(), hard: 0.6, ...summary }),
      stepMemory({ summarizer: summarizer() }),
      hardLimit()
    ]
  })
  const found: Array<Compaction> = []
  const history: Array<Message> = [deepFreeze(task)]
  let last = ""
  for (const [i, step] of steps.entries()) {
    const { messages, report } = await memory.prepare(history)
    const failed = report.strategies.filter((s) => s.error !== undefined)
    if (failed.length > 0) throw new Error(JSON.stringify(failed))
    const text = messages.map(textOf).find((t) => t.startsWith(HEAD)) ?? ""
    if (text !== last) {
      last = text
      const sent = new Set<Message>(messages)
      const dropped = new Set(
        [...steps.keys()].filter((n) => n < i && !steps[n]!.messages.some((m) => sent.has(m)))
      )
      found.push({ at: i, dropped, text: readable(messages), summary: text, messages })
      if (found.length === compactions) break
    }
    memory.steps.begin({
      id: `s${i}`,
      step: i,
      goal: step.goal,
      callId: step.callId,
      tool: step.tool
    })
    history.push(...deepFreeze(step.messages))
    if (step.outcome !== undefined)
      memory.steps.finish({ id: `s${i}`, callId: step.callId, outcome: step.outcome })
  }
  await memory.close()
  if (found.length < compactions) throw new Error(`only ${found.length} compactions`)
  return found
}

const isKept = ({ kind, parts }: Needle, text: string): boolean =>
  kind === "failed step"
    ? new RegExp(`failed: (?:[^\\n]*\\D)?${parts[0]}\\b|step ${parts[0]}: failed`).test(text)
    : parts.every((part) => text.includes(part))

/** What has to be there wherever it stands: nothing stands word for word in its place. */
const always: ReadonlySet<NeedleKind> = new Set(["goal", "screen", "pending step"])

/** Kept and planted, by kind, of what no longer stands word for word at a compaction. */
export type Retention = Readonly<
  Record<NeedleKind | "id", readonly [kept: number, planted: number]>
>

export const retentionOf = (
  { steps, needles }: Trace,
  compactions: ReadonlyArray<Compaction>,
  k: number
): Retention => {
  const { at, dropped, text } = compactions[k - 1]!
  const counts = Object.fromEntries(
    needleKinds.map((kind) => {
      const due = needles.filter(
        (n) =>
          n.kind === kind && n.until >= at && (always.has(kind) ? n.at < at : dropped.has(n.at))
      )
      return [kind, [due.filter((n) => isKept(n, text)).length, due.length] as const]
    })
  )
  // Identifiers of what was dropped that the agent writes before the next compaction.
  const until = compactions[k]!.at
  const named = new Set([...dropped].flatMap((n) => steps[n]!.names))
  const later = new Set(steps.slice(at, until).flatMap(({ uses }) => uses))
  const needed = [...later].filter((id) => named.has(id))
  return {
    ...counts,
    id: [needed.filter((id) => text.includes(id)).length, needed.length]
  } as unknown as Retention
}

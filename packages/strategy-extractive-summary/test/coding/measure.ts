import { conversationSummary } from "@varve/core/ConversationSummary"
import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import type { Message } from "@varve/core/Message"
import { textOf } from "@varve/core/Message"
import type { Summarizer } from "@varve/core/Summarizer"
import { deepFreeze } from "@varve/testkit/Freeze"
import { codingTurns, topics } from "./traffic.ts"

/** A test's own idea of a line that is source code, a piece of it, or what a tool prints of its own work. */
export const isNoise = (line: string): boolean =>
  /^tool \S+(?: \(error\))?: (?:\d+(?:\t|$)|[^\p{L}]*$|\S+ ?\S*$|at )|[{};]$|\(!?$|=>|\bconst \w+ =|Tests of this part|that the \w+ needs\.|comes first\.|✓|> vitest|Start at|Duration/u.test(
    line
  )

/** A call, which says no more than the registry of files does. */
export const isCall = (line: string): boolean => /^(?:assistant: )?\[call of /.test(line)

export interface Fold {
  readonly turn: number
  readonly lines: ReadonlyArray<string>
  /** What the model got, all of it. */
  readonly view: string
}

/** The run, turn by turn, through a memory; what each new fold says. */
export const foldsOf = async (
  summarizer: Summarizer,
  options: { readonly targetTokens?: number; readonly registryTokens?: number } = {}
): Promise<ReadonlyArray<Fold>> => {
  const memory = createMemory({
    budget: { tokens: 16_000 },
    commit: Commit.immediate,
    pipeline: [conversationSummary({ summarizer, ...options })]
  })
  const history: Array<Message> = []
  const folds: Array<Fold> = []
  let last: string | undefined
  for (const [turn, messages] of codingTurns().entries()) {
    history.push(...deepFreeze(messages))
    const prepared = await memory.prepare(history)
    const texts = prepared.messages.map(textOf)
    const fold = texts.find((text) => text.startsWith("<summary so far"))
    if (fold === undefined || fold === last) continue
    last = fold
    const summary = /<summary [^>]*>\n([\s\S]*)\n<\/summary>/.exec(fold)?.[1] ?? ""
    folds.push({ turn, lines: summary.split("\n"), view: texts.join("\n") })
  }
  await memory.close()
  return folds
}

/** Share of such lines, over all folds. */
export const shareOf = (folds: ReadonlyArray<Fold>, is: (line: string) => boolean): number => {
  const lines = folds.flatMap((fold) => fold.lines)
  return lines.filter(is).length / lines.length
}

/** How many of the newest decisions stand in what the model gets, of those there were, over all folds. */
export const standing = (folds: ReadonlyArray<Fold>): readonly [stand: number, of: number] => {
  let [stand, of] = [0, 0]
  for (const { turn, view } of folds)
    for (const { said } of topics) {
      const newest = said.findLast(([at]) => at <= turn)
      if (newest === undefined) continue
      of++
      if (view.includes(newest[2])) stand++
    }
  return [stand, of]
}

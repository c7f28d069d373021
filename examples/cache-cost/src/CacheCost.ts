import { estimateCounter, Pipeline } from "@varve/core"
import { profile } from "@varve/profiles"
import type { Policy, SessionLike, Simulated } from "@varve/simulator"
import {
  cacheKindOf,
  clipResults,
  compaction,
  interval,
  keepImages,
  memoryInSystemPrompt,
  nothing,
  optimum,
  planned,
  simulate,
  slide,
  traceOf,
  whenItPays
} from "@varve/simulator"

/** Tokens of system text and tools, which session files don't tell. */
const OVERHEAD = 6000

/** What is kept: the newest 3 images and 10 results; head and tail stand for older results. */
const keep = Pipeline.pipeline("3 images, 10 results", keepImages(3), clipResults(10))

const named = (name: string, policy: Policy): Policy => ({ ...policy, name })

/** What a session would have cost with a model, under each policy, in the order of the table. */
export const cacheCost = async (
  session: SessionLike,
  model: string
): Promise<ReadonlyArray<Simulated>> => {
  const given = profile(model)
  // The window is no limit here: what is compared is when to prune, not what has to be pruned.
  const facts = { ...given, contextWindow: 100_000_000, limits: {} }
  const options = { cache: cacheKindOf(facts), profile: facts, counter: estimateCounter() }
  const marks = facts.cache.kind === "marks"
  const trace = traceOf(session, { overhead: OVERHEAD })
  const best = await optimum(trace, keep, { ...options, marks })
  const policies = [
    named("nothing", nothing),
    named("memory in the system prompt", memoryInSystemPrompt(3)),
    named("in every step", slide(keep)),
    named("25 at a time", interval(keep, 25)),
    named("when it pays", whenItPays(keep)),
    ...(marks
      ? [
          named("in every step, with marks", slide(keep, { marks })),
          named("25 at a time, with marks", interval(keep, 25, { marks })),
          named("when it pays, with marks", whenItPays(keep, { marks }))
        ]
      : []),
    named("compaction at 60 000", compaction({ at: 60_000 })),
    named("the best there is", planned(keep, best.commits, { marks }))
  ]
  const rows: Array<Simulated> = []
  for (const policy of policies) rows.push(await simulate(trace, policy, options))
  return rows
}

/** The table as text, one policy a line. */
export const table = (rows: ReadonlyArray<Simulated>): string => {
  const head = ["policy", "USD", "read from cache", "peak tokens", "breaks"]
  const lines = rows.map(({ breaks, cost, hitRate, peakTokens, policy }) => [
    policy,
    cost.toFixed(3),
    `${(100 * hitRate).toFixed(0)} %`,
    Math.round(peakTokens).toLocaleString("en"),
    String(breaks)
  ])
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((l) => l[i]!.length)))
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

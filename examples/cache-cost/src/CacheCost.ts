import { estimateCounter, Pipeline } from "@varve/core"
import type { Message } from "@varve/core"
import { profile } from "@varve/profiles"
import type { Policy, SessionLike, Simulated, Trace } from "@varve/simulator"
import {
  cacheKindOf,
  clipResults,
  compaction,
  interval,
  keepImages,
  memoryInSystemPrompt,
  nothing,
  optimum,
  simulate,
  slide,
  traceOf,
  whenItPays
} from "@varve/simulator"

/** Tokens of system text and tools, which session files don't tell. */
const OVERHEAD = 6000

/** Requests above which the optimum is left out: its time grows with the fourth power of them. */
export const OPTIMUM_UP_TO = 500

/** What is kept: the newest 3 images and 10 results; head and tail stand for older results. */
const keep = Pipeline.pipeline("3 images, 10 results", keepImages(3), clipResults(10))

const named = (name: string, policy: Policy): Policy => ({ ...policy, name })

/** One policy's row: what it would have cost, or why that is left out. */
export interface Row {
  readonly policy: string
  readonly run?: Simulated
  readonly leftOut?: string
}

/** The run with each request's history made when it is asked for: all of them would grow with the square of the run. */
const lazyTrace = ({ messages, name, requests }: SessionLike): Trace => {
  const made = requests.filter(({ at }) => at > 0)
  const trace = traceOf({ name, messages: [], requests: made }, { overhead: OVERHEAD })
  return {
    ...trace,
    requests: trace.requests.map(({ at, output }, i) => ({
      at,
      output,
      get history() {
        return messages.slice(0, made[i]!.at) as ReadonlyArray<Message>
      }
    }))
  }
}

const BEST = "the best there is"

/**
 * What a session would have cost with a model, under each policy, in the order of the table; each as soon as it
 * is known.
 */
export async function* cacheCost(session: SessionLike, model: string): AsyncGenerator<Row> {
  const given = profile(model)
  // The window is no limit here: what is compared is when to prune, not what has to be pruned.
  const facts = { ...given, contextWindow: 100_000_000, limits: {} }
  const options = { cache: cacheKindOf(facts), profile: facts, counter: estimateCounter() }
  const marks = facts.cache.kind === "marks"
  const trace = lazyTrace(session)
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
    named("compaction at 60 000", compaction({ at: 60_000 }))
  ]
  for (const policy of policies)
    yield { policy: policy.name, run: await simulate(trace, policy, options) }
  if (trace.requests.length > OPTIMUM_UP_TO) {
    const leftOut = `left out: above ${OPTIMUM_UP_TO} requests it takes too long to find`
    return yield { policy: BEST, leftOut }
  }
  const best = await optimum(trace, keep, { ...options, marks })
  yield { policy: BEST, run: best.replay }
}

const WIDTHS = [27, 9, 15, 11, 6]

/** Cells as a line of the table. */
const cells = (line: ReadonlyArray<string>): string =>
  line
    .map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[i]!) : cell.padStart(WIDTHS[i]!)))
    .join("  ")
    .trimEnd()

/** The table's first line. */
export const HEAD = cells(["policy", "USD", "read from cache", "peak tokens", "breaks"])

/** A row as a line of the table. */
export const lineOf = ({ leftOut, policy, run }: Row): string =>
  run === undefined
    ? `${policy.padEnd(WIDTHS[0]!)}  ${leftOut}`
    : cells([
        policy,
        run.cost.toFixed(3),
        `${(100 * run.hitRate).toFixed(0)} %`,
        Math.round(run.peakTokens).toLocaleString("en"),
        String(run.breaks)
      ])

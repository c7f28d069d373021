import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Proposal } from "./Edit.ts"
import * as Edit from "./Edit.ts"
import { decodeOptions, functionOption, Positive } from "./Options.ts"
import type { Step } from "./StepLog.ts"
import type { Propose, Strategy } from "./Strategy.ts"
import { make } from "./Strategy.ts"
import type { Summarizer } from "./Summarizer.ts"
import type { SummaryError } from "./VarveError.ts"
import type { StepLine, Summarised } from "./internal/stepText.ts"
import {
  layersOf,
  newestWithin,
  readSummarised,
  renderSteps,
  stepLine,
  stepMaterial
} from "./internal/stepText.ts"
import { summarize } from "./internal/summarize.ts"

const Options = Schema.Struct({
  /** Who summarises older steps; without one they are clipped. */
  summarizer: Schema.optional(functionOption<Summarizer>()),
  /** Tokens of finished steps that stand word for word; default 400. */
  recentTokens: Schema.optional(Positive),
  /** Tokens of the summary; default 600. */
  summaryTokens: Schema.optional(Positive),
  /** Tokens of the whole memory at most; default the two together and 300, and never more than a quarter of the limit. */
  cap: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(100))),
  /** How long a summary may take, in ms; default 60 000. */
  timeout: Schema.optional(Positive)
})

/** What `stepMemory` takes. */
export type StepMemoryOptions = typeof Options.Type

/** The memo's key. */
export const STEPS = "steps"

/** Where a text doesn't fit, the layers shrink by these shares until it does. */
const SHARES = [1, 0.75, 0.5, 0.3, 0.15, 0]

const NONE: ReadonlyArray<Proposal> = []

/**
 * The step memory: a memo with what was done so far, in three layers. Steps without an outcome stand last,
 * finished ones word for word, older ones in a summary. What is said of a step's outcome is what was
 * recorded, never what a model says.
 *
 * When the finished steps have more than `recentTokens`, the older of them go into the summary. Where that
 * fails (see `SummaryError`), nothing is lost: they stay out of the summary, are clipped in the text alone,
 * and the next try waits until as much again has come. The text never has more than `cap` tokens.
 *
 * Throws `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createMemory, stepMemory } from "@varve/core"
 *
 * const memory = createMemory({ pipeline: [stepMemory({ recentTokens: 200 })] })
 * memory.steps.begin({ id: "s1", goal: "open the menu", tool: "click" })
 * memory.steps.finish({ id: "s1", outcome: "success" })
 * const { messages } = await memory.prepare([{ role: "user", content: "Change the language." }])
 * console.log(messages.length) // => 2
 * await memory.close()
 * ```
 */
export const stepMemory = (options?: StepMemoryOptions): Strategy => {
  const decoded = decodeOptions(Options, options, "stepMemory")
  return make(
    "stepMemory",
    Effect.sync(() => start(decoded))
  )
}

const start = (options: StepMemoryOptions): Propose => {
  const { summarizer, recentTokens = 400, summaryTokens = 600, timeout = 60_000 } = options
  const { cap = recentTokens + summaryTokens + 300 } = options
  const known = new WeakMap<Step, StepLine>()
  let busy = false
  // Unsummarised tokens from which on a summary is tried again after a failure.
  let retryAt = 0
  // What was looked at when there was nothing to say: looking at it again costs nothing.
  let idle:
    | {
        readonly steps: ReadonlyArray<Step>
        readonly text: string | undefined
        readonly most: number
      }
    | undefined
  // The last summary, for when the memo that holds it was not accepted: it is not made twice.
  let made:
    | { readonly on: number; readonly at: number; readonly last: Step; readonly saved: Summarised }
    | undefined

  return (view) =>
    Effect.gen(function* () {
      const { steps, counter } = view
      const count = counter.text
      const line = (step: Step): StepLine => {
        let found = known.get(step)
        if (found === undefined) known.set(step, (found = stepLine(step, count)))
        return found
      }
      const memo = view.memos.find(({ key }) => key === STEPS)
      const most = Math.min(cap, Math.floor(view.limits.tokens / 4))
      const same = idle?.steps === steps && idle.text === memo?.text && idle.most === most
      if (steps.length === 0 || same) return NONE
      const kept = readSummarised(memo?.data, steps.length)
      let saved = made?.on === kept.through && steps[made.at] === made.last ? made.saved : kept
      let failure: SummaryError | undefined
      let layers = layersOf(steps, saved)

      if (summarizer !== undefined && !busy) {
        const { finished } = layers
        const lines = finished.map(line)
        const tokens = lines.reduce((sum, l) => sum + l.tokens, 0)
        const older = finished.slice(0, finished.length - newestWithin(lines, recentTokens / 2))
        if (tokens > recentTokens && tokens >= retryAt && older.length > 0) {
          busy = true
          const material = older.map((step) => stepMaterial(step, line(step), count))
          const replaces =
            count(saved.summary) + material.reduce((sum, m) => sum + count(m.text), 0)
          const targetTokens = Math.max(1, Math.min(summaryTokens, Math.floor(replaces * 0.75)))
          yield* summarize(
            summarizer,
            { previous: saved.summary || undefined, material, keep: [], targetTokens, count },
            timeout,
            { replaces }
          ).pipe(
            Effect.match({
              onSuccess: ({ text }) => {
                const last = older.at(-1)!
                const at = steps.lastIndexOf(last)
                const inside = new Set([...layers.summarised, ...older])
                const through = Math.max(saved.through, at + 1)
                const open: Array<number> = []
                for (let i = 0; i < through; i++) if (!inside.has(steps[i]!)) open.push(i)
                saved = { summary: text.trim(), through, open }
                made = { on: kept.through, at, last, saved }
                retryAt = 0
              },
              onFailure: (error) => {
                failure = error
                retryAt = tokens + recentTokens
              }
            }),
            Effect.ensuring(Effect.sync(() => void (busy = false)))
          )
          layers = layersOf(steps, saved)
        }
      }

      const text = fitting(
        most,
        (share) => {
          const summary = share * Math.min(summaryTokens, most * 0.5)
          const recent = share * Math.min(recentTokens, most * 0.35)
          return renderSteps(
            layers,
            saved.summary,
            line,
            { failed: Math.floor(40 * share), summary, recent, pending: share * most * 0.25 },
            count
          )
        },
        (text) => counter.message({ role: "user", content: [{ type: "text", text }] })
      )
      if (text === undefined || text === memo?.text) {
        if (!busy) idle = { steps, text: memo?.text, most }
        return NONE
      }
      const data = saved.through === 0 ? undefined : saved
      const reason =
        failure === undefined
          ? "steps were recorded"
          : `steps were recorded; no summary: ${failure.message}`
      return [Edit.proposal(reason, [Edit.memo(STEPS, text, { cap: most, data })])]
    })
}

const fitting = (
  most: number,
  render: (share: number) => string,
  cost: (text: string) => number
): string | undefined => {
  for (const share of SHARES) {
    const text = render(share)
    if (cost(text) <= most) return text
  }
  return undefined
}

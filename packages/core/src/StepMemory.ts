import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Proposal } from "./Edit.ts"
import * as Edit from "./Edit.ts"
import { IsDryRun } from "./DryRun.ts"
import { decodeOptions, functionOption, Positive } from "./Options.ts"
import type { Profile } from "./Profile.ts"
import type { Redact } from "./Redact.ts"
import { CurrentRedact } from "./Redact.ts"
import type { Step } from "./StepLog.ts"
import type { Propose, Strategy } from "./Strategy.ts"
import { make } from "./Strategy.ts"
import type { AnySummarizer } from "./Summarizer.ts"
import type { SummaryError } from "./VarveError.ts"
import type { View } from "./View.ts"
import type { StepLine, Summarised } from "./internal/stepText.ts"
import {
  layersOf,
  newestWithin,
  readSummarised,
  renderSteps,
  stepLine,
  stepMaterial
} from "./internal/stepText.ts"
import type { Making, StartSummary } from "./internal/summaries.ts"
import { errorOf, isEnded, summaries } from "./internal/summaries.ts"
import { summarize } from "./internal/summarize.ts"
import { hasRoomNear, mayChangeTail } from "./internal/tail.ts"
import { Warn } from "./Warn.ts"

const Options = Schema.Struct({
  /** Who summarises older steps, a summarizer or a function of yours; without one the newest of them are listed. */
  summarizer: Schema.optional(functionOption<AnySummarizer>()),
  /** Tokens of finished steps that stand word for word; default 400. */
  recentTokens: Schema.optional(Positive),
  /** Tokens of the summary; default 600. */
  summaryTokens: Schema.optional(Positive),
  /** Tokens of the whole memory at most; default the two together and 300, and never more than a quarter of the limit. */
  cap: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(100))),
  /**
   * Where the text stands: in the `messages`, behind the task; at the `tail` of each request, always the newest; or
   * in `compose` alone, for a host that puts what `memory.compose()` gives into its own system prompt; default
   * `messages`.
   */
  place: Schema.optional(Schema.Literals(["messages", "tail", "compose"])),
  /** How long a summary may take, in ms, the wait for another one of this memory included; default 60 000. */
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
 * The step memory: a memo with what was done so far, in three layers, and up to which step that is: the first
 * one is sent at once, newer ones when other edits come into force or the provider's cache is cold. Until then
 * the newer steps stand in the messages themselves; `compose()` has all steps up to the last request.
 *
 * With `place: "tail"` the newest text is the last block of the newest message of a user or a tool that has room for
 * it in each request, and what stands before that stays. That message is paid for once more: in the runs of
 * `bench/src/places.ts` that is 2 to 9 % where the longest prefix is cached, 19 to 42 % where there are marks, as long
 * as they stand before the tail, as those do that `prepare` gives; else all is written anew each time. Where the
 * profile binds reasoning to what stands before it, or none of the newest messages has room, the memo stands behind
 * the task all the same, and a warning says so.
 *
 * Older steps stand in a summary, finished ones word for word, those without an outcome last. A step's outcome in
 * the lists is what was recorded, never what a model says; the steps that failed and are in the summary stand
 * beside it, as many as have room. A step stays recorded where the host goes back in its history.
 *
 * When the finished steps have more than `recentTokens`, the older of them go into the summary. That is made
 * beside the agent, one at a time, and stands in the text from the request on that comes after it. No request
 * ever waits for it: until then these steps are clipped in the text, which never has more than `cap` tokens.
 * Where it fails (see `SummaryError`), nothing is lost: they stay out of the summary, and the next try waits
 * until as much again has come.
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
  return make("stepMemory", start(decoded))
}

/** A summary that is being made, and what it will be of. */
interface Asked {
  readonly making: Making
  /** Tokens of the finished steps that were in no summary. */
  readonly tokens: number
  readonly take: (summary: string) => Made
}

/** The last summary, for as long as no memo holds it. */
interface Made {
  /** The summaries that it goes on from: where a memo holds one of them, it takes its place. */
  readonly on: ReadonlyArray<string>
  /** Its last step, and where that is in the log. */
  readonly at: number
  readonly last: Step
  readonly saved: Summarised
}

const notAtTail = ({ model, reasoning }: Profile): string =>
  `stepMemory({ place: "tail" }): the memory stands behind the task. ${model} binds its reasoning to all that ` +
  `stands before it (reasoning: "${reasoning}"), so a text that changes at the tail would take it away from every ` +
  'answer. Where the model runs without reasoning, say so in the profile: { reasoning: "none" }'

const NO_ROOM =
  'stepMemory({ place: "tail" }): the memory stands behind the task, as with place "messages". None of the newest ' +
  "messages of users and tools has room for a text (errors, empty results, screenshots of OpenAI's computer tool), " +
  "and at the tail of an older one it would have all behind that written anew in each request."

const nameOf = ({ summary, through }: Summarised): string => `${through} ${summary}`

const start = Effect.fnUntraced(function* (
  options: StepMemoryOptions
): Effect.fn.Return<Propose, never, Scope.Scope> {
  const redact = yield* CurrentRedact
  const begin = yield* summaries
  return strategyOf(options, redact, begin)
})

const strategyOf = (options: StepMemoryOptions, redact: Redact, begin: StartSummary): Propose => {
  const { summarizer, recentTokens = 400, summaryTokens = 600, timeout = 60_000 } = options
  const { cap = recentTokens + summaryTokens + 300 } = options
  const { place = "messages" } = options
  const aside = place === "compose"
  const known = new WeakMap<Step, StepLine>()
  let asked: Asked | undefined
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
  let made: Made | undefined
  /** Why the last one was not made, until a memo has said so. */
  let failure: SummaryError | undefined

  /** Takes in what came of the summary that was asked for. */
  const settle = (): void => {
    const exit = asked?.making.exit()
    if (asked === undefined || exit === undefined) return
    if (Exit.isSuccess(exit)) {
      made = asked.take(exit.value.text.trim())
      retryAt = 0
    } else if (!isEnded(exit)) {
      failure = errorOf(exit)
      retryAt = asked.tokens + recentTokens
    }
    asked = undefined
    idle = undefined
  }

  const propose = Effect.fnUntraced(function* (
    view: View
  ): Effect.fn.Return<ReadonlyArray<Proposal>> {
    settle()
    const { counter, steps } = view
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
    const isNewer = (): boolean =>
      made?.on.includes(nameOf(kept)) === true && steps[made.at] === made.last
    let saved = isNewer() ? made!.saved : kept
    let layers = layersOf(steps, saved)
    const isDry = yield* IsDryRun
    const notes: Array<Proposal> = []

    if (summarizer !== undefined && asked === undefined) {
      const { finished, summarised } = layers
      const lines = finished.map(line)
      const tokens = lines.reduce((sum, l) => sum + l.tokens, 0)
      const older = finished.slice(0, finished.length - newestWithin(lines, recentTokens / 2))
      // Fewer than at the failure: another log, as after a reset.
      if (tokens + recentTokens < retryAt) retryAt = 0
      if (tokens > recentTokens && tokens >= retryAt && older.length > 0 && isDry)
        notes.push(Edit.proposal(`a summary of ${older.length} steps would be begun`, []))
      else if (tokens > recentTokens && tokens >= retryAt && older.length > 0) {
        const material = older.map((step) => stepMaterial(step, line(step), count, redact))
        const replaces = count(saved.summary) + material.reduce((sum, m) => sum + count(m.text), 0)
        const targetTokens = Math.max(1, Math.min(summaryTokens, Math.floor(replaces * 0.75)))
        const previous = saved.summary || undefined
        const request = { previous, material, keep: [], targetTokens, count }
        const last = older.at(-1)!
        const at = steps.lastIndexOf(last)
        const inside = new Set([...summarised, ...older])
        const through = Math.max(saved.through, at + 1)
        const open: Array<number> = []
        for (let i = 0; i < through; i++) if (!inside.has(steps[i]!)) open.push(i)
        const making = yield* begin(
          (ms) => summarize(summarizer, request, ms, { replaces }),
          timeout
        )
        const on = [nameOf(saved), ...(saved === kept ? [] : made!.on)]
        const take = (summary: string): Made => ({
          on,
          at,
          last,
          saved: { summary, through, open }
        })
        asked = { making, tokens, take }
        settle()
        if (asked === undefined) {
          if (isNewer()) saved = made!.saved
          layers = layersOf(steps, saved)
        } else notes.push(Edit.proposal(`a summary of ${older.length} steps was begun`, []))
      }
    }

    const text = fitting(
      most,
      (share) => {
        const summary = share * Math.min(summaryTokens, most * 0.5)
        const recent = share * Math.min(recentTokens, most * 0.35)
        const room = {
          failed: Math.floor(40 * share),
          goals: share * most * 0.12,
          summary,
          recent,
          pending: share * most * 0.25
        }
        return redact(renderSteps(layers, saved.summary, line, room, count))
      },
      (text) => counter.message({ role: "user", content: [{ type: "text", text }] })
    )
    const isBound = place === "tail" && !mayChangeTail(view.profile)
    const tail = place === "tail" && !isBound && hasRoomNear(view.messages)
    if (isBound) (yield* Warn)("tail", notAtTail(view.profile))
    else if (place === "tail" && !tail) (yield* Warn)("tail room", NO_ROOM)
    const inPlace =
      memo === undefined || ((memo.aside === true) === aside && (memo.tail === true) === tail)
    if (text === undefined || (text === memo?.text && inPlace)) {
      idle = { steps, text: memo?.text, most }
      return notes
    }
    const data = saved.through === 0 ? undefined : saved
    const where = place === "tail" && !tail ? "; behind the task, not at the tail" : ""
    const reason =
      failure === undefined
        ? `steps were recorded${where}`
        : `steps were recorded${where}; no summary (${failure.reason}): ${failure.message}`
    failure = undefined
    const edit = Edit.memo(STEPS, text, { cap: most, aside, tail, data })
    return [Edit.proposal(reason, [edit]), ...notes]
  })

  return (view) =>
    Effect.flatMap(IsDryRun, (isDry) => {
      if (!isDry) return propose(view)
      // It looks, and leaves all as it is.
      const before = { asked, retryAt, idle, made, failure }
      return Effect.ensuring(
        propose(view),
        Effect.sync(() => ({ asked, retryAt, idle, made, failure } = before))
      )
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

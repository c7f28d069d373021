import type { Limits } from "../Budget.ts"
import { resolveLimits } from "../Budget.ts"
import type { Calibration } from "../Calibration.ts"
import {
  applyCalibration,
  observe,
  observeOverflow,
  startCalibration,
  usageTokens
} from "../Calibration.ts"
import type { Counter, Overhead } from "../Counter.ts"
import type { Restored } from "../Ledger.ts"
import { calibrationLine } from "../Ledger.ts"
import type { ReportedUsage } from "../Memory.ts"
import type { MessageId } from "../Message.ts"
import type { Entry } from "../Transcript.ts"
import { show } from "../VarveError.ts"
import { errorText } from "./box.ts"
import { bytesOf } from "./bytes.ts"
import type { readOptions } from "./memoryOptions.ts"
import type { Tighter } from "./recovery.ts"
import { tighten } from "./recovery.ts"
import type { Sent, Session } from "./Session.ts"
import type { ViewContext, ViewState } from "./ViewState.ts"

/** What system text and tools cost. */
interface Beside {
  readonly system: unknown
  readonly tools: unknown
  readonly tokens: number
  /** The part of the tokens that no learned ratio scales. */
  readonly fixed: number
  readonly bytes: number
}

/** What the provider reported for a request whose answer is not in the history yet. */
interface Reported {
  readonly actual: number
  readonly output: number | undefined
  readonly last: Sent
  /** Messages of the history that the request was made with. */
  readonly length: number
}

const NONE: Tighter = {}

/** What a memory measures with: limits, what stands beside the messages, and what usage has taught. */
export class Meter {
  readonly #counter: Counter
  readonly #limits: Limits
  #reported: Reported | undefined
  #beside: Beside | undefined
  /** What was learned, in the counter's own tokens. */
  #known: Calibration
  /** The same for counts that are provisional; only the anchor differs. */
  #provisional: Calibration | undefined
  /** Limits that a provider's errors have stated. */
  learned: Tighter = NONE
  /** Limits of the one request that answers an overflow. */
  #squeezed: Tighter = NONE

  constructor(counter: Counter, { budget, profile }: ReturnType<typeof readOptions>) {
    this.#counter = counter
    this.#limits = resolveLimits(budget, profile)
    this.#known = startCalibration(profile)
  }

  /** What was learned of the model's counts. */
  get calibration(): Calibration {
    return this.#known
  }

  restore({ calibration, limits }: Pick<Restored, "calibration" | "limits">): void {
    this.#known = calibration ?? this.#known
    this.learned = limits
  }

  /** What holds for this request. */
  get limits(): Limits {
    return tighten(tighten(this.#limits, this.learned), this.#squeezed)
  }

  squeeze(limits: Tighter): void {
    this.#squeezed = limits
  }

  release(): void {
    this.#squeezed = NONE
  }

  /** Counts system text and tools, once as long as they stay the same objects. */
  beside(system: string | undefined, tools: ReadonlyArray<unknown> | undefined): Beside {
    const known = this.#beside
    if (known !== undefined && known.system === system && known.tools === tools) return known
    // Some hosts give the system text as blocks.
    const text =
      typeof system === "string" ? system : (JSON.stringify(system) as string | undefined)
    const list = Array.isArray(tools) ? tools : tools === undefined ? [] : [tools]
    const { tokens, fixed } = this.#counter.request({ system: text, tools: list, messages: [] })
    return (this.#beside = { system, tools, tokens, fixed, bytes: bytesOf({ system, tools }) })
  }

  /** What stood beside the messages last. */
  get besides(): Beside | undefined {
    return this.#beside
  }

  /** All of this that a walk depends on. */
  get state(): ReadonlyArray<unknown> {
    return [this.#beside, this.#provisional ?? this.#known, this.learned, this.#squeezed]
  }

  /** True where the provider's last figure can be held against provisional counts of the same content. */
  provisional(sent: ViewState, through: MessageId): boolean {
    const { anchor } = this.#known
    const { byId } = sent.context.transcript
    if (anchor === undefined || !byId.has(through)) return false
    const behind = sent.context.transcript.behind(through)
    const estimate = sent.estimate - behind.tokens
    const fixed = sent.fixed - behind.fixed
    this.#provisional = { ...this.#known, anchor: { ...anchor, estimate, fixed } }
    return true
  }

  /** Leaves provisional counts behind. */
  settle(): void {
    this.#provisional = undefined
    this.#beside = undefined
  }

  /** Takes the place of what was sent, where it was counted anew. */
  resent(before: Sent | undefined, now: Sent | undefined): void {
    const reported = this.#reported
    if (reported === undefined) return
    const isSame = reported.last === before && now !== undefined
    this.#reported = isSame ? { ...reported, last: now } : undefined
  }

  readonly calibrate: ViewContext["calibrate"] = (estimate, fixed) => {
    const applied = applyCalibration(this.#provisional ?? this.#known, estimate, fixed)
    if (applied.source === "usage") return applied
    const { source } = this.#counter.request({ messages: [] })
    return { tokens: applied.tokens, source: source === "counted" ? "counted" : "estimated" }
  }

  /** Takes what the provider reported for the last request; false where that says nothing. */
  report(usage: ReportedUsage, { last, transcript }: Session): boolean {
    const actual = usageTokens(usage)
    if (actual === undefined || last === undefined) return false
    this.#reported = { actual, output: usage.output, last, length: transcript.length }
    return true
  }

  /** Learns from what was reported, once the answer to that request is in the history. */
  learn(session: Session): void {
    const reported = this.#reported
    if (reported === undefined) return
    this.#reported = undefined
    const { actual, last, length, output } = reported
    const answer = session.transcript.answerAt(length)
    const { estimate, fixed } = last
    const told = answer && { estimate: answer.facts.tokens, output }
    this.#take(
      session,
      last,
      observe(this.#known, { estimate, fixed, actual, answer: told }),
      answer
    )
  }

  /** Learns from an error that says how many tokens the last request had. */
  refused(session: Session, actual: number, last: Sent): void {
    const { estimate, fixed } = last
    this.#take(session, last, observeOverflow(this.#known, { estimate, fixed, actual }))
  }

  #take({ ledger, journal }: Session, last: Sent, known: Calibration, answer?: Entry): void {
    if (known === this.#known) return
    this.#known = known
    const newest = answer?.id ?? last.items.at(last.items.length - 1)?.members.at(-1)
    ledger.anchored = last.edits === ledger.sent ? newest : undefined
    journal.push(calibrationLine(known, ledger))
  }
}

const isPromise = (u: unknown): boolean => u instanceof Promise

/** What the host says of system text and tools; a function that throws says nothing. */
export const hostOverhead = (
  overhead: (() => Overhead) | undefined,
  warn: (message: string) => void
): Overhead | undefined => {
  try {
    const given: unknown = overhead?.()
    if (given === undefined || (typeof given === "object" && given !== null && !isPromise(given)))
      return given
    warn(`overhead gave ${isPromise(given) ? "a promise" : show(given)}, not { system, tools }`)
  } catch (error) {
    warn(`overhead failed: ${errorText(error)}`)
  }
  return undefined
}

import type { Limits } from "../Budget.ts"
import { resolveLimits } from "../Budget.ts"
import type { Calibration, Observation } from "../Calibration.ts"
import {
  applyCalibration,
  isPlausible,
  observe,
  observeOverflow,
  startCalibration,
  usageTokens
} from "../Calibration.ts"
import type { Counter, Overhead } from "../Counter.ts"
import type { Ledger, Restored, Saved } from "../Ledger.ts"
import { calibrationLine } from "../Ledger.ts"
import type { ReportedUsage } from "../Memory.ts"
import type { MessageId } from "../Message.ts"
import type { Entry } from "../Transcript.ts"
import { show } from "../VarveError.ts"
import { errorText } from "./box.ts"
import type { readOptions } from "./memoryOptions.ts"
import { Overheads } from "./Overheads.ts"
import type { Tighter } from "./recovery.ts"
import { tighten } from "./recovery.ts"
import type { Sent, Session } from "./Session.ts"
import type { ViewContext, ViewState } from "./ViewState.ts"

/** What the provider reported for a request whose answer is not in the history yet. */
interface Reported {
  readonly actual: number
  readonly output: number | undefined
  readonly last: Sent
  /** Messages of the history that the request was made with. */
  readonly length: number
  readonly isSaved?: true
}

const NONE: Tighter = {}

/** The newest message that a figure of the provider stands for, as long as nothing else came into force. */
const through = ({ sent }: Ledger, last: Sent, answer?: Entry): MessageId | undefined =>
  last.edits === sent
    ? (answer?.id ?? last.items.at(last.items.length - 1)?.members.at(-1))
    : undefined

/** What a memory measures with: limits, what stands beside the messages, and what usage has taught. */
export class Meter {
  readonly #counter: Counter
  readonly #limits: Limits
  /** System text and tools. */
  readonly overheads: Overheads
  readonly #warn: (cause: string, message: string) => void
  #reported: Reported | undefined
  /** What was learned, in the counter's own tokens. */
  #known: Calibration
  /** The same for counts that are provisional; only the anchor differs. */
  #provisional: Calibration | undefined
  /** Limits that a provider's errors have stated. */
  learned: Tighter = NONE
  /** Limits of the one request that answers an overflow. */
  #squeezed: Tighter = NONE

  constructor(
    counter: Counter,
    { budget, profile }: ReturnType<typeof readOptions>,
    warn: (cause: string, message: string) => void
  ) {
    this.#counter = counter
    this.overheads = new Overheads(counter)
    this.#warn = warn
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

  /** All of this that a walk depends on. */
  get state(): ReadonlyArray<unknown> {
    return [this.overheads.last, this.#provisional ?? this.#known, this.learned, this.#squeezed]
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
    this.overheads.forget()
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
  report(usage: ReportedUsage, session: Session): boolean {
    const { last, transcript } = session
    const actual = usageTokens(usage)
    if (actual === undefined || last === undefined) return false
    const { estimate, fixed, tokens } = last
    if (!isPlausible({ actual, estimate, fixed })) {
      this.#distrust(session, actual, tokens)
      return false
    }
    this.#reported = { actual, output: usage.output, last, length: transcript.length }
    return true
  }

  /** Passes a figure over. Where it is too small, earlier ones may have been as well: the counter alone counts. */
  #distrust({ journal, ledger }: Session, actual: number, tokens: number): void {
    this.#warn(
      "usage",
      `usage of ${actual} tokens was reported for a request of about ${tokens}; passed over. It has to be that of ` +
        "all of the request: input, cacheRead and cacheWrite together"
    )
    const { anchor, ...known } = this.#known
    if (anchor === undefined || actual > tokens) return
    this.#known = known
    ledger.anchored = undefined
    journal.push(calibrationLine(known, undefined))
  }

  /** Learns from what was reported, once the answer to that request is in the history. */
  learn(session: Session): void {
    const reported = this.#reported
    if (reported === undefined) return
    this.#reported = undefined
    const { last, length, output } = reported
    const answer = session.transcript.answerAt(length)
    this.#take(
      session,
      last,
      this.#observed(reported, answer && { estimate: answer.facts.tokens, output }),
      answer
    )
  }

  #observed(
    { actual, last: { estimate, fixed } }: Reported,
    answer?: Observation["answer"]
  ): Calibration {
    return observe(this.#known, { estimate, fixed, actual, answer })
  }

  /**
   * The journal line of what was reported and has no answer yet: this process may be the session's last with that
   * request, and the next one is to know.
   */
  unlearned({ ledger }: Session): Saved | undefined {
    const reported = this.#reported
    if (reported === undefined) return undefined
    const known = this.#observed(reported)
    return known === this.#known
      ? undefined
      : calibrationLine(known, through(ledger, reported.last))
  }

  /** The same, once. */
  unsaved(session: Session): Saved | undefined {
    const reported = this.#reported
    if (reported === undefined || reported.isSaved) return undefined
    this.#reported = { ...reported, isSaved: true }
    return this.unlearned(session)
  }

  /** Learns from an error that says how many tokens the last request had. */
  refused(session: Session, actual: number, last: Sent): void {
    const { estimate, fixed } = last
    this.#take(session, last, observeOverflow(this.#known, { estimate, fixed, actual }))
  }

  #take({ ledger, journal }: Session, last: Sent, known: Calibration, answer?: Entry): void {
    if (known === this.#known) return
    this.#known = known
    ledger.anchored = through(ledger, last, answer)
    journal.push(calibrationLine(known, ledger.anchored))
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

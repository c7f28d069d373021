import { mapTexts } from "./internal/redact.ts"
import type { Redact } from "./Redact.ts"

/** How a step ended, or that it has not. */
export type StepStatus = "pending" | "success" | "failed"

/** One action of the agent, as the host recorded it. */
export interface Step {
  readonly id: string
  /** The host's own number, else its ordinal from 1. */
  readonly step: number
  readonly goal: string
  readonly status: StepStatus
  readonly callId?: string
  readonly tool?: string
  readonly args?: unknown
  readonly note?: string
}

/** What `steps.begin` takes. */
export interface BeginStep {
  readonly id: string
  readonly step?: number
  readonly goal: string
  readonly callId?: string
  readonly tool?: string
  readonly args?: unknown
}

/** What `steps.finish` takes. Without a `callId` it ends the only pending step of that id. */
export interface FinishStep {
  readonly id: string
  readonly callId?: string
  readonly outcome: "success" | "failed"
  readonly note?: string
}

const keyOf = (id: string, callId: string | undefined): string =>
  callId === undefined ? id : id + "\n" + callId

/** What of a step is text that somebody wrote. */
type Texts = Pick<Partial<BeginStep & FinishStep>, "goal" | "tool" | "args" | "note">

/** The steps of a session, in the order in which they began. Several may be pending at once. */
export class StepLog {
  readonly #redact: Redact

  /** `redact` takes out of goals, arguments and notes what nobody may see. */
  constructor(redact: Redact = (text) => text) {
    this.#redact = redact
  }

  /** A step as the log keeps it: redacted, and well-formed, since a half of a character can't be sent. */
  clean<S extends Texts>(step: S): S {
    const clean = (text: string): string => this.#redact(text).toWellFormed()
    const { args, goal, note, tool } = step
    return {
      ...step,
      ...(goal === undefined ? {} : { goal: clean(goal) }),
      ...(tool === undefined ? {} : { tool: tool.toWellFormed() }),
      ...(args === undefined ? {} : { args: mapTexts(args, clean) }),
      ...(note === undefined ? {} : { note: clean(note) })
    }
  }

  #steps: Array<Step> = []
  readonly #byKey = new Map<string, number>()
  readonly #byCall = new Map<string, number>()
  /** Places of the steps of an id; several where each has a call of its own. */
  readonly #byId = new Map<string, Array<number>>()

  /** All steps, oldest first. A new array after each change. */
  get steps(): ReadonlyArray<Step> {
    return this.#steps
  }

  /** How many steps have no outcome yet. */
  pending = 0

  /** The step of a tool call. */
  byCall(callId: string): Step | undefined {
    const at = this.#byCall.get(callId)
    return at === undefined ? undefined : this.#steps[at]
  }

  /** The place of the step with these ids; with the id alone, that of its only step that is `wanted`. */
  #find(
    { id, callId }: Pick<FinishStep, "id" | "callId">,
    wanted: (step: Step) => boolean
  ): number | undefined {
    const at = this.#byKey.get(keyOf(id, callId))
    if (at !== undefined) return wanted(this.#steps[at]!) ? at : undefined
    if (callId !== undefined) return undefined
    const found = this.#byId.get(id)?.filter((i) => wanted(this.#steps[i]!)) ?? []
    return found.length === 1 ? found[0] : undefined
  }

  /** True where the step has begun, or ended, in just this way: hosts that read it from a history tell it again. */
  knows(told: BeginStep | FinishStep): boolean {
    if ("outcome" in told)
      return this.#find(told, ({ status }) => status === told.outcome) !== undefined
    const at = this.#byKey.get(keyOf(told.id, told.callId))
    const step = at === undefined ? undefined : this.#steps[at]
    const { goal, tool } = this.clean(told)
    return step?.goal === goal && step.tool === tool
  }

  /** Records the start of a step; false where one with these ids was begun before. */
  begin(begin: BeginStep): boolean {
    const key = keyOf(begin.id, begin.callId)
    if (this.#byKey.has(key)) return false
    const at = this.#steps.length
    this.#byKey.set(key, at)
    if (begin.callId !== undefined) this.#byCall.set(begin.callId, at)
    const same = this.#byId.get(begin.id)
    if (same === undefined) this.#byId.set(begin.id, [at])
    else same.push(at)
    const { step, ...rest } = this.clean(begin)
    this.pending++
    this.#steps = [...this.#steps, { ...rest, step: step ?? at + 1, status: "pending" }]
    return true
  }

  /** Records the end of a step; false where none with these ids is pending, or several with the id alone. */
  finish({ outcome, note, ...ids }: FinishStep): boolean {
    const at = this.#find(ids, ({ status }) => status === "pending")
    if (at === undefined) return false
    this.pending--
    this.#steps = this.#steps.with(at, {
      ...this.#steps[at]!,
      status: outcome,
      ...this.clean(note === undefined ? {} : { note })
    })
    return true
  }
}

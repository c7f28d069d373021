import type { Limits } from "@varve/core/Budget"
import { resolveLimits } from "@varve/core/Budget"
import { applyCalibration, startCalibration } from "@varve/core/Calibration"
import type { Counter } from "@varve/core/Counter"
import { estimateCounter } from "@varve/core/Counter"
import type { PlainMemory } from "@varve/core/createMemory"
import { createMemory } from "@varve/core/createMemory"
import type { MemoryOptions, Prepared as Answered } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import { flatten } from "@varve/core/Pipeline"
import type { Profile } from "@varve/core/Profile"
import { defaultProfile } from "@varve/core/Profile"
import type { Store } from "@varve/core/Store"
import { memoryStore } from "@varve/core/Store"
import { checkValidity } from "@varve/core/Validity"
import { ContextOverflow } from "@varve/core/VarveError"
import { deepFreeze } from "./Freeze.ts"
import { contentOf, isRecord, roleOf } from "./internal/origins.ts"
import { blind } from "./internal/blind.ts"
import { boundReasoning } from "./internal/bound.ts"
import { later } from "./internal/later.ts"
import { recordSteps } from "./internal/recordSteps.ts"
import type { Prepared, Violation } from "./Invariants.ts"
import {
  checkDeterministic,
  checkGrowth,
  checkOverflow,
  checkPrepared,
  checkSame
} from "./Invariants.ts"
import { measure, overLimits } from "./Measure.ts"

/** One session to be run through a memory and checked at every request. */
export interface Trial {
  /** What each request starts from, in order. */
  readonly requests: ReadonlyArray<ReadonlyArray<Message>>
  /** True where each request's history goes on from the one before. */
  readonly grows: boolean
  /** The memory's options, made anew for each memory; `store` and `overhead` are the trial's own. */
  readonly options: () => Omit<MemoryOptions, "store" | "overhead">
  /** System text of every request. */
  readonly system?: string | undefined
  /** Host ids of messages that are pinned from the start. */
  readonly pins?: ReadonlySet<string>
  /** True: each tool call is recorded as a step. */
  readonly steps?: boolean
  /** True: a second memory follows, made anew from its store before every request and a day
   *  later, and must give the same. */
  readonly restarts?: boolean
  /** False where work beside the agent may change the answer to a repeated request; default true. */
  readonly settled?: boolean
}

/** What a trial saw. */
export interface Tried {
  readonly violations: ReadonlyArray<Violation>
  readonly requests: number
  /** Requests in which edits came into force. */
  readonly commits: number
  /** Edits of strategies (guards aside) that were accepted, and those that came into force. */
  readonly accepted: number
  readonly committed: number
  /** Edits of the guard. */
  readonly guarded: number
  readonly overflows: number
  /** What strategies failed with, each text once. */
  readonly errors: ReadonlyArray<string>
}

type Answer = Answered<unknown> | ContextOverflow
type Messages = ReadonlyArray<Message>

const ask = async (memory: PlainMemory, head: Messages): Promise<Answer> => {
  try {
    return await memory.prepare<unknown>(head)
  } catch (error) {
    if (error instanceof ContextOverflow) return error
    throw error
  }
}

/** Counts as a memory does that has learned nothing yet: by the profile's ratio. */
const scaled = (counter: Counter, profile: Profile): Counter => {
  if (profile.ratio === undefined) return counter
  const start = startCalibration(profile)
  return {
    ...counter,
    request: (request) => {
      const count = counter.request(request)
      return { ...count, tokens: applyCalibration(start, count.tokens, count.fixed).tokens }
    }
  }
}

const hostId = (m: Message): string => {
  const { id } = m as { readonly id?: unknown }
  return typeof id === "string" ? id : ""
}

interface Line {
  readonly seq?: number
  readonly seqs?: ReadonlyArray<number>
  readonly t?: string
  readonly edit?: {
    readonly kind?: string
    readonly text?: unknown
    readonly aside?: boolean
    readonly tail?: boolean
  }
}

/**
 * A store that knows the texts of all memos that were ever set: they may add to what is sent; and how many edits
 * came into force that change more than its tail.
 */
const tapped = () => {
  const store = memoryStore()
  const memos = new Set<unknown>()
  const tails = new Set<unknown>()
  const beside = new Set<number | undefined>()
  const inForce = new Set<number>()
  const see = (entries: ReadonlyArray<unknown>): void => {
    for (const { edit, seq, seqs = [], t } of entries as ReadonlyArray<Line>) {
      if (edit?.kind === "memo") {
        memos.add(edit.text)
        if (edit.tail === true) tails.add(edit.text)
        if (edit.tail === true || edit.aside === true) beside.add(seq)
      }
      if (t === "commit") for (const s of seqs) if (!beside.has(s)) inForce.add(s)
    }
  }
  const isMemo = (m: Message): boolean => {
    const [block] = contentOf(m)
    return roleOf(m) === "user" && isRecord(block) && memos.has(block["text"])
  }
  const tap: Store = {
    ...store,
    append: (key, entries) => {
      see(entries)
      return store.append(key, entries)
    },
    replace: (key, entries) => {
      see(entries)
      return store.replace(key, entries)
    }
  }
  /** At the tail a text stands between two lines of core's. */
  const isTail = (text: string): boolean => tails.has(text.split("\n").slice(1, -1).join("\n"))
  return { isMemo, isTail, changes: () => inForce.size, tap }
}

/**
 * Runs a session through a memory and checks each request: valid, within the limits or rightly refused, what is
 * protected whole, decisions sticky, a repeated request the same, and (with `restarts`) the same bytes after a
 * restart. Rejects only with what the memory should never have thrown.
 */
export const runTrial = async (trial: Trial): Promise<Tried> => {
  const { grows, pins = new Set<string>(), settled = true, system } = trial
  const found: Array<Violation> = []
  const errors = new Set<string>()
  const seen = { requests: 0, commits: 0, accepted: 0, committed: 0, guarded: 0, overflows: 0 }
  const given = trial.options()
  const profile = given.profile ?? defaultProfile
  const guards = new Set(
    flatten(given.pipeline ?? []).flatMap((s) => (s.guard === true ? [s.name] : []))
  )
  const estimate =
    given.counter === undefined || "start" in given.counter ? estimateCounter() : given.counter
  const counter = scaled(estimate, profile)
  const overhead = { system }
  const limits: Limits = resolveLimits(given.budget ?? {}, profile)
  const isPinned = (m: Message) => pins.has(hostId(m))
  const start = (options: MemoryOptions) => createMemory({ ...options, overhead: () => overhead })
  const { changes, isMemo, isTail, tap } = tapped()
  const memory = start({ ...given, store: tap })
  const store = memoryStore()
  let twin = trial.restarts === true ? start({ ...trial.options(), store }) : undefined
  for (const one of [memory, twin]) for (const id of pins) one?.pin(id)
  const record = recordSteps(trial.steps === true)
  const bound =
    grows && profile.reasoning === "error" && pins.size === 0 ? boundReasoning() : undefined
  let previous: Prepared | undefined
  let cut = false
  let reopened = false

  for (const head of trial.requests) {
    const input = deepFreeze(head)
    if (reopened && twin !== undefined) {
      await twin.close()
      twin = start({ ...trial.options(), store })
    }
    reopened = true
    record(input, twin === undefined ? [memory] : [memory, twin])
    const before = changes()
    const answer = await ask(memory, input)
    seen.requests++
    const { alternates, startsWithUser } = profile
    const rules = { limits, startsWithUser, alternates }
    const common = { input, counter, estimate, overhead, isPinned, isMemo, isTail, ...rules }
    if (answer instanceof ContextOverflow) {
      seen.overflows++
      const fits = given.pipeline?.length === 0 ? [] : checkOverflow(common)
      // To a model that takes none, the note for a tiny image is dearer than the image.
      const isDearer =
        !profile.vision && checkOverflow({ ...common, input: blind(input) }).length === 0
      if (!isDearer) found.push(...fits)
      const output = await memory.transformContext(input as Array<Message>)
      bound?.(input, output)
      // The smallest valid view: over a limit, and otherwise like any other.
      const smallest = checkOne({ ...common, output }, profile)
      found.push(...smallest.filter((v) => v.rule !== "I10"))
      previous = undefined
    } else {
      const output = answer.messages as Messages
      const { report } = answer
      const committed = changes() > before
      if (committed) seen.commits++
      seen.committed += report.commit.committed
      seen.guarded += report.guarded
      cut ||= report.guarded > 0 || report.reasoning.removed > 0
      for (const s of report.strategies) {
        if (!guards.has(s.name)) seen.accepted += s.accepted
        if (s.error !== undefined) errors.add(`${s.name}: ${s.error}`)
      }
      const prepared: Prepared = { ...common, output, unguarded: !cut }
      found.push(...checkOne(prepared, profile), ...checkReport(prepared, answer, profile))
      if (bound !== undefined) {
        for (const { at, what } of bound(input, output)) found.push({ rule: "I1", at, what })
      }
      let last = output
      if (settled) {
        const again = await ask(memory, input)
        if (again instanceof ContextOverflow)
          found.push({ rule: "I6", at: -1, what: "the second time it overflows" })
        else {
          last = again.messages as Messages
          found.push(...checkSame(output, last))
        }
      }
      if (previous !== undefined && grows)
        found.push(...checkGrowth(previous, prepared, { committed }))
      previous = { ...prepared, output: last }
    }
    if (twin === undefined) continue
    const follower = twin
    const other = await later(() => ask(follower, deepFreeze(structuredClone(head))))
    if (other instanceof ContextOverflow !== answer instanceof ContextOverflow) {
      found.push({ rule: "I9", at: -1, what: "only one of two memories overflows" })
    } else if (!(other instanceof ContextOverflow) && !(answer instanceof ContextOverflow)) {
      found.push(...checkDeterministic(answer.messages as Messages, other.messages as Messages))
    }
  }
  await memory.close()
  await twin?.close()
  return { ...seen, violations: found, errors: [...errors] }
}

/** For a model that takes no images, notes stand for them in what is sent: only what is sent counts. */
const checkOne = (prepared: Prepared, profile: Profile): ReadonlyArray<Violation> => {
  if (profile.vision) return checkPrepared(prepared)
  const { counter = estimateCounter(), input, limits, output, overhead } = prepared
  const before = new Set(checkValidity(input).map((f) => f.rule))
  const over = limits === undefined ? [] : overLimits(measure(output, counter, overhead), limits)
  return [
    ...checkValidity(output)
      .filter((f) => !before.has(f.rule))
      .map(({ at, what }): Violation => ({ rule: "I1", at, what })),
    ...over.map((what): Violation => ({ rule: "I10", at: -1, what }))
  ]
}

/** The report's figures against a count from nothing. */
const checkReport = (
  { counter = estimateCounter(), output, overhead }: Prepared,
  { report }: Answered<unknown>,
  profile: Profile
): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const counted = measure(output, counter, overhead)
  for (const axis of ["tokens", "images", "imageBytes", "messages"] as const) {
    if (profile.vision && report.after[axis] !== counted[axis]) {
      const what = `the report says ${report.after[axis]} ${axis}, there are ${counted[axis]}`
      found.push({ rule: "I5", at: -1, what })
    }
  }
  if (report.faults.length > 0)
    found.push({ rule: "I1", at: -1, what: `a fault came up late: ${report.faults[0]}` })
  return found
}

import type { Message } from "@varve/core/Message"
import { deepFreeze } from "@varve/testkit/Freeze"
import type { Growth } from "@varve/testkit/Growth"
import { growths } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import type { Prepared, Violation } from "@varve/testkit/Invariants"
import {
  checkDeterministic,
  checkGrowth,
  checkOverflow,
  checkPrepared,
  checkSame
} from "@varve/testkit/Invariants"
import { measure } from "@varve/testkit/Measure"
import type { StrategyPlan } from "@varve/testkit/Strategies"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import type { Budget } from "../src/Budget.ts"
import { resolveLimits } from "../src/Budget.ts"
import * as Commit from "../src/Commit.ts"
import { estimateCounter } from "../src/Counter.ts"
import { createMemory } from "../src/createMemory.ts"
import { hardLimit } from "../src/HardLimit.ts"
import { defaultProfile } from "../src/Profile.ts"
import type { Store } from "../src/Store.ts"
import { memoryStore } from "../src/Store.ts"
import { ContextOverflow } from "../src/VarveError.ts"

/** One random session. Plain data, so that a failing one prints. */
export interface Case {
  readonly growth: Growth
  readonly plans: ReadonlyArray<StrategyPlan>
  /** The token limit as a share of what the whole history takes, in percent. */
  readonly share: number
  readonly budget: Omit<Budget, "tokens">
  readonly commit: "whenItPays" | "immediate" | "batched"
  readonly reasoning: "none" | "drop" | "error"
  readonly protectLast: number
  /** Messages with a host id of this position, modulo 5, are pinned; none for -1. */
  readonly pin: number
  readonly system: string | undefined
  /** A second memory follows with clones, and is made anew from its store in the middle. */
  readonly twin: boolean
}

const sessions = growths(histories({ turns: 2, steps: 4, text: 400 }), { requests: 4 })

export const cases: fc.Arbitrary<Case> = fc.record({
  growth: fc.oneof(
    { weight: 5, arbitrary: sessions.filter((g) => g.requests.length > 1) },
    { weight: 1, arbitrary: sessions }
  ),
  plans: fc.oneof(
    { weight: 5, arbitrary: strategyPlans({ least: 1 }) },
    { weight: 1, arbitrary: fc.constant([]) }
  ),
  share: fc.integer({ min: 5, max: 130 }),
  budget: fc.record(
    {
      images: fc.nat(4),
      imageBytes: fc.integer({ min: 300, max: 30_000 }),
      maxEdge: fc.constantFrom(700, 2000)
    },
    { requiredKeys: [] }
  ),
  commit: fc.constantFrom("whenItPays", "immediate", "immediate", "batched"),
  reasoning: fc.constantFrom("none", "drop", "error"),
  protectLast: fc.nat(3),
  pin: fc.oneof({ weight: 4, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(4) }),
  system: fc.constantFrom(undefined, "You are a careful agent."),
  twin: fc.nat(2).map((n) => n === 0)
})

export interface Outcome {
  readonly violations: ReadonlyArray<Violation>
  readonly requests: number
  /** Requests in which edits came into force. */
  readonly commits: number
  /** Staged edits of strategies that came into force. */
  readonly staged: number
  readonly overflows: number
  readonly guarded: number
}

const counter = estimateCounter()
const rules = {
  whenItPays: Commit.whenItPays(),
  immediate: Commit.immediate,
  batched: Commit.batched({ size: 3 })
}

const hostId = (m: Message): string => (m as { readonly id?: string }).id ?? ""

/** Memos that the random strategies set. */
const isMemo = (m: Message): boolean =>
  /"(Memo \d|a memo of a few words|free|x)"/.test(JSON.stringify(m.content))

const start = (c: Case, tokens: number, store?: Store) => {
  const memory = createMemory({
    pipeline: [c.plans.map(randomStrategy), hardLimit()],
    budget: { ...c.budget, tokens },
    profile: { ...defaultProfile, reasoning: c.reasoning },
    commit: rules[c.commit],
    protectLast: c.protectLast,
    overhead: () => ({ system: c.system }),
    ...(store === undefined ? {} : { store })
  })
  for (const id of pinsOf(c)) memory.pin(id)
  return memory
}

const pinsOf = (c: Case): ReadonlySet<string> => {
  const ids = (c.growth.requests.at(-1) ?? []).map(hostId)
  return new Set(ids.filter((id, i) => id !== "" && i % 5 === c.pin))
}

type Answer = Awaited<ReturnType<ReturnType<typeof createMemory>["prepare"]>> | ContextOverflow

const ask = async (
  memory: ReturnType<typeof createMemory>,
  head: ReadonlyArray<Message>
): Promise<Answer> => {
  try {
    return await memory.prepare<unknown>(head)
  } catch (error) {
    if (error instanceof ContextOverflow) return error
    throw error
  }
}

/** Runs one session through `createMemory` and checks every request of it. */
export const runCase = async (c: Case): Promise<Outcome> => {
  const found: Array<Violation> = []
  const longest = c.growth.requests.reduce<ReadonlyArray<Message>>(
    (a, b) => (b.length > a.length ? b : a),
    []
  )
  const overhead = { system: c.system }
  const whole = measure(longest, counter, overhead).tokens
  const tokens = Math.max(40, Math.floor((whole * c.share) / 100))
  const limits = resolveLimits({ ...c.budget, tokens }, defaultProfile)
  const pins = pinsOf(c)
  const isPinned = (m: Message) => pins.has(hostId(m))
  const memory = start(c, tokens)
  const store = memoryStore()
  // What a strategy forgets in a restart (its breaker) is not what this is about.
  // A restart forgets a breaker's count, and clones that aren't frozen take what a meddler writes.
  const steady = !c.plans.some((p) => ["throwing", "nonsense", "meddling"].includes(p.temper))
  let twin = c.twin && steady ? start(c, tokens, store) : undefined
  let previous: Prepared | undefined
  let requests = 0
  let commits = 0
  let staged = 0
  let overflows = 0
  let guarded = 0
  let cut = false
  for (const [i, head] of c.growth.requests.entries()) {
    const input = deepFreeze(head)
    const answer = await ask(memory, input)
    requests++
    const common = { input, counter, overhead, isPinned, isMemo, limits }
    if (answer instanceof ContextOverflow) {
      overflows++
      found.push(...checkOverflow(common))
      const output = await memory.transformContext(input as Array<Message>)
      const { limits: _, ...anyway } = common
      found.push(...checkPrepared({ ...anyway, output }))
      previous = undefined
    } else {
      const output = answer.messages as ReadonlyArray<Message>
      const { report } = answer
      const committed =
        report.commit.committed > 0 || report.guarded > 0 || report.reasoning.removed > 0
      if (committed) commits++
      staged += report.commit.committed
      guarded += report.guarded
      cut ||= report.guarded > 0 || report.reasoning.removed > 0
      const prepared: Prepared = { ...common, output, unguarded: !cut }
      found.push(...checkPrepared(prepared))
      const seen = measure(output, counter, overhead)
      for (const axis of ["tokens", "images", "imageBytes", "messages"] as const) {
        if (report.after[axis] !== seen[axis]) {
          found.push({
            rule: "I5",
            at: -1,
            what: `the report says ${report.after[axis]} ${axis}, there are ${seen[axis]}`
          })
        }
      }
      if (report.faults.length > 0)
        found.push({ rule: "I1", at: -1, what: `a fault came up late: ${report.faults[0]}` })
      let last = output
      const again = await ask(memory, input)
      if (again instanceof ContextOverflow)
        found.push({ rule: "I6", at: -1, what: "the second time it overflows" })
      else {
        found.push(...checkSame(output, again.messages as ReadonlyArray<Message>))
        cut ||= again.report.guarded > 0 || again.report.reasoning.removed > 0
        last = again.messages as ReadonlyArray<Message>
      }
      const grows = c.growth.kind === "plain" || c.growth.kind === "cloned"
      if (previous !== undefined && grows)
        found.push(...checkGrowth(previous, prepared, { committed }))
      previous = { ...prepared, output: last }
    }
    if (twin === undefined) continue
    if (i === 2) {
      await twin.close()
      twin = start(c, tokens, store)
    }
    const other = await ask(twin, deepFreeze(structuredClone(head)))
    if (other instanceof ContextOverflow !== answer instanceof ContextOverflow) {
      found.push({ rule: "I9", at: -1, what: "only one of two memories overflows" })
    } else if (!(other instanceof ContextOverflow) && !(answer instanceof ContextOverflow)) {
      found.push(
        ...checkDeterministic(
          answer.messages as ReadonlyArray<Message>,
          other.messages as ReadonlyArray<Message>
        )
      )
      await ask(twin, deepFreeze(structuredClone(head)))
    }
  }
  await memory.close()
  await twin?.close()
  return { violations: found, requests, commits, staged, overflows, guarded }
}

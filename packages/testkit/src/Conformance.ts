import * as Commit from "@varve/core/Commit"
import { estimateCounter } from "@varve/core/Counter"
import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import type { PipelineInput } from "@varve/core/Pipeline"
import { flatten } from "@varve/core/Pipeline"
import type { Strategy } from "@varve/core/Strategy"
import type { Summarizer } from "@varve/core/Summarizer"
import { ContextOverflow } from "@varve/core/VarveError"
import * as fc from "fast-check"
import { growthAsCode, historyAsCode } from "./Code.ts"
import { deepFreeze } from "./Freeze.ts"
import { garbage } from "./Garbage.ts"
import type { Growth } from "./Growth.ts"
import { growths, heads } from "./Growth.ts"
import { histories } from "./Histories.ts"
import { recordSteps } from "./internal/recordSteps.ts"
import { explain } from "./Invariants.ts"
import { measure } from "./Measure.ts"
import type { SummaryOutcome } from "./ScriptedSummarizer.ts"
import { scriptedSummarizer } from "./ScriptedSummarizer.ts"
import type { StrategyPlan } from "./Strategies.ts"
import { randomStrategy, strategyPlans } from "./Strategies.ts"
import type { Trial } from "./Trial.ts"
import { runTrial } from "./Trial.ts"

type History = ReadonlyArray<Message>

/** What a strategy may be made with. */
export interface Kit {
  /** Answers well; in the law of faults it fails, hangs or talks nonsense. */
  readonly summarizer: Summarizer
}

/** What is tried: a strategy, or what makes one (or several, or a whole pipeline) anew for each memory. */
export type Subject = Strategy | ((kit: Kit) => Strategy | PipelineInput)

/** What `conformance` takes. */
export interface ConformanceOptions {
  /** Random sessions for each law; default 60. */
  readonly runs?: number
  /** Another seed gives other sessions; default 1. */
  readonly seed?: number
  /** The histories that the strategy is for; default `histories({ turns: 2, steps: 4, text: 400 })`. */
  readonly histories?: fc.Arbitrary<History>
  /** Options of the memories, besides those that the laws choose. */
  readonly memory?: Pick<MemoryOptions, "profile" | "counter" | "strategyTimeout">
  /** False for a strategy whose work beside the agent may change the answer to a repeated request. */
  readonly settled?: boolean
}

/** One law: rejects with what is wrong and the smallest case that shows it. */
export interface Law {
  readonly name: string
  readonly check: () => Promise<void>
}

/** The two functions of a test runner that `register` needs: those of vitest, `node:test`, jest or bun. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, run: () => Promise<void>, timeout?: number) => unknown
}

/** The suite for one strategy. */
export interface Conformance {
  readonly name: string
  readonly laws: ReadonlyArray<Law>
  /** Checks all laws, one after the other; rejects at the first that does not hold. */
  readonly check: () => Promise<void>
  /** Makes a group with one test a law. */
  readonly register: (runner: Runner) => void
}

/** One random session with the settings that it runs under. */
interface Case {
  readonly growth: Growth
  /** The token limit as a share of what the whole history takes, in percent. */
  readonly share: number
  readonly commit: "whenItPays" | "immediate" | "batched"
  readonly protectLast: number
}

const rules = {
  whenItPays: Commit.whenItPays(),
  immediate: Commit.immediate,
  batched: Commit.batched({ size: 3 })
}

const casesOf = (of: fc.Arbitrary<History>): fc.Arbitrary<Case> =>
  fc.record({
    growth: growths(of, { requests: 8 }),
    share: fc.integer({ min: 10, max: 130 }),
    commit: fc.constantFrom("immediate", "immediate", "whenItPays", "batched"),
    protectLast: fc.nat(2)
  })

const show = ({ growth, ...rest }: Case): string =>
  `${JSON.stringify(rest)}\n${growthAsCode(growth)}`

/** How many smaller cases are tried once one fails. */
const SHRINKS = 400

/** Time that a test runner should give one law, ms. */
const TIMEOUT = 120_000

/**
 * The laws that a strategy keeps when it is a good one, each tried on random sessions at every request:
 *
 * - what is sent is valid, within the limits and keeps what is protected; what was edited stays edited
 * - edits of it are accepted at all, so that the other laws mean something
 * - it fails on no history, whole or broken
 * - it gives the same bytes in a second memory that is restarted before every request, a day later
 * - two memories made from it share nothing
 * - it works on views that other strategies have edited
 * - with a summarizer (only where it uses the kit's): it outlives one that fails, hangs or talks nonsense
 *
 * A law that does not hold rejects with what is wrong and with the smallest session that shows it, as code.
 *
 * @example
 * ```ts
 * import { Edit, strategy } from "@varve/core"
 * import { conformance } from "@varve/testkit/Conformance"
 *
 * const mine = strategy("dropSearches", (view) =>
 *   view.results
 *     .filter((r) => r.toolName === "search" && view.protection(r.block) === undefined)
 *     .map((r) => Edit.replace(r.block, "[searched]"))
 * )
 * await conformance(mine, { runs: 20 }).check()
 * ```
 *
 * In a test file, with any runner that has `describe` and `it`:
 *
 * ```ts fragment
 * import { describe, it } from "vitest"
 * conformance(mine).register({ describe, it })
 * ```
 */
export const conformance = (subject: Subject, options: ConformanceOptions = {}): Conformance => {
  const { memory = {}, runs = 60, seed = 1, settled = true } = options
  const of = options.histories ?? histories({ turns: 2, steps: 4, text: 400 })
  const cases = casesOf(of)
  let asked = false

  /** The strategies anew, with a summarizer of their own. */
  const made = (script: SummaryOutcome = "good"): ReadonlyArray<Strategy> => {
    if (typeof subject !== "function") return [subject]
    const kit: Kit = {
      get summarizer() {
        asked = true
        return scriptedSummarizer([script]).summarizer
      }
    }
    const given = subject(kit)
    return flatten((Array.isArray(given) ? given : [given]) as PipelineInput, "conformance")
  }
  const first = made()
  const names = new Set(first.map((s) => s.name))
  const guards = first.some((s) => s.guard === true)
  const guarded = (pipeline: PipelineInput): PipelineInput =>
    guards ? pipeline : [pipeline, hardLimit()]
  const name = [...names].join(" + ")

  const optionsOf = (c: Case, pipeline: () => PipelineInput): Trial["options"] => {
    const whole = measure(longest(c.growth), estimateCounter()).tokens
    const tokens = Math.max(60, Math.floor((whole * c.share) / 100))
    return () => ({
      ...memory,
      pipeline: guarded(pipeline()),
      budget: { tokens },
      commit: rules[c.commit],
      protectLast: c.protectLast
    })
  }
  const trialOf = (c: Case, pipeline: () => PipelineInput = () => made()): Trial => ({
    requests: c.growth.requests,
    grows: c.growth.kind === "plain" || c.growth.kind === "cloned",
    options: optionsOf(c, pipeline),
    steps: true,
    settled
  })
  const ours = (errors: ReadonlyArray<string>): ReadonlyArray<string> =>
    errors.filter((e) => names.has(e.slice(0, e.indexOf(": "))))

  /** Looks for a case with a fault; rejects with the smallest. */
  const holds = async <A>(
    law: string,
    arbitrary: fc.Arbitrary<A>,
    count: number,
    find: (input: A) => Promise<string>,
    print: (input: A) => string
  ): Promise<void> => {
    let last = ""
    const safely = async (input: A): Promise<string> => {
      const fault = await find(input).catch((error: unknown) => String(error))
      if (fault !== "") last = fault
      return fault
    }
    const property = fc.asyncProperty(
      fc.limitShrink(arbitrary, SHRINKS),
      async (input) => (await safely(input)) === ""
    )
    const { counterexample } = await fc.check(property, { numRuns: count, seed })
    if (counterexample === null) return
    const [input] = counterexample
    const fault = (await safely(input)) || `${last}\n(not every time: something in it is random)`
    throw new Error(
      `${name} does not hold: ${law}\n${fault}\n\nThe smallest case (seed ${seed}): ${print(input)}`
    )
  }

  const law = (name: string, check: (name: string) => Promise<void>): Law => ({
    name,
    check: () => check(name)
  })

  const laws: Array<Law> = [
    law("what is sent is valid, fits, and what was edited stays edited", (law) =>
      holds(law, cases, runs, async (c) => explain((await runTrial(trialOf(c))).violations), show)
    ),
    law("edits of it are accepted", async (law) => {
      let accepted = 0
      for (const c of fc.sample(cases, { numRuns: runs, seed })) {
        const tried = await runTrial(trialOf(c))
        accepted += tried.accepted + (guards ? tried.guarded : 0)
      }
      if (accepted > 0) return
      throw new Error(
        `${name} does not hold: ${law}\nNone was in ${runs} sessions, so the other laws say nothing. ` +
          "Give `histories` that it is for, or look at the reports of a memory for what refused its edits."
      )
    }),
    law("fails on no history, whole or broken", async (law) => {
      const find = async (history: History): Promise<string> => {
        const found: Array<string> = []
        const input = deepFreeze(history)
        for (const head of [[], input.slice(0, 1), input, input.slice(0, -1)]) {
          const one = createMemory({ ...memory, pipeline: guarded(made()) })
          const { report } = await one.prepare<unknown>(head)
          for (const s of report.strategies)
            if (s.error !== undefined) found.push(`${s.name}: ${s.error}`)
          await one.close()
        }
        return found.join("\n")
      }
      await holds(
        law,
        cases,
        runs,
        async (c) => ours((await runTrial(trialOf(c))).errors).join("\n"),
        show
      )
      await holds(law, garbage({ text: 400 }), runs, find, historyAsCode)
    }),
    law("works on views that others have edited", (law) => {
      const plans = strategyPlans({ least: 1, most: 3 })
      return holds(
        law,
        fc.tuple(cases, plans, plans),
        runs,
        async ([c, before, behind]) => {
          const chain = (list: ReadonlyArray<StrategyPlan>, place: string) =>
            list.map((p) => randomStrategy({ ...p, name: `${place}-${p.name}` }))
          const { errors, violations } = await runTrial(
            trialOf(c, () => [chain(before, "before"), made(), chain(behind, "behind")])
          )
          return [explain(violations), ...ours(errors)].filter((e) => e !== "").join("\n")
        },
        ([c, before, behind]) => `${JSON.stringify({ before, behind })} ${show(c)}`
      )
    })
  ]
  // Where work beside the agent arrives when it does, bytes are a matter of time.
  if (settled) {
    laws.push(
      law("gives the same after restarts, at another time", (law) =>
        holds(
          law,
          cases,
          runs,
          async (c) => explain((await runTrial({ ...trialOf(c), restarts: true })).violations),
          show
        )
      ),
      law("two memories made from it share nothing", (law) =>
        holds(
          law,
          fc.tuple(of, of),
          runs,
          async ([a, b]) => {
            const shared = made()
            const alone = await replay([a], () => guarded(made()))
            const beside = await replay([a, b], () => guarded(shared))
            return JSON.stringify(alone[0]) === JSON.stringify(beside[0])
              ? ""
              : "beside another memory it gives other bytes"
          },
          ([a, b]) => `${historyAsCode(a)}\nbeside\n${historyAsCode(b)}`
        )
      )
    )
  }
  if (asked) {
    laws.push(
      law("outlives a summarizer that fails, hangs or talks nonsense", (law) =>
        holds(
          law,
          fc.tuple(cases, fc.constantFrom(...outcomes)),
          runs,
          async ([c, outcome]) => {
            const trial = trialOf(c, () => made(outcome))
            const quick = { strategyTimeout: outcome === "hanging" ? 10 : 1000 }
            return explain(
              (await runTrial({ ...trial, options: () => ({ ...trial.options(), ...quick }) }))
                .violations
            )
          },
          ([c, outcome]) => `${outcome} ${show(c)}`
        )
      )
    )
  }
  return {
    name,
    laws,
    check: async () => {
      for (const { check } of laws) await check()
    },
    register: ({ describe, it }) =>
      void describe(`${name} conforms`, () => {
        for (const { check, name } of laws) it(name, check, TIMEOUT)
      })
  }
}

const outcomes: ReadonlyArray<SummaryOutcome> = [
  "failing",
  "throwing",
  "garbage",
  "empty",
  "too-long",
  "degenerate",
  "truncated",
  "tool-call",
  "echo",
  "slow",
  "hanging"
]

const longest = ({ requests }: Growth): History =>
  requests.reduce<History>((a, b) => (b.length > a.length ? b : a), [])

/** Runs histories head by head through a memory each, in turns; gives what each memory sent. */
const replay = async (
  all: ReadonlyArray<History>,
  pipeline: () => PipelineInput
): Promise<ReadonlyArray<unknown>> => {
  const memories = all.map(() =>
    createMemory({ pipeline: pipeline(), commit: Commit.immediate, budget: LIMIT })
  )
  const record = all.map(() => recordSteps(true))
  const sent: Array<Array<unknown>> = all.map(() => [])
  const steps = all.map((history) => heads(history))
  const most = Math.max(0, ...steps.map((s) => s.length))
  for (let i = 0; i < most; i++) {
    for (const [m, memory] of memories.entries()) {
      const head = steps[m]?.[i]
      if (head === undefined) continue
      record[m]?.(head, [memory])
      try {
        sent[m]?.push((await memory.prepare<unknown>(deepFreeze(head))).messages)
      } catch (error) {
        if (!(error instanceof ContextOverflow)) throw error
        sent[m]?.push("overflow")
      }
    }
  }
  for (const memory of memories) await memory.close()
  return sent
}

const LIMIT = { tokens: 1500 }

import { growthAsCode } from "@varve/testkit/Code"
import type { Growth } from "@varve/testkit/Growth"
import { growths } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import { explain } from "@varve/testkit/Invariants"
import { measure } from "@varve/testkit/Measure"
import type { StrategyPlan } from "@varve/testkit/Strategies"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import type { Trial } from "@varve/testkit/Trial"
import { runTrial } from "@varve/testkit/Trial"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { estimateCounter } from "../src/Counter.ts"
import { hardLimit } from "../src/HardLimit.ts"
import { defaultProfile } from "../src/Profile.ts"
import { stepMemory } from "../src/StepMemory.ts"

const numRuns = Math.ceil(Number(process.env["VARVE_CASES"] ?? 1000) / 4)

interface Case {
  readonly growth: Growth
  readonly plans: ReadonlyArray<StrategyPlan>
  readonly own: "none" | "steps" | "summary" | "both"
  readonly share: number
  readonly commit: "whenItPays" | "immediate" | "batched"
  readonly reasoning: "none" | "drop" | "error"
  readonly pinned: boolean
}

const rules = {
  whenItPays: Commit.whenItPays(),
  immediate: Commit.immediate,
  batched: Commit.batched({ size: 3 })
}

const cases: fc.Arbitrary<Case> = fc.record({
  growth: growths(histories({ turns: 2, steps: 4, text: 400 }), { requests: 6 }),
  plans: strategyPlans({ tempers: ["sane", "async", "atomic", "greedy"], most: 2 }),
  own: fc.constantFrom("none", "steps", "summary", "both"),
  share: fc.integer({ min: 15, max: 130 }),
  commit: fc.constantFrom("whenItPays", "immediate", "batched"),
  reasoning: fc.constantFrom("none", "drop", "error"),
  pinned: fc.nat(2).map((n) => n === 0)
})

const trialOf = ({ growth, pinned, ...c }: Case): Trial => {
  const longest = growth.requests.reduce((a, b) => (b.length > a.length ? b : a), [])
  const ids = longest.flatMap((m, i) => {
    const { id } = m as { readonly id?: unknown }
    return pinned && i % 4 === 2 && typeof id === "string" ? [id] : []
  })
  const whole = measure(longest, estimateCounter()).tokens
  return {
    requests: growth.requests,
    grows: growth.kind === "plain" || growth.kind === "cloned",
    options: () => ({
      pipeline: [
        c.plans.map(randomStrategy),
        (c.own === "steps" || c.own === "both") && stepMemory(),
        (c.own === "summary" || c.own === "both") && conversationSummary({ soft: 0.4 }),
        hardLimit()
      ],
      budget: { tokens: Math.max(60, Math.floor((whole * c.share) / 100)) },
      profile: { ...defaultProfile, reasoning: c.reasoning },
      commit: rules[c.commit]
    }),
    pins: new Set(ids),
    steps: true,
    restarts: true
  }
}

it(
  "a memory that is made anew from its store before every request gives the same bytes",
  async () => {
    let committed = 0
    let pins = 0
    const faults = async (c: Case) => {
      const trial = trialOf(c)
      const { commits, violations } = await runTrial(trial)
      if (commits > 0) committed++
      if (trial.pins!.size > 0) pins++
      return explain(violations)
    }
    const { counterexample } = await fc.check(
      fc.asyncProperty(cases, async (c) => (await faults(c)) === ""),
      { numRuns }
    )
    if (counterexample !== null) {
      const [{ growth, ...rest }] = counterexample
      expect.fail(
        `${await faults(counterexample[0])}\n${JSON.stringify(rest)}\n${growthAsCode(growth)}`
      )
    }
    expect(committed).toBeGreaterThan(numRuns / 3)
    expect(pins).toBeGreaterThan(numRuns / 20)
  },
  30_000 + numRuns * 200
)

import { historyAsCode } from "@varve/testkit/Code"
import { deepFreeze } from "@varve/testkit/Freeze"
import { garbage } from "@varve/testkit/Garbage"
import { histories } from "@varve/testkit/Histories"
import type { Violation } from "@varve/testkit/Invariants"
import { checkPrepared, explain } from "@varve/testkit/Invariants"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createMemory } from "../src/createMemory.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { Message } from "../src/Message.ts"
import { ContextOverflow } from "../src/VarveError.ts"
import type { Outcome } from "./invariantCases.ts"
import { cases, runCase } from "./invariantCases.ts"

/** How many sessions are tried: 1 000, and 10 000 in the gate. The same ones each time but for another seed. */
const numRuns = Number(process.env["VARVE_CASES"] ?? (process.env["CI"] ? 10_000 : 1000))
const timeout = 30_000 + numRuns * 60

/** Runs a property; where it fails, shows the smallest failing input and what is wrong with it. */
const holds = async <A>(
  arbitrary: fc.Arbitrary<A>,
  runs: number,
  find: (input: A) => Promise<ReadonlyArray<Violation>>,
  show: (input: A) => string
) => {
  const property = fc.asyncProperty(arbitrary, async (input) => (await find(input)).length === 0)
  const { failed, counterexample } = await fc.check(property, { numRuns: runs })
  if (!failed) return
  const [input] = counterexample!
  const found = await find(input).then(explain, (error: unknown) => String((error as Error).stack))
  expect.fail(`${found}\n${show(input)}`)
}

describe("invariants", () => {
  it(
    "I1 to I10 hold over random sessions and random chains of strategies",
    async () => {
      const done: Array<Outcome> = []
      await holds(
        cases,
        numRuns,
        async (c) => {
          const outcome = await runCase(c)
          done.push(outcome)
          return outcome.violations
        },
        ({ growth, ...rest }) =>
          `${JSON.stringify(rest)}\n${growth.kind}\n${growth.requests.map(historyAsCode).join("\n")}`
      )
      const share = (is: (o: Outcome) => boolean) => done.filter(is).length / done.length
      expect(share((o) => o.commits > 0)).toBeGreaterThan(1 / 3)
      expect(share((o) => o.staged > 0)).toBeGreaterThan(1 / 3)
      expect(share((o) => o.overflows > 0)).toBeGreaterThan(0.02)
      expect(share((o) => o.guarded > 0)).toBeGreaterThan(0.2)
      expect(share((o) => o.requests > 2)).toBeGreaterThan(0.2)
    },
    timeout
  )

  it(
    "garbage in never throws and comes out valid",
    async () => {
      const plans = strategyPlans({ most: 2 })
      const budget = fc.constantFrom(100, 400, 5000)
      await holds(
        fc.tuple(garbage(), plans, budget),
        Math.ceil(numRuns / 5),
        async ([history, chain, tokens]) => {
          const memory = createMemory({
            pipeline: [chain.map(randomStrategy), hardLimit()],
            budget: { tokens }
          })
          const found: Array<Violation> = []
          for (const head of [
            history.slice(0, Math.ceil(history.length / 2)),
            history,
            history.slice(0, -1)
          ]) {
            const input = deepFreeze(head)
            const output = await memory.prepare<unknown>(input).then(
              ({ messages }) => messages,
              (error: unknown) => {
                if (error instanceof ContextOverflow)
                  return memory.transformContext(input as Array<Message>)
                throw error
              }
            )
            const checked = checkPrepared({ input, output: output as ReadonlyArray<Message> })
            found.push(...checked.filter((v) => v.rule !== "I5"))
          }
          return found
        },
        ([history, chain, tokens]) =>
          `${JSON.stringify({ chain, tokens })}\n${historyAsCode(history)}`
      )
    },
    timeout
  )

  it(
    "the guard has nothing to do on what it gave",
    async () => {
      await holds(
        fc.tuple(histories({ turns: 2 }), fc.integer({ min: 5, max: 100 })),
        Math.ceil(numRuns / 5),
        async ([history, share]) => {
          const whole = createMemory({ pipeline: [] })
          const { report } = await whole.prepare(history)
          const budget = { tokens: 40 + Math.ceil((report.before.tokens * share) / 100) }
          try {
            const { messages } = await createMemory({ budget }).prepare<unknown>(
              deepFreeze(history)
            )
            const again = await createMemory({ budget }).prepare<unknown>(deepFreeze(messages))
            return again.messages === messages
              ? []
              : [{ rule: "I6", at: -1, what: `it made ${again.report.guarded} more edits` }]
          } catch (error) {
            if (error instanceof ContextOverflow) return []
            throw error
          }
        },
        ([history, share]) => `${share} %\n${historyAsCode(history)}`
      )
    },
    timeout
  )
})

import { createMemory, defaultProfile, Edit, hardLimit } from "@varve/core"
import { strategy } from "@varve/core/Strategy"
import { histories } from "@varve/testkit/Histories"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { eachRequest } from "./eachRequest.ts"
import { hosts } from "./hosts.ts"
import { brief, seal } from "./seal.ts"

const history = histories({ inFlight: false, startsWithUser: true, turns: 3, steps: 4 })

/** A text at the tail that is another one in each request. */
const clock = strategy("clock", (view) => [
  Edit.proposal("it is later", [
    Edit.memo("clock", `[Reference: request ${view.messages.length}]`, { cap: 40, tail: true })
  ])
])

const CLOCK = /\[Reference: request \d+\]/g

describe.each(hosts.map((host) => [host.name, host] as const))(
  "%s",
  (_, { codec, faults, make, startsWithUser }) => {
    it("a text at the tail keeps requests valid, and stands there once", async () => {
      await fc.assert(
        fc.asyncProperty(
          history,
          fc.nat(),
          strategyPlans({ tempers: ["sane", "greedy"], most: 2 }),
          fc.integer({ min: 100, max: 6000 }),
          async (messages, seed, plans, tokens) => {
            const memory = createMemory({
              pipeline: [clock, ...plans.map(randomStrategy), hardLimit()],
              budget: { tokens },
              profile: { ...defaultProfile, startsWithUser }
            })
            const steps = make(messages, seed)
            const all = seal(steps.flat())
            const text = JSON.stringify(all)
            await eachRequest(steps, async (request) => {
              const { messages: out, report } = await codec.prepare(memory, request)
              const found = faults(out, request).filter((f) => !f.startsWith("marks"))
              const shown = JSON.stringify(out).match(CLOCK)?.length ?? 0
              if (found.length > 0 || shown !== (report.tail === undefined ? 0 : 1))
                throw new Error(brief({ found, shown, out, request }))
            })
            expect(JSON.stringify(all)).toBe(text)
            await memory.close()
          }
        ),
        { numRuns: 60 }
      )
    }, 60_000)

    it("a host that goes on with what was sent gathers no texts of the tail", async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.nat(), fc.boolean(), async (messages, seed, asJson) => {
          const memory = createMemory({
            pipeline: [clock],
            profile: { ...defaultProfile, startsWithUser }
          })
          let sent: ReadonlyArray<object> = []
          for (const step of make(messages, seed)) {
            const request = [...sent, ...step]
            if (request.length === 0) continue
            const { messages: out, report } = await codec.prepare(memory, request)
            const shown = JSON.stringify(out).match(CLOCK)?.length ?? 0
            if (shown !== (report.tail === undefined ? 0 : 1))
              throw new Error(brief({ shown, out, request }))
            // Messages of LangChain are no JSON.
            const isPlain = out.every((m) => Object.getPrototypeOf(m) === Object.prototype)
            sent = asJson && isPlain ? JSON.parse(JSON.stringify(out)) : out
          }
          await memory.close()
        }),
        { numRuns: 40 }
      )
    }, 60_000)
  }
)

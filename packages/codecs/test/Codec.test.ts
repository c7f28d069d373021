import { createMemory, defaultProfile, hardLimit } from "@varve/core"
import { histories } from "@varve/testkit/Histories"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { eachRequest } from "./eachRequest.ts"
import { hosts } from "./hosts.ts"
import { brief, seal } from "./seal.ts"

const history = histories({ inFlight: false, startsWithUser: true, turns: 3, steps: 4 })

describe.each(hosts.map((host) => [host.name, host] as const))(
  "%s",
  (_, { codec, faults, make, startsWithUser }) => {
    it("its own requests are valid by the rules", () => {
      fc.assert(
        fc.property(history, fc.nat(), (messages, seed) => {
          const steps = make(messages, seed)
          for (let k = 1; k <= steps.length; k++) {
            const request = steps.slice(0, k).flat()
            if (request.length > 0)
              expect(faults(request, request).filter((f) => !f.startsWith("marks"))).toEqual([])
          }
        }),
        { numRuns: 60 }
      )
    })

    it("says what it takes where it is given no list", async () => {
      const memory = createMemory({ pipeline: [hardLimit()] })
      for (const nothing of [null, undefined, "text", {}]) {
        await expect(codec.prepare(memory, nothing as never)).rejects.toMatchObject({
          _tag: "ConfigError",
          issues: [{ path: "messages" }]
        })
        await expect(
          codec.recover(memory, new Error("overflow"), nothing as never)
        ).rejects.toMatchObject({ _tag: "ConfigError" })
      }
      await memory.close()
    })

    it("what was read is written back as the same objects", () => {
      fc.assert(
        fc.property(histories({ turns: 3 }), fc.nat(), (messages, seed) => {
          const request = seal(make(messages, seed).flat())
          const back = codec.write(codec.read(request))
          expect(back.length).toBe(request.length)
          back.forEach((message, i) => expect(message).toBe(request[i]))
        })
      )
    })

    it("an object that was read before gives the same neutral messages", () => {
      fc.assert(
        fc.property(history, fc.nat(), (messages, seed) => {
          const steps = make(messages, seed)
          let before: ReadonlyArray<unknown> = []
          for (let k = 1; k <= steps.length; k++) {
            const now = codec.read(steps.slice(0, k).flat())
            before.forEach((message, i) => expect(now[i]).toBe(message))
            before = now
          }
        }),
        { numRuns: 50 }
      )
    })

    it("edited requests are valid, and the rest of them is the host's own", async () => {
      await fc.assert(
        fc.asyncProperty(
          history,
          fc.nat(),
          strategyPlans({ tempers: ["sane", "greedy", "atomic", "hostile"], most: 3 }),
          fc.record({
            tokens: fc.integer({ min: 60, max: 3000 }),
            images: fc.nat(3),
            imageBytes: fc.integer({ min: 500, max: 60_000 })
          }),
          fc.constantFrom("none" as const, "drop" as const, "error" as const),
          async (messages, seed, plans, budget, reasoning) => {
            const memory = createMemory({
              pipeline: [...plans.map(randomStrategy), hardLimit()],
              budget,
              profile: { ...defaultProfile, reasoning, startsWithUser }
            })
            const steps = make(messages, seed)
            const all = seal(steps.flat())
            const text = JSON.stringify(all)
            const own = new Set<unknown>(all)
            await eachRequest(steps, async (request) => {
              const { messages: out } = await codec.prepare(memory, request)
              const found = faults(out, request).filter((f) => !f.startsWith("marks"))
              if (found.length > 0) throw new Error(brief({ found, out, request }))
              const again = await codec.prepare(memory, request)
              expect(again.messages).toEqual(out)
              out.forEach((message, i) => {
                if (own.has(message)) expect(again.messages[i]).toBe(message)
              })
            })
            expect(JSON.stringify(all)).toBe(text)
            await memory.close()
          }
        ),
        { numRuns: 60 }
      )
    }, 60_000)
  }
)

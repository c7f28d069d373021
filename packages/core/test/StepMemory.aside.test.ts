import { growths } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { createMemory } from "../src/createMemory.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { MemoryOptions } from "../src/Memory.ts"
import type { Message } from "../src/Message.ts"
import { textOf } from "../src/Message.ts"
import { defaultProfile } from "../src/Profile.ts"
import { stepMemory } from "../src/StepMemory.ts"
import { memoryStore } from "../src/Store.ts"
import { assistant, session, task, thinking } from "./fixtures/history.ts"

const aside = (options: Partial<MemoryOptions> = {}) =>
  createMemory({ pipeline: [stepMemory({ place: "compose" }), hardLimit()], ...options })

type Memory = ReturnType<typeof createMemory>

const step = (memory: Memory, i: number) => {
  memory.steps.begin({ id: `s${i}`, goal: `goal ${i}`, callId: `c${i}` })
  memory.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome: "success" })
}
const isMemo = (m: Message) => textOf(m).startsWith("[Step memory")

describe("a step memory for the host's own system text", () => {
  it("is in no request, and compose has the newest step", async () => {
    const memory = aside()
    for (let i = 1; i <= 30; i++) {
      step(memory, i)
      const history = session(i)
      const { messages, report } = await memory.prepare(history)
      // The host's own list: nothing was edited in it.
      expect(messages).toBe(history)
      expect(report.after).toEqual({ ...report.before, source: report.after.source })
      expect(report.kept.messages).toBe(i === 1 ? 0 : 2 * i - 1)
      expect(report.commit.waiting).toBe(0)
      expect(memory.compose()).toContain(`- step ${i}: success`)
    }
    await memory.close()
  })

  it("gives the same requests as none at all, whatever the commit rule", async () => {
    const growing = growths(histories({ turns: 2, steps: 5, text: 400 }), { requests: 5 })
    await fc.assert(
      fc.asyncProperty(
        growing,
        fc.constantFrom(Commit.whenItPays(), Commit.immediate, Commit.batched({ size: 3 })),
        fc.constantFrom("none", "drop", "error"),
        fc.integer({ min: 300, max: 3000 }),
        async ({ requests }, commit, reasoning, tokens) => {
          const profile = { ...defaultProfile, reasoning }
          const budget = { tokens }
          const rest = [conversationSummary({ soft: 0.4 }), hardLimit()]
          const options = { commit, profile, budget }
          const one = createMemory({ ...options, pipeline: rest })
          const two = createMemory({
            ...options,
            pipeline: [stepMemory({ place: "compose" }), ...rest]
          })
          for (const [i, request] of requests.entries()) {
            step(one, i)
            step(two, i)
            const ask = (memory: Memory) =>
              memory.prepare(request).then(
                ({ messages, report }) => ({ messages, kept: report.kept, lost: report.reasoning }),
                (error: unknown) => String(error)
              )
            expect(await ask(two)).toEqual(await ask(one))
          }
          await one.close()
          await two.close()
        }
      ),
      { numRuns: 100 }
    )
  })

  it("is there after a restart, and where the guard had to act", async () => {
    const store = memoryStore()
    const first = aside({ store, budget: { tokens: 1500 } })
    for (let i = 1; i <= 20; i++) step(first, i)
    const { report } = await first.prepare(session(20, { images: 0 }))
    expect(report.guarded).toBeGreaterThan(0)
    const text = first.compose()
    expect(text).toContain("- step 20: success")
    await first.close()
    const second = aside({ store, budget: { tokens: 1500 } })
    await second.prepare(session(20, { images: 0 }))
    expect(second.compose()).toBe(text)
    await second.close()
  })

  it("takes no reasoning along that is bound to what stands before it", async () => {
    const memory = aside({ profile: { ...defaultProfile, reasoning: "error" } })
    const history: Array<Message> = [task]
    for (let i = 1; i <= 10; i++) {
      history.push(assistant(thinking(`thought ${i}`, `sig-${i}`), `say ${i} now`), {
        role: "user",
        content: `go on ${i}`
      })
      step(memory, i)
      const { messages, report } = await memory.prepare(history.slice())
      expect(messages).toEqual(history)
      expect(report.reasoning).toEqual({ lost: 0, removed: 0 })
    }
    await memory.close()
  })

  it("leaves the messages where a session goes on with it, and comes back without it", async () => {
    const store = memoryStore()
    const options = { store, commit: Commit.immediate }
    const make = (place: "messages" | "compose") =>
      createMemory({ ...options, pipeline: [stepMemory({ place }), hardLimit()] })
    const counts: Array<number> = []
    for (const [i, place] of (["messages", "compose", "messages"] as const).entries()) {
      const memory = make(place)
      step(memory, 1)
      const { messages } = await memory.prepare(session(2 + i))
      counts.push(messages.filter(isMemo).length)
      expect(memory.compose().match(/\[Step memory/g)?.length).toBe(1)
      await memory.close()
    }
    expect(counts).toEqual([1, 0, 1])
  })
})

import type { Message } from "@varve/core"
import { Commit, createMemory } from "@varve/core"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { codingAgent } from "../src/index.ts"

const file = (i: number) => `file ${i} begins\n${"a line of code\n".repeat(200)}file ${i} ends`

const history = (steps: number): ReadonlyArray<Message> =>
  deepFreeze([
    { role: "user", content: "Mend the build. Never touch the migrations folder." },
    ...Array.from({ length: steps }, (_, i): ReadonlyArray<Message> => [
      {
        role: "assistant",
        content: [
          { type: "toolCall", id: `c${i}`, name: i === 1 ? "plan" : "read", arguments: { at: i } }
        ]
      },
      {
        role: "toolResult",
        toolCallId: `c${i}`,
        toolName: i === 1 ? "plan" : "read",
        isError: i === 2,
        content: [{ type: "text", text: file(i) }]
      }
    ]).flat()
  ])

const textAt = (messages: ReadonlyArray<Message>, i: number): string =>
  (messages[2 * i + 2]!.content as ReadonlyArray<{ readonly text: string }>)[0]!.text

describe("codingAgent", () => {
  it("clips old results; the newest, errors and the tools that are named stay whole", async () => {
    const preset = codingAgent({ keep: 3, except: ["plan"] })
    const memory = createMemory({ ...preset, commit: Commit.immediate })
    const { messages } = await memory.prepare(history(8))
    const clipped = Array.from({ length: 8 }, (_, i) => textAt(messages, i) !== file(i))
    expect(clipped).toEqual([true, false, false, true, true, false, false, false])
    expect(textAt(messages, 0)).toMatch(/^file 0 begins[^]*file 0 ends$/)
    await memory.close()
  })

  it("folds old groups from 60 % of the limit on, and asks the summarizer that it was given", async () => {
    const asked: Array<number> = []
    const memory = createMemory({
      ...codingAgent({
        keep: 100,
        summarizer: ({ material, targetTokens }) => {
          asked.push(targetTokens)
          const text = `Read up to ${material.at(-1)?.from}, one file that begins and ends with lines of code after the other.`
          return Effect.succeed({ text, stopReason: "stop" as const })
        }
      }),
      budget: { tokens: 20_000 }
    })
    const before = await memory.prepare(history(10))
    expect(asked).toEqual([])
    expect(before.report.after.messages).toBe(21)
    const { messages, report } = await memory.prepare(history(20))
    expect(asked).toHaveLength(1)
    expect(messages[0]).toEqual(history(20)[0])
    expect(JSON.stringify(messages)).toContain("Read up to")
    expect(report.after.tokens).toBeLessThan(20_000 * 0.6)
    expect(report.guarded).toBe(0)
    await memory.close()
  })

  it("needs no model: the summary has what the agent said, and what the user forbade", async () => {
    const memory = createMemory({ ...codingAgent(), budget: { tokens: 12_000 } })
    const said: Message = { role: "assistant", content: "The cause is in src/build.ts, line 12." }
    const task = history(0)[0]!
    const all = [
      task,
      said,
      { role: "user", content: "Never use npm here." },
      ...history(20).slice(1)
    ]
    const { messages } = await memory.prepare(deepFreeze(all as ReadonlyArray<Message>))
    expect(messages).not.toContain(said)
    expect(JSON.stringify(messages)).toContain("The cause is in src/build.ts, line 12.")
    expect(JSON.stringify(messages)).toContain("Never use npm here.")
    await memory.close()
  })

  it("two memories from one preset share nothing", async () => {
    const preset = codingAgent()
    const [a, b] = [createMemory(preset), createMemory(preset)]
    await a.prepare(history(20))
    await b.prepare(history(1))
    expect(a.explain().length).toBeGreaterThan(0)
    expect(b.explain()).toEqual([])
  })

  it("refuses wrong options with their path", () => {
    expect(() => codingAgent({ keep: -1 })).toThrow(/codingAgent\.keep/)
    expect(() => codingAgent({ except: [1] } as never)).toThrow(/codingAgent\.except/)
    expect(() => codingAgent({ keeps: 1 } as never)).toThrow(/codingAgent\.keeps/)
  })
})

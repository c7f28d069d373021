import { requireData, session } from "@varve-examples/session-readers"
import { Commit, createMemory, hardLimit } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import type { Message } from "@varve/core"
import { conformance } from "@varve/testkit/Conformance"
import { describe, expect, it } from "vitest"
import { maskToolResults } from "../src/index.ts"

const history = (steps: number, text: (i: number) => string, isError = false): Array<Message> => [
  { role: "user", content: "Read every file." },
  ...Array.from({ length: steps }, (_, i): ReadonlyArray<Message> => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${i}`, name: "read", arguments: { file: i } }]
    },
    {
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "read",
      isError,
      content: [{ type: "text", text: text(i) }]
    }
  ]).flat()
]

const long = (i: number) => `file ${i} begins\n${"a line of text\n".repeat(200)}file ${i} ends`
const textAt = (messages: ReadonlyArray<unknown>, i: number): string =>
  ((messages[2 * i + 2] as Message).content as ReadonlyArray<{ text: string }>)[0]!.text

conformance(() => maskToolResults({ keep: 1, tokens: 20 })).register({ describe, it })

describe("maskToolResults", () => {
  it("clips old results to head and tail, and keeps the newest whole", async () => {
    const memory = createMemory({
      pipeline: [maskToolResults({ keep: 3 })],
      commit: Commit.immediate
    })
    const { messages, report } = await memory.prepare(history(8, long))
    for (let i = 0; i < 5; i++) {
      expect(textAt(messages, i)).toMatch(
        new RegExp(`^file ${i} begins[^]*tokens left out; recall \\S+\\][^]*file ${i} ends$`)
      )
    }
    for (let i = 5; i < 8; i++) expect(textAt(messages, i)).toBe(long(i))
    expect(report.after.tokens).toBeLessThan(report.before.tokens / 2)
    const [first] = memory.explain()
    const { block } = await memory.recall(first!.id)
    expect(block).toEqual({ type: "text", text: long(0) })
  })

  it("leaves short results, errors and the tools that are named alone", async () => {
    const whole = async (
      messages: Array<Message>,
      options: Parameters<typeof maskToolResults>[0]
    ) => {
      const memory = createMemory({
        pipeline: [maskToolResults(options)],
        commit: Commit.immediate
      })
      return (await memory.prepare(messages)).messages === messages
    }
    expect(
      await whole(
        history(8, () => "short"),
        { keep: 0 }
      )
    ).toBe(true)
    expect(await whole(history(8, long, true), { keep: 0 })).toBe(true)
    expect(await whole(history(8, long, true), { keep: 0, keepErrors: false })).toBe(false)
    expect(await whole(history(8, long), { keep: 0, except: ["read"] })).toBe(true)
  })

  it("refuses wrong options with their path", () => {
    expect(() => maskToolResults({ keep: -1 })).toThrow(/maskToolResults\.keep/)
    expect(() => maskToolResults({ tokens: 0 })).toThrow(/maskToolResults\.tokens/)
    expect(() => maskToolResults({ keeps: 1 } as never)).toThrow(/maskToolResults\.keeps/)
  })

  it.runIf(requireData("maskToolResults on a real session"))(
    "takes a real coding session at every tenth message down without a fault",
    async () => {
      const { messages } = session("pi/large-session")
      const memory = createMemory({ pipeline: [maskToolResults(), hardLimit()] })
      let edits = 0
      for (let at = 1; at <= messages.length; at += 10) {
        const prepared = await memory.prepare(messages.slice(0, at))
        expect(checkValidity(prepared.messages)).toEqual([])
        edits += prepared.report.commit.committed
      }
      expect(edits).toBeGreaterThan(20)
    }
  )
})

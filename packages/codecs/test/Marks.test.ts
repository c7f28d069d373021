import { createMemory, defaultProfile } from "@varve/core"
import type { Codec } from "../src/index.ts"
import { describe, expect, it } from "vitest"
import { aiSdk, anthropicMessages, langChain } from "../src/index.ts"

it("with marks: true, they stand where the memory says that they do most good", async () => {
  const cache = { ...defaultProfile.cache, kind: "marks" as const }
  const memory = createMemory({ pipeline: [], profile: { ...defaultProfile, cache } })
  const history = [
    { role: "user", content: "Hello." },
    { role: "assistant", content: [{ type: "text", text: "Good morning." }] },
    { role: "user", content: [{ type: "text", text: "Go on." }] }
  ]
  await anthropicMessages.prepare(memory, history.slice(0, 1), { marks: true })
  const { messages } = await anthropicMessages.prepare(memory, history, { marks: true })
  const marked = messages.map((m) => JSON.stringify(m).includes("cache_control"))
  // Behind what stands as it did in the request before, and at the end.
  expect(marked).toEqual([true, false, true])
  const { messages: plain } = await anthropicMessages.prepare(memory, history)
  expect(JSON.stringify(plain)).not.toContain("cache_control")
})

const HOUR = { type: "ephemeral", ttl: "1h" }
const MINUTES = { type: "ephemeral" }
const user = (text: string, more: object = {}) => ({
  role: "user",
  content: [{ type: "text", text, ...more }]
})

/** The marks of each message, in order. */
const marksIn = (messages: ReadonlyArray<object>): ReadonlyArray<unknown> =>
  messages.map((m) => {
    const marks = JSON.stringify(m).match(/\{"type":"ephemeral"[^}]*\}/g) ?? []
    return marks.map((mark): unknown => JSON.parse(mark))
  })

describe("a mark lives as long as the host's longest-lived mark behind it", () => {
  const memory = createMemory({ pipeline: [] })
  const marks = (...places: ReadonlyArray<number>) => ({ marks: () => places })

  const cases: ReadonlyArray<readonly [Codec<any>, object]> = [
    [anthropicMessages, { cache_control: HOUR }],
    [langChain, { cache_control: HOUR }],
    [aiSdk, { providerOptions: { anthropic: { cacheControl: HOUR } } }]
  ]
  it.each(cases.map(([codec, given]) => [codec.name, codec, given] as const))(
    "%s",
    async (_, codec, given) => {
      const history = [user("a"), user("b", given), user("c")]
      const { messages } = await codec.prepare(memory, history, marks(0, 2))
      expect(marksIn(messages as ReadonlyArray<object>)).toEqual([[HOUR], [HOUR], [MINUTES]])
      expect(messages[1]).toBe(history[1])
    }
  )

  it("where that stands inside of a result, or in the same message", async () => {
    const call = (id: string) => ({ type: "tool_use", id, name: "look", input: {} })
    const result = (id: string, ...content: ReadonlyArray<object>) => ({
      type: "tool_result",
      tool_use_id: id,
      content
    })
    const text = { type: "text", text: "a" }
    const marked = { ...text, cache_control: HOUR }
    const history = [
      user("a"),
      { role: "assistant", content: [call("1"), call("2")] },
      { role: "user", content: [result("1", text), result("2", marked, text)] }
    ]
    const { messages } = await anthropicMessages.prepare(memory, history, marks(0, 2, 3))
    const [first, second] = messages[2]!.content as unknown as ReadonlyArray<object>
    expect(marksIn([messages[0]!, first!, second!])).toEqual([[HOUR], [HOUR], [HOUR]])
    // A block with one inside of it gets no other.
    expect(second).toBe((history[2]!.content as ReadonlyArray<object>)[1])
  })

  it("a message's own mark is one of its last part, and stays what it is", async () => {
    const hour = { providerOptions: { anthropic: { cacheControl: HOUR } } }
    const history = [user("a"), { ...user("b"), ...hour }, user("c")]
    const { messages } = await aiSdk.prepare(memory, history, marks(0, 1))
    expect(marksIn(messages)).toEqual([[HOUR], [HOUR], []])
    expect(messages[1]).toBe(history[1])
  })

  it("the mark for the whole request stands behind all, and counts", async () => {
    const history = [1, 2, 3, 4, 5].map((n) => user(`${n}`))
    const options = marks(0, 1, 2, 3, 4)
    for (const codec of [anthropicMessages, langChain, aiSdk]) {
      const long = await codec.prepare(memory, history, { ...options, automatic: HOUR })
      expect(marksIn(long.messages)).toEqual([[], [], [HOUR], [HOUR], [HOUR]])
      const short = await codec.prepare(memory, history, { ...options, automatic: MINUTES })
      expect(marksIn(short.messages)).toEqual([[], [], [MINUTES], [MINUTES], [MINUTES]])
    }
  })

  it("marks of the host's own before it do not count for it, nor are they changed", async () => {
    const history = [user("a", { cache_control: HOUR }), user("b"), user("c")]
    const { messages } = await anthropicMessages.prepare(memory, history, marks(1))
    expect(marksIn(messages)).toEqual([[HOUR], [MINUTES], []])
    // Refused with or without ours: it is the host's to put right.
    const wrong = [user("a", { cache_control: MINUTES }), user("b", { cache_control: HOUR })]
    expect((await anthropicMessages.prepare(memory, wrong, marks(0, 1))).messages).toEqual(wrong)
  })
})

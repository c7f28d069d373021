import type { Message } from "@varve/core/Message"
import { blocksOf } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { histories } from "../src/Histories.ts"

const calls = (m: Message) => blocksOf(m).filter((b) => b.type === "toolCall")
const text = (history: ReadonlyArray<Message>) => JSON.stringify(history)

describe("histories", () => {
  it("are valid by construction, whatever the bounds", () => {
    const bounds = fc.record(
      {
        turns: fc.nat(5),
        steps: fc.nat(5),
        calls: fc.nat(4),
        text: fc.nat(500),
        images: fc.boolean()
      },
      { requiredKeys: [] }
    )
    const any = bounds.chain((options) => histories(options))
    fc.assert(
      fc.property(any, (history) => {
        expect(checkValidity(history)).toEqual([])
      }),
      { numRuns: 500 }
    )
    const user = histories({ startsWithUser: true })
    fc.assert(
      fc.property(user, (h) => {
        expect(checkValidity(h, { startsWithUser: true })).toEqual([])
      })
    )
  })

  it("keep to what was asked for", () => {
    fc.assert(
      fc.property(histories({ images: false, inFlight: false }), (history) => {
        expect(text(history)).not.toContain('"type":"image"')
        expect(checkValidity([...history, { role: "user", content: "more" }])).toEqual([])
      })
    )
  })

  const sample = fc.sample(histories({ steps: 8 }), { numRuns: 1000, seed: 42 })
  const share = (has: (history: ReadonlyArray<Message>) => boolean) =>
    sample.filter(has).length / sample.length
  const some = (is: (m: Message, i: number, all: ReadonlyArray<Message>) => boolean) =>
    share((h) => h.some(is))

  it.each<[string, number, number]>([
    ["at least 20 messages", 0.4, share((h) => h.length >= 20)],
    ["at least 60 messages", 0.03, share((h) => h.length >= 60)],
    ["nothing at all", 0.005, share((h) => h.length === 0)],
    ["at least 5 images", 0.4, share((h) => text(h).split('"type":"image"').length > 5)],
    ["parallel calls", 0.5, some((m) => calls(m).length > 1)],
    [
      "results out of order",
      0.3,
      some((m, i, all) => {
        const ids = calls(m).flatMap((b) => (b.type === "toolCall" ? [b.id] : []))
        const next = all[i + 1]
        return (
          next?.role === "toolResult" && ids.includes(next.toolCallId) && next.toolCallId !== ids[0]
        )
      })
    ],
    [
      "a call in flight",
      0.1,
      share((h) => checkValidity([...h, { role: "user", content: "x" }]).length > 0)
    ],
    ["an error", 0.3, some((m) => m.role === "toolResult" && m.isError)],
    ["an empty result", 0.1, some((m) => m.role === "toolResult" && m.content.length === 0)],
    ["signed reasoning", 0.3, share((h) => text(h).includes("thinkingSignature"))],
    ["redacted reasoning", 0.2, share((h) => text(h).includes('"redacted":true'))],
    [
      "an unknown role",
      0.1,
      some((m) => !["user", "assistant", "toolResult", "system"].includes(m.role))
    ],
    ["a system message at the head", 0.3, share((h) => h[0]?.role === "system")],
    [
      "a system message further on",
      0.1,
      some((m, i, all) => m.role === "system" && all[i - 1]?.role !== "system" && i > 0)
    ],
    [
      "a message between a call and its result",
      0.05,
      some((m, i, all) => m.role === "user" && calls(all[i - 1] ?? m).length > 0)
    ],
    ["an assistant message first", 0.02, share((h) => h[0]?.role === "assistant")],
    ["host ids", 0.3, some((m) => "id" in m)],
    [
      "equal messages",
      0.15,
      share((h) => new Set(h.map((m) => JSON.stringify(m))).size < h.length)
    ],
    [
      "call ids that come again",
      0.1,
      share(
        (h) =>
          new Set(h.flatMap((m) => calls(m).map((b) => JSON.stringify(b)))).size <
          h.flatMap(calls).length
      )
    ],
    ["CJK", 0.3, share((h) => /[\u3040-\u30ff\u4e00-\u9fff]/.test(text(h)))],
    ["lone surrogates", 0.1, share((h) => text(h).includes("\\ud83d"))],
    [
      "a text of 1 000 characters or more",
      0.3,
      some((m) => blocksOf(m).some((b) => b.type === "text" && b.text.length >= 1000))
    ],
    [
      "an image alone in a user's message",
      0.05,
      some((m) => m.role === "user" && blocksOf(m).every((b) => b.type === "image"))
    ],
    ["a block of a type that nobody knows", 0.1, share((h) => text(h).includes('"resource"'))]
  ])("have %s often enough", (_, least, found) => {
    expect(found).toBeGreaterThanOrEqual(least)
  })

  it("are the same for the same seed", () => {
    expect(fc.sample(histories(), { numRuns: 20, seed: 7 })).toEqual(
      fc.sample(histories(), { numRuns: 20, seed: 7 })
    )
  })

  it("shrink to the few messages that matter", () => {
    const twoImages = fc.check(
      fc.property(histories(), (h) => text(h).split('"type":"image"').length <= 2),
      { seed: 3, numRuns: 200 }
    )
    const [smallest] = twoImages.counterexample!
    expect(smallest.length).toBeLessThanOrEqual(6)
    expect(text(smallest).length).toBeLessThan(3000)
  })
})

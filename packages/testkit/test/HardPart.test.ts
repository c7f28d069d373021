import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { garbage } from "../src/Garbage.ts"
import { hardOnlyTokens, hardPart } from "../src/HardPart.ts"
import { histories } from "../src/Histories.ts"
import { pngBase64 } from "../src/Png.ts"

const image = { type: "image" as const, data: pngBase64(10, 10), mimeType: "image/png" }
const text = (value: string) => ({ type: "text" as const, text: value })
const call = (id: string) => ({ type: "toolCall" as const, id, name: "t", arguments: {} })
const S: Message = { role: "system", content: "rules" }
const X = { role: "bashExecution", output: "" } as unknown as Message
const task: Message = { role: "user", content: [text("task"), image] }
const caller: Message = { role: "assistant", content: [text("so"), call("c1"), call("c2")] }
const T = (toolCallId: string): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "t",
  content: [image],
  isError: false
})
const results = [T("c1"), T("c2")] as const
const history = [S, X, task, caller, ...results, { role: "user", content: "more" } as Message, S]

describe("hardPart", () => {
  it("is system text, unknown roles and the text of the task", () => {
    expect(hardPart(history)).toEqual([S, X, { role: "user", content: [text("task")] }, S])
  })

  it("takes a pinned result with its call whole, the rest of that step as bare as it can be", () => {
    const part = hardPart(history, (m) => m === results[1])
    const bare = { ...results[0], content: [] }
    expect(part.slice(3, 6)).toEqual([
      { role: "assistant", content: [call("c1"), call("c2")] },
      bare,
      results[1]
    ])
    expect(checkValidity(part)).toEqual([])
  })

  it("takes the results of a pinned call, emptied", () => {
    const part = hardPart(history, (m) => m === caller)
    expect(part.slice(3, 6)).toEqual([
      caller,
      { ...results[0], content: [] },
      { ...results[1], content: [] }
    ])
  })

  it("takes a step in which an unknown role stands", () => {
    const part = hardPart([task, caller, results[0], X, results[1]])
    expect(part.map((m) => m.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "bashExecution",
      "toolResult"
    ])
    expect(hardPart([task, caller, ...results, X])).toHaveLength(2)
  })

  it("looks for the caller by position, not by a global set of ids", () => {
    const twice = [task, caller, ...results, caller, { ...results[0] }, { ...results[1] }]
    const part = hardPart(twice, (_, i) => i === 5)
    expect(part).toHaveLength(4)
    expect(part[2]).toBe(twice[5])
  })

  it("has no task where the first user message has images only", () => {
    expect(
      hardPart([
        { role: "user", content: [image] },
        { role: "user", content: "later" }
      ])
    ).toEqual([])
    expect(hardPart([{ role: "user", content: " " }, task])).toEqual([
      { role: "user", content: [text("task")] }
    ])
  })

  it("costs no more than the whole, and takes garbage", () => {
    const counter = estimateCounter()
    fc.assert(
      fc.property(histories(), (h) => {
        expect(hardOnlyTokens(h, counter)).toBeLessThanOrEqual(
          counter.request({ messages: h }).tokens
        )
      })
    )
    fc.assert(fc.property(garbage(), (h) => void hardPart(h, (_, i) => i % 2 === 0)))
  })
})

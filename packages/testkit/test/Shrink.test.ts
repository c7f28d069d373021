import type { Message } from "@varve/core/Message"
import { describe, expect, it } from "vitest"
import { deepFreeze } from "../src/Freeze.ts"
import { smallest, smallestAsCode } from "../src/Shrink.ts"

const user = (content: string): Message => ({ role: "user", content })

describe("smallest", () => {
  it("leaves only the messages, blocks and characters that the fault needs", async () => {
    const history = deepFreeze([
      ...Array.from({ length: 40 }, (_, i) => user(`message ${i}`)),
      {
        role: "assistant",
        content: [
          { type: "text", text: "before" },
          { type: "toolCall", id: "c", name: "look", arguments: { at: "the door" } }
        ]
      } as Message,
      user("behind")
    ])
    const calls = (h: ReadonlyArray<Message>) =>
      h.some((m) => Array.isArray(m.content) && m.content.some((b) => b.type === "toolCall"))
    expect(await smallest(history, (h) => calls(h) && h.length > 1)).toEqual([
      user("m"),
      { role: "assistant", content: [{ type: "toolCall", id: "c", name: "look", arguments: {} }] }
    ])
  })

  it("takes an exception for the fault", async () => {
    const found = await smallest([user("a"), user("boom"), user("c")], (h) => {
      if (h.some((m) => m.content === "boom")) throw new Error("boom")
      return false
    })
    expect(found).toEqual([user("boom")])
  })

  it("gives back what does not fail", async () => {
    const history = [user("a")]
    expect(await smallest(history, () => false)).toBe(history)
  })

  it("prints it as code", async () => {
    const code = await smallestAsCode([user("a"), user("b")], async (h) => h.length > 0)
    expect(code).toBe('[\n  {"role":"user","content":"b"}\n]')
  })
})

import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { createMemory } from "../src/createMemory.ts"
import * as Edit from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { Message } from "../src/Message.ts"
import { strategy } from "../src/Strategy.ts"
import type { View } from "../src/View.ts"

const text = (n: number) => `${n}: ` + "word ".repeat(60)

const step = (n: number): ReadonlyArray<Message> => [
  {
    role: "assistant",
    content: [{ type: "toolCall", id: `c${n}`, name: "look", arguments: {} }]
  },
  {
    role: "toolResult",
    toolCallId: `c${n}`,
    toolName: "look",
    content: [{ type: "text", text: text(n) }],
    isError: false
  }
]

const history: ReadonlyArray<Message> = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "the task" },
  ...[0, 1, 2, 3, 4, 5].flatMap(step)
]

/** What is sent where one strategy proposes once. */
const sent = async (propose: (view: View) => ReadonlyArray<Edit.Edit>) => {
  const memory = createMemory({
    pipeline: [strategy("one", propose), hardLimit()],
    commit: Commit.immediate
  })
  const { messages, report } = await memory.prepare<unknown>(history)
  await memory.close()
  return { messages: messages as ReadonlyArray<Message>, report }
}

describe("an edit", () => {
  it("that folds puts its text where the first of the folded stood", async () => {
    const { messages } = await sent((view) => {
      const [, , , b, , d] = view.groups
      return [Edit.fold([b!.id, d!.id], "[two steps]", view.newest!)]
    })
    expect(messages.map((m) => (m.role === "user" ? JSON.stringify(m.content) : m.role))).toEqual([
      "system",
      '"the task"',
      "assistant",
      "toolResult",
      '[{"type":"text","text":"[two steps]"}]',
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
      "assistant",
      "toolResult"
    ])
  })

  it("of items that do not stand in their order folds at the first of them, too", async () => {
    const { messages } = await sent((view) => {
      const [, , a, b, c] = view.groups
      return [Edit.fold([c!.id, a!.id, b!.id], "[three steps]", view.newest!)]
    })
    expect(messages[2]).toMatchObject({ content: [{ text: "[three steps]" }] })
  })

  it("that sets a memo puts it behind the task", async () => {
    const { messages } = await sent(() => [Edit.memo("m", "remember", { cap: 50 })])
    expect(messages[1]).toBe(history[1])
    expect(messages[2]).toMatchObject({ role: "user", content: [{ text: "remember" }] })
    expect(messages[3]).toBe(history[2])
  })

  it("is measured in bytes of the request, too", async () => {
    const { messages, report } = await sent((view) =>
      view.results.map((r) => Edit.replace(r.block, "[looked]"))
    )
    const json = JSON.stringify(messages).length
    expect(report.after.requestBytes).toBeLessThan(report.before.requestBytes / 1.5)
    expect(Math.abs(report.after.requestBytes / json - 1)).toBeLessThan(0.15)
  })

  it("takes a block down the ladder only, whatever comes later", async () => {
    let turn = 0
    const ladder = strategy("ladder", (view) => {
      const block = view.groups[2]!.members[1] + "/0"
      return [
        [Edit.replace(block, "[a card]", 2)],
        [Edit.replace(block, "a clip", 1)],
        [Edit.replace(block, "[b]", 2)]
      ][turn++]!
    })
    const memory = createMemory({ pipeline: [ladder, hardLimit()], commit: Commit.immediate })
    const seen: Array<string> = []
    for (let n = 0; n < 3; n++) {
      const { messages } = await memory.prepare<unknown>(history.concat(step(10 + n)))
      seen.push(JSON.stringify(messages[3]))
    }
    await memory.close()
    expect(seen[0]).toContain("[a card]")
    expect(new Set(seen).size).toBe(1)
  })
})

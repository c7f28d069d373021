import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import { lift } from "@varve/core/Lift"
import type { Message } from "@varve/core/Message"
import { textOf } from "@varve/core/Message"
import { strategy } from "@varve/core/Strategy"
import { deepFreeze } from "@varve/testkit/Freeze"
import { describe, expect, it } from "vitest"
import { assistant, result, session, system, task, user, words } from "./fixtures/history.ts"

type Change = Parameters<typeof lift>[1]

/** What a plain function makes of a history, with nothing protected at the end but the newest message. */
const lifted = async (history: ReadonlyArray<Message>, change: Change) => {
  const memory = createMemory({
    pipeline: [lift("plain", change)],
    commit: Commit.immediate,
    protectLast: 0
  })
  const out = await memory.prepare(deepFreeze(history))
  await memory.close()
  return { ...out, own: out.report.strategies[0]! }
}

const talk = [
  system("rules"),
  task,
  ...Array.from({ length: 6 }, (_, i) => assistant(`answer number ${i}`)),
  user("newest")
]

describe("a plain function from messages to messages", () => {
  it.each([0, 1, 2, 5, 6, 7, 8, 9, 10])(
    "that keeps the newest %i keeps exactly these",
    async (n) => {
      const { messages } = await lifted(talk, (all) => (n === 0 ? [] : all.slice(-n)))
      // System text, the task and the newest user message stay whatever it says.
      const kept = talk.filter((_, i) => i < 2 || i === 8 || i >= 9 - n)
      expect(messages).toEqual(kept)
      for (const m of messages) expect(talk).toContain(m)
    }
  )

  it("may drop from the middle, and the rest stays in its order", async () => {
    const { messages, own } = await lifted(talk, (all) => all.filter((_, i) => i % 2 === 0))
    expect(messages).toEqual([0, 1, 2, 4, 6, 8].map((i) => talk[i]))
    expect(own.refused).toEqual([])
  })

  it("that turns the order or repeats messages changes nothing", async () => {
    expect((await lifted(talk, (all) => all.toReversed())).messages).toBe(talk)
    expect((await lifted(talk, (all) => [...all, ...all])).messages).toBe(talk)
  })

  it("that keeps all keeps the text of ours that holds a tail", async () => {
    const memory = createMemory({
      pipeline: [
        strategy("fold", (view) => {
          const { closed, id, members } = view.groups[1]!
          return closed ? [Edit.fold([id], "Found it.", members.at(-1)!)] : []
        }),
        strategy("tail", () => [Edit.memo("hint", "Mind the gap.", { tail: true, cap: 100 })]),
        lift("all", (messages) => messages)
      ],
      commit: Commit.immediate,
      protectLast: 0
    })
    const calls = [assistant("c1"), result("c1", words(100)), assistant("c2"), result("c2", "")]
    // What the model has seen is protected no more.
    await memory.prepare(deepFreeze([task, ...calls.slice(0, 2)]))
    const { messages, report } = await memory.prepare(deepFreeze([task, ...calls]))
    expect(report.tail?.at).toBe(1)
    const holder = textOf(messages[1]!).split("\n")
    expect([holder[0], holder.at(-2)]).toEqual(["Found it.", "Mind the gap."])
    expect(messages.map(textOf).toSpliced(1, 1)).toEqual([textOf(task), "", ""])
    await memory.close()
  })

  it("may put texts in the place of what it leaves out", async () => {
    const { messages } = await lifted(talk, (all) => [
      all[0]!,
      all[1]!,
      user("[of two]"),
      ...all.slice(5)
    ])
    expect(messages.map(textOf)).toEqual([
      "rules",
      textOf(task),
      "[of two]",
      ...[3, 4, 5].map((i) => `answer number ${i}`),
      "newest"
    ])
    expect(messages.slice(3)).toEqual(talk.slice(5))
  })

  it("that keeps a part of a group keeps the group whole: no call loses its result", async () => {
    const history = [...session(4, { images: 0 }), user("newest")]
    const { messages } = await lifted(history, (all) => all.filter((m) => m.role !== "toolResult"))
    expect(messages).toBe(history)
    const half = [
      task,
      assistant("a", "b"),
      result("a"),
      result("b"),
      assistant("well then"),
      user("x")
    ]
    const { messages: same } = await lifted(half, (all) => all.filter((m) => m !== half[3]))
    expect(same).toBe(half)
  })

  it("that changes inside a message drops it for a text, as it is a message of its own", async () => {
    const { messages } = await lifted(talk, (all) =>
      all.map((m, i) => (i === 4 ? user("short") : m))
    )
    expect(messages.map(textOf)[4]).toBe("short")
    expect(messages.filter((_, i) => i !== 4)).toEqual(talk.filter((_, i) => i !== 4))
  })

  it("may take its time", async () => {
    const { messages } = await lifted(talk, (all) => Promise.resolve(all.slice(-2)))
    expect(messages.length).toBe(4)
  })

  it.each<readonly [string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("no")
      }
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
    ["gives nothing", () => undefined],
    ["gives a text", () => "all of it"],
    ["promises nothing", () => Promise.resolve()]
  ])("that %s changes nothing but the report", async (_, change) => {
    const { messages, own } = await lifted(talk, change as Change)
    expect(messages).toBe(talk)
    expect(own.error).toBeDefined()
  })

  it("that gives holes and odd things is read as far as it goes", async () => {
    const odd = [null, 3, "x", {}, { role: "user" }]
    const { messages } = await lifted(talk, (all) => [...all.slice(0, 5), ...(odd as never)])
    expect(messages.slice(0, 5)).toEqual(talk.slice(0, 5))
    expect(messages.at(-1)).toBe(talk.at(-1))
  })

  it("that empties the list it was given empties its own copy", async () => {
    const { messages } = await lifted(talk, (all) => {
      ;(all as Array<Message>).length = 0
      return talk
    })
    expect(messages).toBe(talk)
  })
})

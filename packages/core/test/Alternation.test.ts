import { createMemory } from "@varve/core/createMemory"
import * as Commit from "@varve/core/Commit"
import { hardLimit } from "@varve/core/HardLimit"
import { lift } from "@varve/core/Lift"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { checkValidity } from "@varve/core/Validity"
import { deepFreeze } from "@varve/testkit/Freeze"
import { describe, expect, it } from "vitest"
import { assistant, call, result, user, words } from "./fixtures/history.ts"

const alternating = { ...defaultProfile, alternates: true }
const faults = (messages: ReadonlyArray<Message>) =>
  checkValidity(messages, { alternates: true }).map(({ at, rule }) => [at, rule])

/** An answer, a user's turn behind it, and a call behind that. */
const history = deepFreeze([
  user("Find the cheapest flight."),
  assistant("Which day?"),
  user(`On Monday. ${words(60)}`, { id: "day" }),
  assistant(call("a", "search", { day: "Monday" })),
  result("a", words(20)),
  assistant("There are three."),
  user("Take the first.")
])
const withoutDay = lift("without-day", (messages) => messages.filter((_, i) => i !== 2))

const sent = async (
  options: MemoryOptions,
  given: ReadonlyArray<Message> = history,
  pins: ReadonlyArray<string> = []
) => {
  const memory = createMemory({ commit: Commit.immediate, protectLast: 0, ...options })
  for (const id of pins) memory.pin(id)
  const { messages, report } = await memory.prepare<unknown>(given)
  return { messages: messages as ReadonlyArray<Message>, report }
}

describe("for a provider that wants turns to alternate", () => {
  it("a turn that parts an answer from a call stays, and the report says why", async () => {
    const { messages, report } = await sent({ pipeline: [withoutDay], profile: alternating })
    expect(messages).toEqual(history)
    expect(report.strategies[0]?.refused[0]?.why).toContain("right behind another message")
  })

  it("it leaves where the profile asks for nothing of the kind", async () => {
    const { messages } = await sent({ pipeline: [withoutDay] })
    expect(messages).toHaveLength(history.length - 1)
    expect(faults(messages)).toEqual([[2, "turns"]])
  })

  it("it leaves where the host's own kind of message parts the two as well", async () => {
    const shell = { role: "bashExecution", command: "ls", output: "" } as unknown as Message
    const given = deepFreeze([...history.slice(0, 3), shell, ...history.slice(3)])
    const { messages } = await sent({ pipeline: [withoutDay], profile: alternating }, given)
    expect(messages).toEqual(given.filter((_, i) => i !== 2))
    expect(faults(messages)).toEqual([])
  })

  it("it leaves with the answer before it, or with a text in its place", async () => {
    const both = lift("both", (messages) => [messages[0]!, ...messages.slice(3)])
    const { messages } = await sent({ pipeline: [both], profile: alternating })
    expect(messages).toHaveLength(history.length - 2)
    expect(faults(messages)).toEqual([])
  })

  it("the guard parts them too, whatever is pinned and however little may stay", async () => {
    const pinned = history.map((m, i) => (i === 1 || i === 3 ? { ...m, id: `pin${i}` } : m))
    let cut = 0
    for (let tokens = 40; tokens < 200; tokens += 10) {
      const options = { pipeline: [hardLimit()], profile: alternating, budget: { tokens } }
      const done = await sent(options, deepFreeze(pinned), ["pin1", "pin3"]).catch(() => undefined)
      if (done === undefined) continue
      if (done.report.guarded > 0) cut++
      expect(faults(done.messages), `${tokens} tokens`).toEqual([])
      expect(done.report.after.tokens).toBeLessThanOrEqual(tokens)
    }
    expect(cut).toBeGreaterThan(3)
  })

  it("an answer is not left last: the model's next message would stand right behind it", async () => {
    const given = deepFreeze([
      user("Find the cheapest flight."),
      { ...assistant("Which day?"), id: "pinned" },
      user(`On Monday. ${words(60)}`)
    ])
    const options = { pipeline: [hardLimit()], profile: alternating, budget: { tokens: 60 } }
    const { messages, report } = await sent(options, given, ["pinned"])
    expect(report.guarded).toBeGreaterThan(0)
    expect(messages.map((m) => m.role)).toEqual(["user", "assistant", "user"])
  })

  it("a note that parts the two stays as long as the call does", async () => {
    const given = deepFreeze([
      user("Find the cheapest flight."),
      { ...assistant("Which day?"), id: "pinned" },
      assistant(`Any day will do, I see. ${words(60)}`),
      user("On Monday."),
      assistant(call("a", "go"), call("b", "go"), call("c", "go")),
      ...["a", "b", "c"].map((id) => result(id, "ok"))
    ])
    for (const most of [3, 4, 5, 6, 7]) {
      const profile = { ...alternating, limits: { messages: most } }
      const options = { pipeline: [hardLimit()], profile, protectLast: 0 }
      const { messages, report } = await sent(options, given, ["pinned"])
      expect(report.after.messages).toBeLessThanOrEqual(most)
      expect(faults(messages), `${most} messages`).toEqual([])
    }
  })

  it("what the host has so itself is left as it is", async () => {
    const own = deepFreeze([
      user("Go."),
      assistant("Well then."),
      assistant(call("a", "go")),
      result("a", "ok")
    ])
    expect(faults(own)).toEqual([[2, "turns"]])
    expect((await sent({ profile: alternating }, own)).messages).toEqual(own)
    // And no reason to keep what stands between: one call behind an answer is as good as another.
    const more = deepFreeze([...own, assistant(call("b", "go")), result("b", "ok"), user("Go on.")])
    const first = lift("first", (messages) => messages.filter((_, i) => i !== 2 && i !== 3))
    const { messages } = await sent({ pipeline: [first], profile: alternating }, more)
    expect(messages).toHaveLength(more.length - 2)
  })
})

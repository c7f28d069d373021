import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import type { Message } from "@varve/core/Message"
import { strategy } from "@varve/core/Strategy"
import type { View } from "@varve/core/View"
import { describe, expect, it } from "vitest"
import { session } from "./fixtures/history.ts"

/** What a strategy found that looked at a view, and what was sent. */
const shown = async <A>(look: (view: View) => A, history: ReadonlyArray<Message> = session(6)) => {
  let found: A | undefined
  const looking = strategy("looking", (view) => {
    found = look(view)
    return []
  })
  const memory = createMemory({ pipeline: [looking] })
  const { messages, report } = await memory.prepare(history)
  await memory.close()
  return { found, messages, error: report.strategies[0]?.error }
}

describe("what a strategy is shown", () => {
  it("can be written down as JSON", async () => {
    const { error, found } = await shown((view) =>
      [view.items, view.groups, view.images, view.results].map((list) => JSON.stringify(list))
    )
    expect(error).toBeUndefined()
    for (const text of found!) expect(text).toMatch(/^\[/)
  })

  it("is closed: an item that is written to says so, and nothing else is sent", async () => {
    for (const field of ["messages", "group", "tokens"]) {
      const { error, messages } = await shown((view) =>
        Object.assign(view.items[1]!, { [field]: [] })
      )
      expect(error).toMatch(/TypeError/)
      expect(messages).toHaveLength(session(6).length)
    }
  })

  it("has steps of its own", async () => {
    const seen: Array<number> = []
    const memory = createMemory({
      pipeline: [
        strategy("empties", (view) => {
          seen.push(view.steps.length)
          ;(view.steps as Array<unknown>).length = 0
          return []
        })
      ]
    })
    memory.steps.begin({ id: "s1", step: 1, goal: "look" })
    const history = session(3)
    await memory.prepare(history)
    await memory.prepare([...history, { role: "user", content: "Go on." }])
    await memory.close()
    expect(seen).toEqual([1, 1])
  })

  it("stays pinned by the id that its message had when it came", async () => {
    const history: Array<Message> = session(4).map((message, i) => ({ ...message, id: `h${i}` }))
    const cutting = strategy("cutting", (view) =>
      view.results.map(({ block }) => Edit.replace(block, "cut"))
    )
    const memory = createMemory({
      pipeline: [cutting],
      commit: (s) => ({ cut: s.length > 0 ? 0 : null, reason: "" })
    })
    const at = history.findIndex(({ role }) => role === "toolResult")
    memory.pin(`h${at}`)
    await memory.prepare(history)
    delete (history[at] as { id?: string }).id
    const { messages } = await memory.prepare([...history, { role: "user", content: "Go on." }])
    expect(messages[at]).toBe(history[at])
    expect(JSON.stringify(messages)).toContain('"cut"')
    await memory.close()
  })
})

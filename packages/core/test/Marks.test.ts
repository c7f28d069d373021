import { describe, expect, it } from "vitest"
import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { strategy } from "@varve/core/Strategy"

const profile = {
  ...defaultProfile,
  contextWindow: 10_000_000,
  prices: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  cache: { kind: "marks" as const, minimum: 1024, lifetime: 300_000 }
}

const step = (i: number, words: number): ReadonlyArray<Message> => [
  {
    role: "assistant",
    content: [{ type: "toolCall", id: `c${i}`, name: "read", arguments: { path: `${i}.ts` } }]
  },
  {
    role: "toolResult",
    toolCallId: `c${i}`,
    toolName: "read",
    isError: false,
    content: [{ type: "text", text: `${i} `.padEnd(5 * words, "word ") }]
  }
]

/** Results but the newest two go, but for those that stay for good. */
const dropOld = (stays: (path: string) => boolean) =>
  strategy("dropOld", (view) =>
    view.results
      .filter(({ rank, text }) => rank === 0 && !stays(text.split(" ")[0]!))
      .slice(0, -2)
      .map(({ block, text }) =>
        Edit.replace(block, [{ type: "text", text: `${text.split(" ")[0]} gone` }], 2)
      )
  )

describe("cache marks", () => {
  it("stand where the next commit cuts, also behind an edit far up that never pays", async () => {
    const memory = createMemory({
      profile,
      pipeline: [dropOld((i) => Number(i) > 0 && Number(i) < 12)],
      commit: Commit.whenItPays({ marks: true })
    })
    const history: Array<Message> = [{ role: "user", content: "Mend the build." }]
    let marks: ReadonlyArray<number> = []
    let commits = 0
    for (let i = 0; i < 60; i++) {
      const prepared = await memory.prepare(history)
      const { kept } = prepared.report
      if (i > 0 && kept.share < 1) {
        commits++
        expect(marks, `request ${i}`).toContain(kept.messages - 1)
      }
      marks = prepared.marks
      // The first saves next to nothing, and far behind it come those that save much.
      history.push(...step(i, i === 0 ? 30 : i < 12 ? 3000 : 800))
    }
    expect(commits).toBeGreaterThan(1)
    await memory.close()
  })

  it("name what the request before left wherever the newest doesn't look back so far", async () => {
    const memory = createMemory({ profile })
    const user = (text: string): Message => ({
      role: "user",
      content: Array.from({ length: 30 }, (_, i) => ({ type: "text" as const, text: text + i }))
    })
    const history: Array<Message> = [user("a")]
    await memory.prepare(history)
    history.push({ role: "assistant", content: "Yes." }, user("b"))
    expect((await memory.prepare(history)).marks).toEqual([0, 2])
    await memory.close()
  })

  it("are never more than leave one of the provider's to the host", async () => {
    const most = async (marks?: number) => {
      const cache = marks === undefined ? profile.cache : { ...profile.cache, marks }
      const memory = createMemory({
        profile: { ...profile, cache },
        pipeline: [dropOld((i) => Number(i) > 0 && Number(i) < 12)],
        commit: Commit.whenItPays({ marks: true })
      })
      const history: Array<Message> = [{ role: "user", content: "Mend the build." }]
      let seen = 0
      for (let i = 0; i < 30; i++) {
        const prepared = await memory.prepare(history)
        expect(prepared.marks).toContain(prepared.messages.length - 1)
        seen = Math.max(seen, prepared.marks.length)
        history.push(...step(i, i === 0 ? 30 : 800))
      }
      await memory.close()
      return seen
    }
    expect([await most(), await most(3), await most(2), await most(1)]).toEqual([3, 2, 1, 1])
  })
})

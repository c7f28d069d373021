import { createMemory, defaultProfile } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import type { Message } from "@varve/core"
import { requireData, SCREENSHOT_SEQUENCES, session } from "@varve-examples/session-readers"
import { expect, it } from "vitest"
import { guiAgent } from "../src/index.ts"

it.runIf(requireData("guiAgent on real screens")).each(SCREENSHOT_SEQUENCES)(
  "takes %s down request by request: valid, within its limits, smaller",
  async (name) => {
    const { messages: all, requests } = session(name)
    const memory = createMemory({
      ...guiAgent({ thumbnails: 2 }),
      profile: { ...defaultProfile, limits: { images: 12, requestBytes: 2_000_000 } },
      budget: { tokens: 30_000 }
    })
    const sum = { before: 0, after: 0 }
    for (const { at } of requests) {
      const history = all.slice(0, at) as ReadonlyArray<Message>
      const { messages, report } = await memory.prepare(history)
      await memory.flush()
      expect(checkValidity(messages)).toEqual([])
      expect(report.over).toEqual([])
      sum.before += report.before.tokens
      sum.after += report.after.tokens
    }
    expect(sum.after).toBeLessThan(sum.before)
    await memory.close()
  }
)

it("two memories from one preset share nothing", async () => {
  const preset = guiAgent({ thumbnails: 0 })
  const [a, b] = [createMemory(preset), createMemory(preset)]
  a.steps.begin({ id: "s1", goal: "mine alone" })
  await a.prepare([{ role: "user", content: "task" }])
  await b.prepare([{ role: "user", content: "task" }])
  expect(a.compose()).toContain("mine alone")
  expect(b.compose()).toBe("")
})

it("refuses wrong options with their path", () => {
  expect(() => guiAgent({ keep: -1 })).toThrow(/guiAgent\.keep/)
  expect(() => guiAgent({ keeps: 1 } as never)).toThrow(/guiAgent\.keeps/)
})

import { createMemory, defaultProfile } from "@varve/core"
import { expect, it } from "vitest"
import { anthropicMessages } from "../src/index.ts"

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

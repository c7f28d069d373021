import { Agent } from "@mariozechner/pi-agent-core"
import type { AgentTool } from "@mariozechner/pi-agent-core"
import {
  fauxAssistantMessage,
  fauxText,
  fauxToolCall,
  registerFauxProvider,
  Type
} from "@mariozechner/pi-ai"
import type { Context } from "@mariozechner/pi-ai"
import { Commit, createMemory, hardLimit } from "@varve/core"
import type { PlainMemory } from "@varve/core"
import { readImageSize } from "@varve/core/ImageSize"
import { describe, expect, it } from "vitest"
import { screenshots } from "../src/index.ts"
import { screen } from "./pictures.ts"

const STEPS = 9

const frames = await Promise.all(Array.from({ length: STEPS }, (_, i) => screen(640, 400, i)))

const provider = registerFauxProvider({ api: "faux-screens", provider: "faux-screens" })

/** Runs pi's own loop: one prompt, a screenshot a step. Gives what the model received at each request. */
const run = async (memory: PlainMemory): Promise<ReadonlyArray<Context["messages"]>> => {
  let taken = 0
  const look: AgentTool = {
    name: "look",
    label: "look",
    description: "Looks at the screen.",
    parameters: Type.Object({}),
    execute: () =>
      Promise.resolve({
        content: [
          { type: "text", text: `screen ${taken}` },
          { type: "image", data: frames[taken++]!, mimeType: "image/png" }
        ],
        details: {}
      })
  }
  const received: Array<Context["messages"]> = []
  const agent = new Agent({
    initialState: {
      systemPrompt: "You look at screens.",
      model: provider.getModel(),
      tools: [look]
    },
    transformContext: memory.transformContext
  })
  const answer = (n: number) => (context: Context) => {
    received.push(structuredClone(context.messages))
    return n < STEPS
      ? fauxAssistantMessage([fauxToolCall("look", {}, { id: `call_${n}` })], {
          stopReason: "toolUse"
        })
      : fauxAssistantMessage([fauxText("Done.")], { stopReason: "stop" })
  }
  provider.setResponses(Array.from({ length: STEPS + 1 }, (_, n) => answer(n)))
  await agent.prompt("Look at every screen.")
  expect(agent.state.errorMessage).toBeUndefined()
  // The host's own history stays whole.
  const own = agent.state.messages.flatMap((m) => (m.role === "toolResult" ? m.content : []))
  expect(own.filter(({ type }) => type === "image")).toHaveLength(STEPS)
  return received
}

const kinds = (messages: Context["messages"]): string =>
  messages
    .flatMap((m) => (m.role === "toolResult" ? [m.content] : []))
    .map((content) => {
      const shown = content.find(({ type }) => type === "image")
      if (shown?.type !== "image") return "c"
      return readImageSize(shown.data)?.format === "webp" ? "t" : "F"
    })
    .join("")

describe("in pi's agent loop", () => {
  it("what the model receives has full images, thumbnails and cards, with the text beside them", async () => {
    const memory = createMemory({
      pipeline: [screenshots({ keep: 2, thumbnails: { count: 2, edge: 128 } }), hardLimit()],
      commit: Commit.immediate
    })
    const received = await run(memory)
    expect(received.map(kinds)).toEqual([
      "",
      "F",
      "FF",
      "tFF",
      "ttFF",
      "cttFF",
      "ccttFF",
      "cccttFF",
      "ccccttFF",
      "cccccttFF"
    ])
    const results = received.at(-1)!.flatMap((m) => (m.role === "toolResult" ? [m] : []))
    results.forEach((m, i) => expect(m.content[0]).toEqual({ type: "text", text: `screen ${i}` }))
    expect(results[0]?.content[1]).toMatchObject({
      text: expect.stringMatching(/^\[image 640x400; an older screenshot; recall \S+\]$/)
    })
    expect(results[5]?.content[2]).toMatchObject({
      text: expect.stringMatching(/^\[scaled from 640x400 to 128x80 px, scale 0.2; recall \S+\]$/)
    })
    await memory.close()
  })

  it("in batches the requests share their prefix but for one change a batch", async () => {
    const memory = createMemory({
      pipeline: [screenshots({ keep: 2, thumbnails: { count: 2, edge: 128 } }), hardLimit()],
      commit: Commit.batched({ size: 3 })
    })
    const received = await run(memory)
    const changes = received.filter((messages, i) => {
      const before = received[i - 1] ?? []
      return JSON.stringify(messages.slice(0, before.length)) !== JSON.stringify(before)
    })
    expect(changes).toHaveLength(2)
    expect(kinds(received.at(-1)!)).toBe("ccccttFFF")
    await memory.close()
  })
})

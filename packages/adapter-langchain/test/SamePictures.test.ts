import { createMemory } from "@varve/core"
import type { Message } from "@varve/core/Message"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { imageOf, visitBlocks } from "@varve/core/Message"
import { pngBase64 } from "@varve/testkit/Png"
import { expect, it } from "vitest"
import { memoryMiddleware } from "../src/MemoryMiddleware.ts"
import { agentOf, call, picture, pictures } from "./host.ts"

const shots = Array.from({ length: 12 }, (_, n) => pngBase64(1280, 720, n + 1, 20_000))
const system = "You look around."
const task = "Look around."

const memory = () => createMemory({ pipeline: [screenshots({ keep: 2 })] })

const inMessage = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const message of messages)
    visitBlocks(message, (block) => {
      const data = imageOf(block)?.data
      if (data !== undefined) found.push(data)
    })
  return found
}

it("one session of twelve screenshots is pruned to the same pictures as in pi's shape, request by request", async () => {
  let shot = 0
  const host = agentOf({
    system,
    middleware: [memoryMiddleware(memory())],
    tools: [{ name: "click", execute: () => [picture(shots[shot++]!)] }],
    answer: (_, n) => (n < shots.length ? call(n) : { text: "Done." })
  })
  await host.run(task)
  const here = host.requests().map(pictures)

  const pi = memory()
  const history: Array<Message> = [{ role: "user", content: task }]
  const there: Array<ReadonlyArray<string>> = []
  for (let n = 0; n <= shots.length; n++) {
    const { messages } = await pi.prepare(history.slice(), { system, tools: host.declared })
    there.push(inMessage(messages))
    const id = `call-${n}-0`
    const data = shots[n]!
    history.push(
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name: "click", arguments: { n } }]
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: "click",
        content: [{ type: "image", data, mimeType: "image/png" }],
        isError: false
      }
    )
  }
  expect(here).toEqual(there)
  expect(here.at(-1)!.slice(-2)).toEqual(shots.slice(-2))
  expect(here.at(-1)!.length).toBeLessThan(6)
})

import { estimateCounter, type Message } from "@varve/core"
import type { Trace } from "@varve/simulator"
import type { Input } from "./Inputs.ts"

/** The head of a PNG: its signature, and its size in px. */
const pngHead = (width: number, height: number): Buffer => {
  const head = Buffer.alloc(33)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(head)
  head.writeUInt32BE(13, 8)
  head.write("IHDR", 12, "ascii")
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.set([8, 2], 24)
  return head
}

/** Base64 of something that says of itself that it is a screenshot; told apart from the others by its end. */
const picture = (i: number, bytes: number): string => {
  const body = Buffer.alloc(bytes)
  pngHead(2560, 1440).copy(body)
  body.writeUInt32BE(i, bytes - 4)
  return body.toString("base64")
}

/** A text of so many characters that says which step it is of. */
const textOf = (label: string, length: number): string =>
  `${label} `.padEnd(length, "and then the next field of the form is filled in ")

/** A GUI agent's history whose screenshots have the size and the weight of real ones; 50 pictures take turns. */
const historyOf = (steps: number, bytes: number): ReadonlyArray<Message> => {
  const pictures = Array.from({ length: Math.min(50, steps) }, (_, i) => picture(i, bytes))
  const messages: Array<Message> = [{ role: "user", content: textOf("task", 800) }]
  for (let i = 0; i < steps; i++) {
    const [id, name] = [`c${i}`, "click"]
    messages.push(
      {
        role: "assistant",
        content: [
          { type: "text", text: textOf(`thought ${i}`, 600) },
          { type: "toolCall", id, name, arguments: { x: i % 1280, y: (7 * i) % 720 } }
        ]
      },
      {
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        isError: false,
        content: [
          { type: "text", text: textOf(`result ${i}`, 480) },
          { type: "image", data: pictures[i % pictures.length]!, mimeType: "image/png" }
        ]
      }
    )
  }
  return messages
}

/** Such a run: a request a step, or, of a long one, so many of its requests. */
export const screens = (steps: number, bytes = 100_000, most = Infinity): Input => {
  const all = historyOf(steps, bytes)
  const every = Math.max(1, Math.ceil(steps / most))
  const trace: Trace = {
    name: `screens ${steps}`,
    overhead: 6000,
    requests: Array.from({ length: steps + 1 }, (_, i) => i)
      .filter((i) => i % every === 0 || i === steps)
      .map((i) => ({ history: all.slice(0, 1 + 2 * i), at: 7000 * i, output: 160 }))
  }
  return { name: trace.name, trace, counter: estimateCounter(), steps: 3, at: 60_000 }
}

import { estimateCounter, type Message } from "@varve/core"
import { guiRun, type Trace } from "@varve/simulator"
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

/** A GUI run whose screenshots have the size and the weight of real ones; 50 pictures take turns. */
export const screens = (steps: number, bytes = 100_000): Input => {
  const pictures = Array.from({ length: Math.min(50, steps) }, (_, i) => picture(i, bytes))
  let seen = 0
  const real = (message: Message): Message => {
    if (message.role !== "toolResult" || typeof message.content === "string") return message
    const data = pictures[seen++ % pictures.length]!
    return {
      ...message,
      content: message.content.map((block) => (block.type === "image" ? { ...block, data } : block))
    }
  }
  const made = guiRun({ steps: steps + 1 })
  const all = made.requests.at(-1)!.history.map(real)
  const trace: Trace = {
    ...made,
    requests: made.requests.map((r) => ({ ...r, history: all.slice(0, r.history.length) }))
  }
  const counter = estimateCounter()
  return { name: `screens, ${steps} steps`, trace, counter, steps: 3, at: 60_000 }
}

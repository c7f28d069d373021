import { createHash } from "node:crypto"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { AgentMessage } from "@mariozechner/pi-agent-core"

/** Steps lie on a fixed grid, so that two recordings differ in what was rendered alone. */
const start = Date.UTC(2026, 2, 2, 9)
const stepMs = 7_000
const maxBytes = 8_000_000

export interface Totals {
  readonly requests: number
  readonly calls: number
  readonly errors: number
  readonly batches: number
  readonly images: number
  readonly files: number
  readonly bytes: number
}

interface Header {
  readonly provider: string
  readonly modelId: string
  readonly system: string
  readonly tools: ReadonlyArray<unknown>
}

/** Writes `folder`/session.jsonl and `folder`/images, in the form that `folder`/README.md tells. */
export const writeRecording = (
  folder: string,
  messages: ReadonlyArray<AgentMessage>,
  { provider, modelId, system, tools }: Header
): Totals => {
  const files = new Map<string, { name: string; bytes: Buffer }>()
  let images = 0
  const store = (block: { type: string; data?: string; mimeType?: string }) => {
    if (block.type !== "image" || block.data === undefined) return block
    images++
    const bytes = Buffer.from(block.data, "base64")
    const hash = createHash("sha256").update(bytes).digest("hex")
    const file = files.get(hash) ?? {
      name: `images/${String(files.size + 1).padStart(3, "0")}.png`,
      bytes
    }
    files.set(hash, file)
    return { type: "image", file: file.name, mimeType: block.mimeType }
  }

  const at = (ms: number) => new Date(ms).toISOString()
  const lines: Array<unknown> = [
    {
      type: "session",
      id: "quayside-monday-round",
      timestamp: at(start),
      cwd: ".",
      provider,
      modelId,
      thinkingLevel: "low"
    },
    { type: "custom", timestamp: at(start), customType: "request", data: { system, tools } }
  ]
  let step = 0
  let after = 0
  let calls = 0
  let errors = 0
  let batches = 0
  for (const message of messages) {
    if (message.role === "toolResult") {
      after += 1_000
      if (message.isError) errors++
    } else {
      step++
      after = 0
    }
    if (message.role === "assistant") {
      const made = message.content.filter(({ type }) => type === "toolCall").length
      calls += made
      if (made > 1) batches++
    }
    const timestamp = start + step * stepMs + after
    const content =
      typeof message.content === "string" ? message.content : message.content.map(store)
    lines.push({
      type: "message",
      timestamp: at(timestamp),
      message: { ...message, content, timestamp }
    })
  }

  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes.length, text.length)
  if (bytes > maxBytes)
    throw new Error(
      `The recording has ${bytes} bytes, ${maxBytes} are allowed; nothing was written.`
    )
  rmSync(join(folder, "images"), { recursive: true, force: true })
  mkdirSync(join(folder, "images"), { recursive: true })
  for (const file of files.values()) writeFileSync(join(folder, file.name), file.bytes)
  writeFileSync(join(folder, "session.jsonl"), text)
  const requests = messages.filter(({ role }) => role === "assistant").length
  return { requests, calls, errors, batches, images, files: files.size, bytes }
}

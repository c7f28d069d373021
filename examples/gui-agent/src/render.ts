import type { Report } from "@varve/core"
import type { Explanation } from "@varve/core/Report"

interface Out {
  readonly write: (text: string) => unknown
  readonly isTTY?: boolean
}

/** Where the demo's lines go. */
export interface Render {
  /** One line for a request. */
  readonly request: (report: Report, messages: ReadonlyArray<unknown>) => void
  /** The totals, and what the last request looked like. */
  readonly end: (edits: ReadonlyArray<Explanation>) => void
}

const thousands = (n: number): string =>
  n < 10_000 ? String(n) : n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1e6).toFixed(2)}M`

const pad = (text: string | number, width: number): string => String(text).padStart(width)

const arrow = (before: number, after: number, width: number): string =>
  pad(`${thousands(before)} > ${thousands(after)}`, width)

const shorten = (text: string, length: number): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

const describe = (message: unknown): string => {
  const { role, content } = message as { role: string; content: unknown }
  const blocks: ReadonlyArray<Record<string, unknown>> =
    typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as [])
  const parts = blocks.map((block) => {
    if (block["type"] === "text") return shorten(String(block["text"]), 110)
    if (block["type"] === "image")
      return `<image, ${thousands(String(block["data"]).length)} bytes>`
    if (block["type"] === "toolCall")
      return `${String(block["name"])}(${shorten(JSON.stringify(block["arguments"]), 60)})`
    return `<${String(block["type"])}>`
  })
  return `${role.padEnd(10)} ${parts.join(" | ")}`
}

/** Writes the demo's table to a stream. */
export const render = (out: Out, file: string, requests: number): Render => {
  const line = (text = ""): unknown => out.write(`${text}\n`)
  line(`Replaying ${file.split("/").slice(-3).join("/")}: ${requests} requests.`)
  line("Each line is one model request: the whole history > what is sent in its place.")
  line()
  line("  tokens  as core estimates them, with system text and tools")
  line("  bytes   of the request, images among them")
  line("  edits   that came into force in this request, with the reason")
  line(
    "  kept    of the request before, the share at the front that is unchanged: what a cache reads"
  )
  line()
  const head = ["req", "messages", "tokens", "images", "bytes", "edits", "kept"]
  const widths = [4, 12, 16, 10, 17, 6, 6]
  line(head.map((h, i) => pad(h, widths[i]!)).join(" "))
  let n = 0
  let breaks = 0
  const sum = { before: 0, after: 0, bytesBefore: 0, bytesAfter: 0, images: 0, imagesAfter: 0 }
  let last: { report: Report; messages: ReadonlyArray<unknown> } | undefined
  return {
    request: (report, messages) => {
      n++
      const { before, after, kept, commit, guarded } = report
      const edits = commit.committed + guarded
      if (n > 1 && kept.share < 0.98) breaks++
      sum.before += before.tokens
      sum.after += after.tokens
      sum.bytesBefore += before.requestBytes
      sum.bytesAfter += after.requestBytes
      sum.images += before.images
      sum.imagesAfter += after.images
      last = { report, messages }
      const note = guarded > 0 ? " guard" : edits > 0 ? ` ${shorten(commit.reason, 60)}` : ""
      line(
        [
          pad(n, 4),
          arrow(before.messages, after.messages, 12),
          arrow(before.tokens, after.tokens, 16),
          arrow(before.images, after.images, 10),
          arrow(before.requestBytes, after.requestBytes, 17),
          pad(edits === 0 ? "" : edits, 6),
          pad(n === 1 ? "" : `${Math.floor(kept.share * 100)} %`, 6)
        ].join(" ") + note
      )
    },
    end: (edits) => {
      if (last === undefined)
        return void line("Nothing to replay: the file holds no model request.")
      const less = (before: number, after: number) =>
        `${Math.round((1 - after / before) * 100)} % less`
      line()
      line("In all requests together:")
      line(`  tokens  ${arrow(sum.before, sum.after, 0)}  (${less(sum.before, sum.after)})`)
      line(
        `  bytes   ${arrow(sum.bytesBefore, sum.bytesAfter, 0)}  (${less(sum.bytesBefore, sum.bytesAfter)})`
      )
      if (sum.images > 0)
        line(
          `  images  ${arrow(sum.images, sum.imagesAfter, 0)}  (${less(sum.images, sum.imagesAfter)})`
        )
      line(
        `  edits in force ${edits.filter((e) => e.state === "in force").length}; the prefix changed ${breaks} times in ${n} requests`
      )
      line()
      const { messages } = last
      line(`Sent at the last request (${messages.length} messages):`)
      const shown =
        messages.length > 24
          ? [...messages.slice(0, 12), undefined, ...messages.slice(-11)]
          : messages
      for (const message of shown) line(message === undefined ? "  …" : `  ${describe(message)}`)
    }
  }
}

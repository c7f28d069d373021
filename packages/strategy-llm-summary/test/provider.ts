import { createServer } from "node:http"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** What a provider was sent. */
interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  /** True once the client has let go of it. */
  readonly closed: () => boolean
}

/** How the provider answers one request. */
export type Reply =
  | {
      readonly kind: "text"
      readonly pieces: ReadonlyArray<string>
      readonly end?: "stop" | "length"
    }
  /** An answer whose connection breaks behind its first pieces. */
  | { readonly kind: "broken"; readonly pieces: ReadonlyArray<string> }
  /** One whose stream comes to a clean end without a word that it is one. */
  | { readonly kind: "unfinished"; readonly pieces: ReadonlyArray<string> }
  | { readonly kind: "status"; readonly status: number; readonly body: unknown }
  | { readonly kind: "silence" }

const usage = { prompt: 321, completion: 12 }

const openai = (response: ServerResponse, reply: Extract<Reply, { pieces: unknown }>): void => {
  const send = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`)
  const chunk = (delta: object, finish_reason: string | null = null) =>
    send({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "small",
      choices: [{ index: 0, delta, finish_reason }]
    })
  chunk({ role: "assistant", content: "" })
  for (const content of reply.pieces) chunk({ content })
  if (reply.kind !== "text") return
  chunk({}, reply.end ?? "stop")
  send({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "small",
    choices: [],
    usage: {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion
    }
  })
  response.write("data: [DONE]\n\n")
}

const anthropic = (response: ServerResponse, reply: Extract<Reply, { pieces: unknown }>): void => {
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  send("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "small",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usage.prompt, output_tokens: 1 }
    }
  })
  reply.pieces.forEach((text, index) => {
    send("content_block_start", { index, content_block: { type: "text", text: "" } })
    send("content_block_delta", { index, delta: { type: "text_delta", text } })
    if (reply.kind === "text") send("content_block_stop", { index })
  })
  if (reply.kind !== "text") return
  const stop_reason = reply.end === "length" ? "max_tokens" : "end_turn"
  send("message_delta", {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: usage.completion }
  })
  send("message_stop", {})
}

/** Longest life of a provider, in ms, whatever a test forgets. */
const LIFE = 60_000

/**
 * A provider on 127.0.0.1 that speaks OpenAI's and Anthropic's streaming protocols, with one reply a request;
 * the last one holds for all that follow. Closes itself at the end of its scope, else after a minute.
 */
export const startProvider = async (...replies: ReadonlyArray<Reply>) => {
  const received: Array<Received> = []
  const server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8")
    request.on("data", (data: string) => (text += data))
    request.on("end", () => {
      const path = request.url ?? ""
      const reply = replies[Math.min(received.length, replies.length - 1)]!
      let closed = false
      response.on("close", () => (closed = true))
      received.push({
        path,
        headers: request.headers,
        body: JSON.parse(text) as Record<string, unknown>,
        closed: () => closed
      })
      if (reply.kind === "silence") return
      if (reply.kind === "status") {
        response.writeHead(reply.status, { "content-type": "application/json" })
        response.end(JSON.stringify(reply.body))
        return
      }
      response.writeHead(200, { "content-type": "text/event-stream" })
      const speak = path.includes("/messages") ? anthropic : openai
      speak(response, reply)
      // What was written goes out before the connection breaks.
      if (reply.kind === "broken") setImmediate(() => response.destroy())
      else response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () => {
    clearTimeout(life)
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  const life = setTimeout(() => void close(), LIFE)
  life.unref()
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received, close }
}

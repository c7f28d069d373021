/** A server on this machine that speaks Anthropic's Messages: it refuses what the provider would, keeps each request and reads a cache. */
import type { MessageCreateParamsNonStreaming, MessageParam } from "@anthropic-ai/sdk/resources"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export type Body = MessageCreateParamsNonStreaming

/** What the model says: a text, or a call. */
export type Answer = string | { readonly name: string; readonly input: object }

export interface ServerOptions {
  readonly answer: (body: Body, n: number) => Answer
  /** Most tokens that it takes, at four characters a token; default: any number. */
  readonly limit?: number
}

interface Marked {
  readonly cache_control?: unknown
}

export interface Usage {
  readonly input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly output_tokens: number
}

type Part = Marked & { readonly type: string; readonly id?: string; readonly tool_use_id?: string }

export const partsOf = ({ content }: MessageParam): ReadonlyArray<Part> =>
  typeof content === "string" ? [{ type: "text" }] : (content as ReadonlyArray<Part>)

/** All that a request holds, in the provider's order; a text is the block that it stands for. */
const blocksOf = ({ messages, system = [], tools = [] }: Body): ReadonlyArray<Marked> => [
  ...(tools as ReadonlyArray<Marked>),
  ...listOf(system),
  ...messages.flatMap(({ content, role }) => [{ role } as Marked, ...listOf(content)])
]

const listOf = (content: string | ReadonlyArray<object>): ReadonlyArray<Marked> =>
  typeof content === "string" ? [{ type: "text", text: content } as Marked] : content

const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4)

/** What is wrong with a request, as the provider would see it; nothing for a sound one. */
export const refusal = (body: Body, limit = Infinity): string | undefined => {
  const { messages } = body
  if (messages[0]?.role !== "user") return "messages: first message must use the user role"
  let open: ReadonlyArray<string | undefined> = []
  for (const [i, message] of messages.entries()) {
    const parts = partsOf(message)
    if (parts.length === 0) return `messages.${i}: content must not be empty`
    const results = parts.flatMap((p) => (p.type === "tool_result" ? [p.tool_use_id] : []))
    const missing = open.filter((id) => !results.includes(id))
    if (missing.length > 0) return `messages.${i}: no tool_result for ${missing.join()}`
    if (results.some((id) => !open.includes(id))) return `messages.${i}: unexpected tool_result`
    open = parts.flatMap((p) => (p.type === "tool_use" ? [p.id] : []))
  }
  const marks = blocksOf(body).filter((block) => block.cache_control != null).length
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`
  const tokens = tokensOf(blocksOf(body))
  if (tokens > limit) return `prompt is too long: ${tokens} tokens > ${limit} maximum`
  return undefined
}

/** Reads and writes a cache as marks say: up to each mark, a request's blocks are one entry. */
const makeCache = () => {
  const known = new Set<string>()
  return (body: Body) => {
    const hash = createHash("sha256")
    let [tokens, read, written] = [0, 0, 0]
    for (const block of blocksOf(body)) {
      const { cache_control: mark, ...plain } = block
      tokens += tokensOf(plain)
      const key = hash.update(JSON.stringify(plain)).copy().digest("hex")
      if (known.has(key)) read = tokens
      if (mark == null) continue
      known.add(key)
      written = tokens
    }
    return {
      input_tokens: tokens - Math.max(read, written),
      cache_read_input_tokens: read,
      cache_creation_input_tokens: Math.max(0, written - read)
    }
  }
}

/** Starts the server on a free port of the loopback address. */
export const startServer = async ({ answer, limit }: ServerOptions) => {
  const requests: Array<Body> = []
  const usages: Array<Usage> = []
  const refused: Array<string> = []
  const read = makeCache()
  const respond = (body: Body): readonly [status: number, body: object] => {
    const message = refusal(body, limit)
    if (message !== undefined) {
      refused.push(message)
      return [400, { type: "error", error: { type: "invalid_request_error", message } }]
    }
    const n = requests.push(body)
    const said = answer(body, n - 1)
    const content =
      typeof said === "string"
        ? { type: "text", text: said }
        : { type: "tool_use", id: `toolu_${n}`, ...said }
    const usage = { ...read(body), output_tokens: tokensOf(content) }
    usages.push(usage)
    const stop = typeof said === "string" ? "end_turn" : "tool_use"
    const { model } = body
    return [
      200,
      {
        id: `msg_${n}`,
        type: "message",
        role: "assistant",
        model,
        content: [content],
        stop_reason: stop,
        stop_sequence: null,
        usage
      }
    ]
  }
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) text += chunk as string
    const isMessages = request.method === "POST" && request.url === "/v1/messages"
    const [status, body] = isMessages ? respond(JSON.parse(text) as Body) : ([404, {}] as const)
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, requests, usages, refused, stop }
}

import type { Limits } from "@varve/core/Budget"
import type { Counter, Overhead } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { contentOf, isRecord } from "./internal/origins.ts"

/** An image as it stands in a request. */
interface Shown {
  /** Bytes of base64. */
  readonly bytes: number
  /** Its longest edge in px; 0 where that can't be told. */
  readonly edge: number
}

/** What a request costs, counted from nothing: no cache, no index. */
export interface Measure {
  readonly tokens: number
  readonly images: number
  readonly imageBytes: number
  readonly largestImage: number
  readonly largestEdge: number
  readonly mostImagesInMessage: number
  /** Bytes of the messages, the system text and the tools as JSON. */
  readonly requestBytes: number
  readonly messages: number
}

const edgeOf = (base64: string): number => {
  const head = Buffer.from(base64.slice(0, 32), "base64")
  return head.length >= 24 && head.readUInt32BE(0) === 0x89504e47
    ? Math.max(head.readUInt32BE(16), head.readUInt32BE(20))
    : 0
}

const imagesIn = (blocks: ReadonlyArray<unknown>): ReadonlyArray<Shown> =>
  blocks.flatMap((block): ReadonlyArray<Shown> => {
    if (!isRecord(block)) return []
    const { type, data, content } = block as { type?: unknown; data?: unknown; content?: unknown }
    if (type === "image" && typeof data === "string")
      return [{ bytes: data.length, edge: edgeOf(data) }]
    if (type === "image_url" || type === "input_image") return [{ bytes: 0, edge: 0 }]
    return Array.isArray(content) ? imagesIn(content) : []
  })

const bytesOf = (value: unknown): number => {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? "")
  } catch {
    return 0
  }
}

/** What a provider gets of a message: what a host keeps beside its content is the host's. */
const asSent = (message: Message): unknown => {
  if (!isRecord(message) || message["content"] === undefined) return message
  const { role, content, toolCallId, toolName } = message as Record<string, unknown>
  return { role, content, toolCallId, toolName }
}

/**
 * Measures a request.
 *
 * @example
 * ```ts
 * import { estimateCounter } from "@varve/core/Counter"
 * import { measure } from "@varve/testkit/Measure"
 *
 * console.log(measure([{ role: "user", content: "hi" }], estimateCounter()).messages) // => 1
 * ```
 */
export const measure = (
  messages: ReadonlyArray<Message>,
  counter: Counter,
  overhead: Overhead = {}
): Measure => {
  const perMessage = messages.map((m) => imagesIn(contentOf(m)))
  const images = perMessage.flat()
  return {
    tokens: counter.request({ ...overhead, messages: messages.filter(isRecord) }).tokens,
    images: images.length,
    imageBytes: images.reduce((sum, i) => sum + i.bytes, 0),
    largestImage: Math.max(0, ...images.map((i) => i.bytes)),
    largestEdge: Math.max(0, ...images.map((i) => i.edge)),
    mostImagesInMessage: Math.max(0, ...perMessage.map((i) => i.length)),
    // The dear one: only where it is asked for.
    get requestBytes() {
      return bytesOf(messages.map(asSent)) + bytesOf(overhead.system) + bytesOf(overhead.tools)
    },
    messages: messages.length
  }
}

/** Which limits a measure is over, as texts; empty where all fits. */
export const overLimits = (m: Measure, limits: Partial<Limits>): ReadonlyArray<string> => {
  const over: Array<string> = []
  const check = (what: string, value: number, limit: number | undefined) => {
    if (limit !== undefined && value > limit) over.push(`${what}: ${value}, the limit is ${limit}`)
  }
  check("tokens", m.tokens, limits.tokens)
  check("images", m.images, limits.images)
  check("image bytes", m.imageBytes, limits.imageBytes)
  check("bytes of one image", m.largestImage, limits.bytesPerImage)
  check("images in one message", m.mostImagesInMessage, limits.imagesPerMessage)
  if (Number.isFinite(limits.requestBytes ?? Infinity))
    check("request bytes", m.requestBytes, limits.requestBytes)
  check("longest edge", m.largestEdge, limits.maxEdge)
  check("messages", m.messages, limits.messages)
  const many = limits.manyImages
  if (many !== undefined && m.images > many.over)
    check("edge among many images", m.largestEdge, many.maxEdge)
  return over
}

import type { Block, Message } from "@varve/core/Message"
import { blocksOf } from "@varve/core/Message"
import { changes, written } from "./changes.ts"
import type { NameOf, Read, Segment } from "./Shape.ts"
import { placeOf } from "./Shape.ts"
import type { LinkOf } from "./together.ts"
import { paired } from "./together.ts"
import type { Loose } from "./values.ts"
import { isRecord, resultMessage, sameItems, textBlock } from "./values.ts"

/** The result of a call, read from a part. */
export interface PartResult {
  readonly id: unknown
  readonly name: unknown
  readonly content: string | ReadonlyArray<unknown>
  /** What the host has in the place of each block of `content`. */
  readonly from: ReadonlyArray<unknown>
  readonly isError: boolean
}

/** Shapes whose messages have parts, results of calls among them (Anthropic, AI SDK). */
export interface PartShape {
  /** The part as a block of a message; the part itself where it is one. */
  readonly blockOf: (part: Loose) => Block
  /** What a part says as the result of a call, where it is one. */
  readonly resultOf: (part: Loose) => PartResult | undefined
  /** True for a part that belongs to what the assistant said, although it stands in another role. */
  readonly rides: (part: Loose) => boolean
  /** A new block in the host's shape, in the place of a part whose cache mark it may carry. */
  readonly partOf: (block: Block, like: unknown, carriesMark: boolean) => unknown
  /** A result with other content. */
  readonly withContent: (
    part: Loose,
    content: string | ReadonlyArray<unknown>,
    edited: boolean
  ) => Loose
  readonly linkOf: LinkOf
  readonly isReasoning: (part: Loose) => boolean
  /** Makes an edited message one that the provider takes. */
  readonly settle?: (now: Loose, before: Loose) => Loose
}

/** The messages of hosts that are read together: what was said, then the results, then what stood beside them. */
export const readParts = (
  shape: PartShape,
  host: ReadonlyArray<Loose>,
  names: NameOf
): Array<Read> => {
  const [first] = host
  if (first === undefined) return []
  const id = typeof first.id === "string" ? { id: first.id } : {}
  if (host.length === 1 && !Array.isArray(first.content)) {
    const { content, role } = first
    return [{ message: { role, content, ...id } as unknown as Message, from: [first] }]
  }
  const said = new Said()
  const rest = new Said()
  const results: Array<Read> = []
  for (const message of host) {
    const { content, role } = message
    const to = role === "assistant" ? said : rest
    to.role ??= role
    if (typeof content === "string") to.add(textBlock(content), message)
    for (const part of Array.isArray(content) ? (content as ReadonlyArray<unknown>) : []) {
      if (!isRecord(part)) {
        to.add(part as Block, part)
        continue
      }
      const result = role === "assistant" ? undefined : shape.resultOf(part)
      if (result !== undefined) {
        const name =
          typeof result.name === "string"
            ? result.name
            : (said.nameOf(result.id) ?? names(String(result.id)) ?? "unknown")
        const read = resultMessage(result.id, name, result.content, result.isError)
        results.push({ message: { ...read, ...id }, from: result.from, part })
      } else if (said.role !== undefined && shape.rides(part)) said.add(shape.blockOf(part), part)
      else to.add(shape.blockOf(part), part)
    }
  }
  const alone = results.length === 0 && said.role === undefined
  return [
    ...(said.role === undefined ? [] : [said.read(id)]),
    ...results,
    ...(alone || rest.blocks.length > 0 ? [rest.read(id)] : [])
  ]
}

/** Blocks of one message while it is read. */
class Said {
  role: unknown
  readonly blocks: Array<Block> = []
  readonly #from: Array<unknown> = []

  add(block: Block, from: unknown): void {
    this.blocks.push(block)
    this.#from.push(from)
  }

  nameOf(id: unknown): string | undefined {
    const call = this.blocks.find((b) => b?.type === "toolCall" && b.id === id)
    return (call as { readonly name?: string } | undefined)?.name
  }

  read(id: object): Read {
    const message = { role: this.role, content: this.blocks, ...id } as unknown as Message
    return { message, from: this.#from }
  }
}

/** The host's messages of a segment with what is left of it. */
export const writeParts = (
  shape: PartShape,
  segment: Segment,
  messages: ReadonlyArray<Message>
): ReadonlyArray<Loose> => {
  const now = partsNow(shape, segment, messages)
  const left = segment.host.map((message) => messageNow(message, now))
  return paired(left, segment.host, shape.linkOf).flatMap((message, i): ReadonlyArray<Loose> => {
    const before = segment.host[i]!
    if (message === before) return [before]
    const settled = shape.settle?.(message, before) ?? message
    return saysNothing(shape, settled) ? [] : [settled]
  })
}

/** True for an edited message that is empty, or reasoning alone. */
const saysNothing = (shape: PartShape, { content }: Loose): boolean =>
  Array.isArray(content) &&
  (content as ReadonlyArray<unknown>).every((part) => isRecord(part) && shape.isReasoning(part))

const messageNow = (message: Loose, now: ReadonlyMap<unknown, ReadonlyArray<unknown>>): Loose => {
  const { content } = message
  if (!Array.isArray(content)) {
    const parts = now.get(message) ?? []
    return parts[0] === message ? message : { ...message, content: plain(parts) }
  }
  const left = (content as ReadonlyArray<unknown>).flatMap((part) => now.get(part) ?? [])
  return sameItems(left, content) && left.length > 0 ? message : { ...message, content: left }
}

/** One text stays one text. */
const plain = (parts: ReadonlyArray<unknown>): unknown => {
  const [part] = parts
  return parts.length === 1 && isRecord(part) && part.type === "text" ? part.text : parts
}

/** What stands in the place of each of the host's parts; nothing for those that have left. */
const partsNow = (
  shape: PartShape,
  segment: Segment,
  messages: ReadonlyArray<Message>
): Map<unknown, ReadonlyArray<unknown>> => {
  const now = new Map<unknown, ReadonlyArray<unknown>>()
  for (const message of messages) {
    const { index } = placeOf(message)!
    const { from, part } = segment.reads[index]!
    const before = segment.messages[index]!
    if (part !== undefined)
      now.set(part, [
        message === before ? part : resultNow(shape, part as Loose, before, message, from)
      ])
    else rewritten(shape, before, message, from).forEach((parts, i) => now.set(from[i], parts))
  }
  return now
}

const resultNow = (
  shape: PartShape,
  part: Loose,
  before: Message,
  after: Message,
  from: ReadonlyArray<unknown>
): Loose => {
  if (typeof after.content === "string")
    return shape.withContent(part, after.content, after.content !== before.content)
  const parts = rewritten(shape, before, after, from).flat()
  return shape.withContent(part, parts, true)
}

/** For each block of a message what is written in its place. */
const rewritten = (
  shape: PartShape,
  before: Message,
  after: Message,
  from: ReadonlyArray<unknown>
): ReadonlyArray<ReadonlyArray<unknown>> => {
  if (before === after || before.content === after.content) return from.map((part) => [part])
  const was = blocksOf(before)
  const isString = typeof before.content === "string"
  return changes(before, after).map((blocks, i) =>
    written(blocks, isString ? undefined : was[i], from[i], shape.partOf)
  )
}

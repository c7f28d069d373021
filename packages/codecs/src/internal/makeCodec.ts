import type { Block, Message, ToolCallBlock } from "@varve/core/Message"
import { isTail } from "@varve/core/Message"
import type { Prepared } from "@varve/core/Memory"
import type { Codec, CodecOptions, WriteOptions, Written } from "../Codec.ts"
import { lasting } from "./lifetimes.ts"
import type { NameOf, Segment, Shape } from "./Shape.ts"
import { placeOf, segmentOf } from "./Shape.ts"
import type { Loose } from "./values.ts"
import { isRecord, joined } from "./values.ts"

/** What was read of a host's message, and what it looked like then. */
interface Known {
  readonly segment: Segment
  readonly contents: ReadonlyArray<unknown>
  readonly lengths: ReadonlyArray<number>
}

const lengthOf = (content: unknown): number => (Array.isArray(content) ? content.length : 0)

/** True where the list still has the messages of a segment, and the host has not written to them since. */
const stands = (
  { contents, lengths, segment }: Known,
  host: ReadonlyArray<unknown>,
  at: number,
  count: number
): boolean => {
  if (segment.host.length !== count) return false
  for (let k = 0; k < count; k++) {
    const message = segment.host[k]!
    const { content } = message
    if (message !== host[at + k] || content !== contents[k] || lengthOf(content) !== lengths[k])
      return false
  }
  return true
}

/** A codec of a shape. */
export const makeCodec = <H>(shape: Shape): Codec<H> => {
  const known = new WeakMap<object, Known>()
  const composed = new WeakMap<object, ReadonlyArray<Loose>>()

  const segmentAt = (host: ReadonlyArray<unknown>, at: number, names: NameOf): Segment => {
    const first = host[at] as Loose
    const count = shape.extent(host, at)
    const found = known.get(first)
    if (found !== undefined && stands(found, host, at, count)) return found.segment
    const part = host.slice(at, at + count) as ReadonlyArray<Loose>
    const segment = segmentOf(shape.name, part, shape.read(part, names, host, at))
    const contents = part.map(({ content }) => content)
    known.set(first, { segment, contents, lengths: contents.map(lengthOf) })
    return segment
  }

  const read = (host: ReadonlyArray<H>): ReadonlyArray<Message> => {
    const out: Array<Message> = []
    const names = namesIn(out)
    for (let i = 0; i < host.length;) {
      if (!isRecord(host[i])) {
        out.push(host[i++] as Message)
        continue
      }
      const segment = segmentAt(host, i, names)
      for (const message of segment.messages) out.push(message)
      i += segment.host.length
    }
    return out
  }

  const write = <M = H>(
    messages: ReadonlyArray<Message>,
    { automatic, marks = [], reserved = 0 }: WriteOptions = {}
  ): Array<M> => {
    const out: Array<Loose> = []
    /** For each message where what is written of it begins, and ends. */
    const spans: Array<readonly [number, number]> = []
    for (let i = 0; i < messages.length;) {
      const place = placeOf(messages[i])
      if (place === undefined || place.shape !== shape.name) {
        const message = messages[i++] as Message
        if (isRecord(message)) append(out, message)
        else out.push(message as unknown as Loose)
        spans.push([Math.max(0, out.length - 1), out.length])
        continue
      }
      const { segment } = place
      let end = i + 1
      for (let last = place.index; end < messages.length; end++) {
        const next = placeOf(messages[end])
        if (next?.segment !== segment || next.index <= last) break
        last = next.index
      }
      const from = out.length
      const whole =
        end - i === segment.messages.length &&
        segment.messages.every((message, k) => message === messages[i + k])
      for (const host of whole ? segment.host : shape.write(segment, messages.slice(i, end)))
        out.push(host)
      for (; i < end; i++) spans.push([from, out.length])
    }
    const written: Spans = { shape, out, messages, spans, automatic: automatic ?? undefined }
    freeTails(written)
    if (marks.length > 0) mark(written, marks, reserved)
    return (shape.finish?.(out) ?? out) as unknown as Array<M>
  }

  const append = (out: Array<Loose>, message: Message): void => {
    let made = composed.get(message)
    if (made === undefined) composed.set(message, (made = shape.compose(message, out)))
    for (const host of made) {
      if (shape.append === undefined) out.push(host)
      else shape.append(out, host, message)
    }
  }

  /** What is no list goes to the memory as it is, which says what it takes. */
  const readGiven = (host: ReadonlyArray<H>): ReadonlyArray<Message> =>
    Array.isArray(host) ? read(host) : (host as unknown as ReadonlyArray<Message>)

  const optionsOf = ({ dryRun, signal, system, tools }: CodecOptions) => ({
    dryRun,
    signal,
    system: typeof system === "object" ? joined(system) : system,
    tools
  })

  const written = <M>(
    prepared: Pick<Prepared<Message>, "messages" | "report" | "marks">,
    { automatic, marks, system, tools = [] }: CodecOptions
  ): Written<M> => {
    const { messages, report } = prepared
    const beside = [...(typeof system === "object" ? system : []), ...tools]
    const reserved = beside.reduce<number>(
      (sum, item) => sum + (isRecord(item) ? shape.marksOf(item).length : 0),
      0
    )
    const places = marks === true ? prepared.marks : marks?.(messages)
    return { messages: write<M>(messages, { automatic, marks: places, reserved }), report }
  }

  return {
    name: shape.name,
    read,
    write,
    prepare: async (memory, messages, options = {}) =>
      written(await memory.prepare(readGiven(messages), optionsOf(options)), options),
    recover: async (memory, error, messages, options = {}) => {
      const prepared = await memory.recover(error, readGiven(messages), optionsOf(options))
      return prepared === undefined ? undefined : written(prepared, options)
    }
  }
}

/** How far back a call is looked for before all calls are listed. */
const NEAR = 32

const callsOf = (message: Message): ReadonlyArray<ToolCallBlock> =>
  (message as Message | null)?.role === "assistant" && Array.isArray(message.content)
    ? (message.content as ReadonlyArray<Block | null>).filter(
        (block): block is ToolCallBlock => block?.type === "toolCall"
      )
    : []

/** Finds the name of the tool that a call was of: among the last messages, else in all before. */
const namesIn = (messages: ReadonlyArray<Message>): NameOf => {
  let upTo = 0
  const names = new Map<string, string>()
  return (callId) => {
    for (let i = messages.length - 1; i >= 0 && i >= messages.length - NEAR; i--) {
      const call = callsOf(messages[i]!).find(({ id }) => id === callId)
      if (call !== undefined) return call.name
    }
    for (; upTo < messages.length; upTo++) {
      for (const { id, name } of callsOf(messages[upTo]!)) names.set(id, name)
    }
    return names.get(callId)
  }
}

const holdsTail = (message: Message): boolean =>
  isRecord(message) && Array.isArray(message.content) && isTail(message.content.at(-1))

/** What was written, and of which messages. */
interface Spans {
  readonly shape: Shape
  readonly out: Array<Loose>
  readonly messages: ReadonlyArray<Message>
  /** For each message where what is written of it begins, and ends. */
  readonly spans: ReadonlyArray<readonly [number, number]>
  /** The mark that the provider sets behind all that is written. */
  readonly automatic: unknown
}

/** A mark that covers what stands at the tail would be written and never read: it moves to what stands before that. */
const freeTails = (written: Spans): void => {
  const { messages, out, shape, spans } = written
  messages.forEach((message, at) => {
    if (!holdsTail(message)) return
    const [from, to] = spans[at]!
    let moves: unknown
    for (let i = from; i < to; i++) {
      const host = out[i]!
      const free = isRecord(host) ? shape.unmark?.(host, message) : undefined
      if (free === undefined) continue
      out[i] = free[0]
      moves ??= free[1]
    }
    if (moves !== undefined) markAt(written, at - 1, moves)
  })
}

/** Sets marks at the ends of messages, the newest first, as many as there is room for. */
const mark = (written: Spans, marks: ReadonlyArray<number>, reserved: number): void => {
  const { automatic, messages, out, shape } = written
  let room = shape.marks - reserved - (automatic === undefined ? 0 : 1)
  for (const host of out) if (isRecord(host)) room -= shape.marksOf(host).length
  const tail = messages.findLastIndex(holdsTail)
  // Behind what changes with each request a mark would be written and never read.
  const places = tail < 0 ? marks : marks.map((at) => Math.min(at, tail - 1))
  const wanted = [...new Set(places)].filter((at) => at in messages).toSorted((a, b) => b - a)
  for (const at of wanted) {
    if (room <= 0) return
    if (markAt(written, at)) room--
  }
}

/** Marks the end of a message, or of the nearest before it that may carry a mark. False where one is there. */
const markAt = (written: Spans, from: number, like?: unknown): boolean => {
  const { automatic, messages, out, shape, spans } = written
  for (let at = from; at >= 0; at--) {
    const [start, end] = spans[at]!
    for (let i = end - 1; i >= start; i--) {
      const host = out[i]
      const made = (here: ReadonlyArray<unknown>): unknown => {
        const later = out.slice(i + 1).flatMap((m) => (isRecord(m) ? shape.marksOf(m) : []))
        return lasting([...here, ...later, automatic], like)
      }
      const marked = isRecord(host) ? shape.mark(host, messages[at]!, made) : undefined
      if (marked === undefined) continue
      out[i] = marked
      return marked !== host
    }
  }
  return false
}

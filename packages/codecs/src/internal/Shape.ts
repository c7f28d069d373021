import type { Message } from "@varve/core/Message"
import type { Loose } from "./values.ts"

/** A neutral message with where it came from. */
export interface Read {
  readonly message: Message
  /** For each of its blocks what the host has in that place; a key for `write` and nothing else. */
  readonly from: ReadonlyArray<unknown>
  /** For a result: what holds it, where that is a part of a host's message. */
  readonly part?: unknown
}

/** Messages of a host that are read and written together, and the neutral messages of them. */
export interface Segment {
  readonly host: ReadonlyArray<Loose>
  readonly reads: ReadonlyArray<Read>
  /** The messages as they are given out. */
  readonly messages: ReadonlyArray<Message>
}

/** Where a neutral message stands in its segment. */
export interface Place {
  readonly shape: string
  readonly segment: Segment
  readonly index: number
}

/**
 * The mark on a neutral message. A symbol that is copied with the message, so that an edited copy still says
 * what it is a copy of; it is in no JSON.
 */
const PLACE = Symbol.for("@varve/codecs/place")

export const placeOf = (message: unknown): Place | undefined =>
  (message as { readonly [PLACE]?: Place } | null | undefined)?.[PLACE]

/** Marks what was read and closes it: it is given again, so no strategy may write to it. */
export const segmentOf = (
  shape: string,
  host: ReadonlyArray<Loose>,
  reads: ReadonlyArray<Read>
): Segment => {
  const messages: Array<Message> = []
  const segment: Segment = { host, reads, messages }
  reads.forEach(({ message }, index) => {
    const place: Place = { shape, segment, index }
    Object.freeze(message.content)
    messages.push(Object.freeze({ ...message, [PLACE]: place }))
  })
  return segment
}

/** The name of the tool that a call before was of; nothing where there is no such call. */
export type NameOf = (callId: string) => string | undefined

/** One host's shape: what differs between codecs. */
export interface Shape {
  readonly name: string
  /** Most cache marks in one request. */
  readonly marks: number
  /** How many messages from `at` on are read together. */
  readonly extent: (host: ReadonlyArray<unknown>, at: number) => number
  /** Reads a segment. `names` knows the calls before it; `all` is the whole list, the segment at `at`. */
  readonly read: (
    host: ReadonlyArray<Loose>,
    names: NameOf,
    all: ReadonlyArray<unknown>,
    at: number
  ) => Array<Read>
  /** A segment of which some messages were edited or have left. */
  readonly write: (segment: Segment, messages: ReadonlyArray<Message>) => ReadonlyArray<Loose>
  /** A message that no host gave. */
  readonly compose: (message: Message, out: ReadonlyArray<Loose>) => ReadonlyArray<Loose>
  /** Puts a composed message behind what is written; by default at the end. */
  readonly append?: (out: Array<Loose>, made: Loose, message: Message) => void
  /** Takes out what a provider would refuse, whoever gave it. */
  readonly finish?: (out: Array<Loose>) => Array<Loose>
  /**
   * The message with a cache mark at the end of what `message` is of it; itself where one is there, nothing where
   * none may stand. `made` gives the mark, of the marks that the same message has behind that place.
   */
  readonly mark: (
    host: Loose,
    message: Message,
    made: (behind: ReadonlyArray<unknown>) => unknown
  ) => Loose | undefined
  /**
   * The message without the mark that covers all that `message` is of it, and that mark where it has no other place
   * in it; nothing where there is none.
   */
  readonly unmark?: (
    host: Loose,
    message: Message
  ) => readonly [now: Loose, mark?: unknown] | undefined
  /** The cache marks of a message, or a tool, in their order. */
  readonly marksOf: (host: Loose) => ReadonlyArray<unknown>
}

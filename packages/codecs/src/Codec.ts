import type { PlainMemory } from "@varve/core/createMemory"
import type { PrepareOptions } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import type { Report } from "@varve/core/Report"

/** A cache mark as Anthropic takes it: `{ type: "ephemeral" }`, `{ type: "ephemeral", ttl: "1h" }`. */
export interface CacheMark {
  readonly type?: unknown
  readonly ttl?: unknown
}

/** What goes with one request, and where its cache marks stand. */
export interface CodecOptions extends Omit<PrepareOptions, "system"> {
  /** The system text where the host gives it beside the messages: a text, or blocks that hold texts. */
  readonly system?: string | ReadonlyArray<{ readonly text?: unknown }> | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * `true`: cache marks stand where the memory says (`Prepared.marks`); default: none. Or a function that is
   * given the view that will be sent, and gives the positions in it whose end is to be a mark. Where a mark of
   * yours stands behind one of these that lives longer (Anthropic's `ttl: "1h"`), it lives as long.
   */
  readonly marks?: true | ((view: ReadonlyArray<Message>) => ReadonlyArray<number>) | undefined
  /**
   * Anthropic's mark for the whole request, where you send one: `cache_control` beside the messages, of which
   * the provider makes a mark on the last block. It counts, and no mark that is set lives shorter. Default: none.
   */
  readonly automatic?: CacheMark | null | undefined
}

/** How a view is written. */
export interface WriteOptions {
  /** Positions of messages in what is written; the last block of each that may carry a cache mark gets one. */
  readonly marks?: ReadonlyArray<number> | undefined
  /** How many of the provider's marks the system text and the tools take; default 0. */
  readonly reserved?: number | undefined
  /** The mark for the whole request; it counts beside `reserved`, and no mark that is set lives shorter. */
  readonly automatic?: CacheMark | null | undefined
}

/** A request in the host's shape. */
export interface Written<M> {
  /** To be sent; a list of its own. What was not edited is the host's own object. */
  readonly messages: Array<M>
  readonly report: Report
}

/** Reads and writes one host's message shape. It keeps nothing but what it has read, by object. */
export interface Codec<H> {
  readonly name: string
  /**
   * The host's messages as neutral ones. Never fails: what it does not know passes through in place. An
   * object that was read before gives the same neutral messages.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- lets an SDK's own type in, with fields that H doesn't name
  readonly read: <M extends H>(messages: ReadonlyArray<M>) => ReadonlyArray<Message>
  /**
   * The host's shape of what `read` gave, under edits or not. What was not edited is the host's own object;
   * what came from nowhere (a fold, a memo) is written in the host's shape.
   */
  readonly write: <M = H>(messages: ReadonlyArray<Message>, options?: WriteOptions) => Array<M>
  /**
   * Reads, prepares and writes. Rejects as `memory.prepare` does: with `ContextOverflow`, `StoreError` or
   * `MemoryClosed`, and with `ConfigError` where `messages` is no list.
   */
  readonly prepare: <M extends H>(
    memory: Pick<PlainMemory, "prepare">,
    messages: ReadonlyArray<M>,
    options?: CodecOptions
  ) => Promise<Written<M>>
  /** The same for `memory.recover`: a smaller request after a provider's overflow error, or nothing. */
  readonly recover: <M extends H>(
    memory: Pick<PlainMemory, "recover">,
    error: unknown,
    messages: ReadonlyArray<M>,
    options?: CodecOptions
  ) => Promise<Written<M> | undefined>
}

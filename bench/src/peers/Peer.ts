import type { Message } from "@varve/core"

/**
 * What is left of a history, and so what a peer can be compared with:
 *
 * - `results`: all that was said and called, and the newest results of tools;
 * - `calls`: all that was said, and the newest calls with their results;
 * - `window`: the task, and the newest messages;
 * - `summary`: a summary of a fixed size, and the newest messages.
 */
export type Kept = "results" | "calls" | "window" | "summary"

/** What every peer of a kind is set to, so that all keep the same. */
export interface Setup {
  /** Newest results (`results`). */
  readonly results: number
  /** Newest messages (`window`, `summary`). */
  readonly messages: number
  /** Tokens from which on a peer acts that acts at a mark. */
  readonly at: number
  /** Share of a run's tokens that is text, for a peer that counts images as nothing. */
  readonly textShare: number
  /**
   * The limit, in tokens as `estimate` counts them, under which the newest whole messages have as many tokens as
   * the newest `messages`, in the mean over the run and as a provider reports them.
   */
  readonly limitFor: (estimate: (message: Message) => number) => number
  /** Stands in for a model: takes its whole prompt, gives a text of the fixed size. */
  readonly summarize: (prompt: string, images?: number) => string
  /** Tokens of a message as a provider would report them. */
  readonly count: (message: Message) => number
}

/** One run through a peer. `M` is its own shape of a message. */
export interface Run<M> {
  /** New messages in the peer's shape; not part of what is measured, since its host has them in that shape. */
  readonly read: (fresh: ReadonlyArray<Message>) => ReadonlyArray<M>
  /** A model request after these new messages: what is sent. `tokens`: what it would have without the peer. */
  readonly request: (fresh: ReadonlyArray<M>, tokens: number) => Promise<ReadonlyArray<M>>
  /** What is sent, in our shape; not part of what is measured. */
  readonly write: (sent: ReadonlyArray<M>) => ReadonlyArray<Message>
}

/** A library that people would pick instead. */
export interface Peer<M = unknown> {
  readonly name: string
  readonly keeps: Kept
  /** Where it is called. */
  readonly hook: string
  /** How it was set to the same retention. */
  readonly settings: string
  /** What it can't do, if anything that the tables don't show. */
  readonly lacks?: string
  /** True for what is measured for its speed alone. */
  readonly speedOnly?: boolean
  readonly start: (setup: Setup) => Run<M>
  /** Its own count of tokens, where it has one. */
  readonly count?: (messages: ReadonlyArray<Message>) => number | Promise<number>
}

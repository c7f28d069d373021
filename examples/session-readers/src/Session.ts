import type { Message, Usage } from "./Message.ts"

/** One request to the model. */
export interface Request {
  /** The request was made with `messages.slice(0, at)`; its answer, where the log has it, is `messages[at]`. */
  readonly at: number
  /** Missing where the log has none. */
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  /** ms since 1970: when the request was made, or, where the log has only that, when its answer came. */
  readonly timestamp?: number | undefined
}

/** A whole run of an agent, as its log file has it. */
export interface Session {
  readonly name: string
  /** The system prompt, where the log has it. */
  readonly system?: string | undefined
  /** The tools' definitions in the shape of the log, where it has them. */
  readonly tools?: ReadonlyArray<unknown> | undefined
  readonly messages: ReadonlyArray<Message>
  readonly requests: ReadonlyArray<Request>
  /** How many entries of each kind the reader left out. */
  readonly skipped: Readonly<Record<string, number>>
}

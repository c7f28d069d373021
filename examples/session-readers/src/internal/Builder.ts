import type { Block, Message, Usage } from "../Message.ts"
import type { Request, Session } from "../Session.ts"

/** What an assistant message and its request have in common. */
export interface Answer {
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly stopReason?: string | undefined
  readonly timestamp?: number | undefined
}

/** The same object without the keys that are undefined. */
export const defined = <A extends object>(value: A): A =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as A

/** A text block, or nothing where the text is empty: providers refuse empty ones. */
export const text = (value: string | null | undefined): ReadonlyArray<Block> =>
  value === undefined || value === null || value === "" ? [] : [{ type: "text", text: value }]

/** Collects a session in the order of its log. */
export class Builder {
  readonly messages: Array<Message> = []
  readonly requests: Array<Request> = []
  private readonly counts = new Map<string, number>()
  private readonly toolNames = new Map<string, string>()

  /** Counts an entry that is left out. */
  skip(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  user(content: string | ReadonlyArray<Block>, timestamp?: number): void {
    this.messages.push(defined({ role: "user" as const, content, timestamp }))
  }

  /** An assistant message that answers a request of its own. */
  assistant(content: ReadonlyArray<Block>, answer: Answer = {}): void {
    const { usage, model, stopReason, timestamp } = answer
    this.requests.push(defined({ at: this.messages.length, usage, model, timestamp }))
    this.reply(content, { model, usage, stopReason, timestamp })
  }

  /** An assistant message without a request: an action that follows from the answer before. */
  reply(content: ReadonlyArray<Block>, answer: Answer = {}): void {
    for (const block of content)
      if (block.type === "toolCall") this.toolNames.set(block.id, block.name)
    this.messages.push(defined({ role: "assistant" as const, content, ...answer }))
  }

  /** A tool result; its tool's name comes from the last call with that id. */
  result(
    toolCallId: string,
    content: ReadonlyArray<Block>,
    timestamp?: number,
    isError = false
  ): void {
    const toolName = this.toolNames.get(toolCallId) ?? ""
    this.messages.push(
      defined({ role: "toolResult" as const, toolCallId, toolName, content, isError, timestamp })
    )
  }

  done(
    name: string,
    rest: { system?: string | undefined; tools?: ReadonlyArray<unknown> | undefined } = {}
  ): Session {
    return defined({
      name,
      ...rest,
      messages: this.messages,
      requests: this.requests,
      skipped: Object.fromEntries(this.counts)
    })
  }
}

/** The neutral message of these readers: pi's shape. Messages of other roles and blocks of other types stand beside these, untouched. */

/** Plain text. */
export interface TextBlock {
  readonly type: "text"
  readonly text: string
}

/** An image as base64 without a `data:` prefix. */
export interface ImageBlock {
  readonly type: "image"
  readonly data: string
  readonly mimeType: string
}

/** A model's reasoning; `thinkingSignature` is what the provider wants back unchanged. */
export interface ThinkingBlock {
  readonly type: "thinking"
  readonly thinking: string
  readonly thinkingSignature?: string | undefined
  readonly redacted?: boolean | undefined
}

/** A tool call; its result is a message of its own that names `id`. */
export interface ToolCallBlock {
  readonly type: "toolCall"
  readonly id: string
  readonly name: string
  readonly arguments: unknown
}

export type Block = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock

/** What a provider billed for one request, in tokens. The request's context is `input + cacheRead + cacheWrite`. */
export interface Usage {
  /** Not from the cache and not written to it. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Reasoning included. */
  readonly output: number
}

export interface UserMessage {
  readonly role: "user"
  readonly content: string | ReadonlyArray<Block>
  /** ms since 1970; missing where the log has no times. */
  readonly timestamp?: number | undefined
}

export interface AssistantMessage {
  readonly role: "assistant"
  readonly content: ReadonlyArray<Block>
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  /** stop, length, toolUse, error or aborted; missing where the log doesn't say. */
  readonly stopReason?: string | undefined
  readonly timestamp?: number | undefined
}

export interface ToolResultMessage {
  readonly role: "toolResult"
  readonly toolCallId: string
  /** Empty where the log has a result without its call. */
  readonly toolName: string
  readonly content: ReadonlyArray<Block>
  readonly isError: boolean
  readonly timestamp?: number | undefined
}

export interface SystemMessage {
  readonly role: "system"
  readonly content: string | ReadonlyArray<Block>
  readonly timestamp?: number | undefined
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage

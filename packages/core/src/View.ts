import type { Counter, CountSource } from "./Counter.ts"
import type { ItemId, Proposal } from "./Edit.ts"
import type { ImageSize } from "./ImageSize.ts"
import type { Limits } from "./Budget.ts"
import type { Block, BlockId, Message, MessageId } from "./Message.ts"
import type { Profile } from "./Profile.ts"
import type { Protection } from "./Protection.ts"
import type { Step } from "./StepLog.ts"

/** What a view costs. Bytes of images are bytes of base64. */
export interface Usage {
  /** Tokens of the whole request: messages, memos, system text and tools. */
  readonly tokens: number
  readonly source: CountSource
  readonly images: number
  readonly imageBytes: number
  /** Bytes of the request as JSON, estimated from its strings. */
  readonly requestBytes: number
  readonly messages: number
}

/** An image that the view still shows. */
export interface ImageRef {
  readonly block: BlockId
  readonly message: MessageId
  readonly item: ItemId
  /** Which image of the host's history it is, from 1; those that left are counted too. */
  readonly ordinal: number
  /** 0: as the host gave it; 1: a thumbnail. */
  readonly rank: 0 | 1
  /** The block that holds it, in the host's shape. */
  readonly shown: Block | undefined
  /** Base64, or nothing where the host gave a URL. */
  readonly data: string | undefined
  readonly mimeType: string | undefined
  readonly size: ImageSize | undefined
  /** The size as the host gave it; another one than `size` for a thumbnail. */
  readonly original: ImageSize | undefined
  readonly tokens: number
  /** Bytes of base64. */
  readonly bytes: number
  /** The call whose result holds it. */
  readonly callId: string | undefined
  readonly role: string
}

/** A text of a tool result that the view still shows. */
export interface ResultRef {
  readonly block: BlockId
  readonly message: MessageId
  readonly item: ItemId
  readonly callId: string
  readonly toolName: string
  readonly isError: boolean
  readonly text: string
  /** 0: as the host gave it; 1: clipped. */
  readonly rank: 0 | 1
}

/** A group or a fold of the view. */
export interface ItemRef {
  readonly id: ItemId
  readonly kind: "group" | "fold"
  /** The message ids that it stands for, oldest first; for a fold those of the groups behind it. */
  readonly members: ReadonlyArray<MessageId>
  /** As the model gets it. */
  readonly messages: ReadonlyArray<Message>
  /** Position of its first message in the host's history. */
  readonly first: number
  readonly tokens: number
  /** True for a group whose calls all have results and behind which something stands. */
  readonly closed: boolean
  /** What the strategy kept with a fold. */
  readonly data?: unknown
}

/** A memo that is set. */
export interface MemoRef {
  readonly key: string
  readonly text: string
  readonly tokens: number
  readonly basis: MessageId | null
  /** True where it stands in no request. */
  readonly aside?: boolean
  /** True where it stands at the end of each request. */
  readonly tail?: boolean
  readonly data?: unknown
}

/** The transcript under edits, as one strategy sees it. It never changes. */
export interface View {
  readonly messages: ReadonlyArray<Message>
  /** Groups and folds in order. */
  readonly items: ReadonlyArray<ItemRef>
  /** The items that are groups. */
  readonly groups: ReadonlyArray<ItemRef>
  /** Oldest first. */
  readonly images: ReadonlyArray<ImageRef>
  /** Oldest first. */
  readonly results: ReadonlyArray<ResultRef>
  readonly memos: ReadonlyArray<MemoRef>
  readonly steps: ReadonlyArray<Step>
  readonly usage: Usage
  /** The model's tokens for one of the counter's, in which items have theirs, as far as that was learned. */
  readonly scale: number
  readonly limits: Limits
  readonly profile: Profile
  readonly counter: Counter
  /** Turns so far: user messages of the host. */
  readonly turns: number
  /** Requests so far: assistant messages of the host. */
  readonly requests: number
  /**
   * Requests that have been made since something changed that had been sent before, an edit or the host's history:
   * where each of them ended, the provider may have an entry in its cache.
   */
  readonly stable: number
  /** True where the provider's cache of this session has expired, and where it has none. */
  readonly cacheCold: boolean
  /** The newest message of the history; nothing where it is empty. */
  readonly newest: MessageId | undefined
  /** The step that a tool call belongs to. */
  readonly stepOf: (callId: string) => Step | undefined
  /** How a block, a message or an item is protected; nothing where it isn't. */
  readonly protection: (id: BlockId | MessageId | ItemId) => Protection | undefined
  /** The view with these edits applied, unchecked but for what can't be applied. */
  readonly after: (proposals: ReadonlyArray<Proposal>) => View
}

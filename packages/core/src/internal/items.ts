import type { Counter } from "../Counter.ts"
import type { Fold, ItemId, Replace } from "../Edit.ts"
import type { Block, Message, MessageId } from "../Message.ts"
import { blockAt, blockId, imageOf, replaceBlocks, splitBlockId, visitBlocks } from "../Message.ts"
import type { Entry, Group, Transcript } from "../Transcript.ts"
import type { ImageRef, ItemRef, ResultRef } from "../View.ts"
import { messageBytes } from "./bytes.ts"
import type { ImageFact } from "./facts.ts"
import { exactly, frozen, imageFact } from "./facts.ts"

/** The replacements in a group, one a block. */
export type Replaced = ReadonlyArray<Replace>

/** An item of a view, with what it costs. */
export interface Item extends ItemRef {
  readonly bytes: number
  readonly imageCount: number
  readonly imageBytes: number
  readonly imageTokens: number
  readonly images: ReadonlyArray<ImageRef>
  readonly results: ReadonlyArray<ResultRef>
  /** Position of the last host message that it stands for. */
  readonly last: number
}

const NONE: ReadonlyArray<never> = []

/** The figures that a group has as well. */
type Sums = Pick<Group, "tokens" | "bytes" | "images" | "imageBytes" | "imageTokens">

/** A group as the host gave it, or with blocks replaced. What is dear is made when asked for. */
export class GroupItem implements Item {
  readonly group: Group
  readonly replaced: Replaced | undefined
  readonly messages: ReadonlyArray<Message>
  /** What it costs; without edits what its group does. */
  readonly #sums: Sums
  #members: ReadonlyArray<MessageId> | undefined
  #images: ReadonlyArray<ImageRef> | undefined
  #results: ReadonlyArray<ResultRef> | undefined

  constructor(group: Group, counter: Counter, replaced?: Replaced) {
    this.group = group
    this.replaced = replaced
    if (replaced === undefined) {
      this.messages = Object.freeze(group.entries.map((e) => e.message))
      this.#sums = group
      Object.freeze(this)
      return
    }
    let { tokens, bytes } = group
    const edits = byMessage(replaced)
    const messages = group.entries.map((entry) => {
      const to = edits.get(entry.id)
      if (to === undefined) return entry.message
      const message = frozen(replaceBlocks(entry.message, to))
      tokens += counter.message(message) - entry.facts.tokens
      bytes += messageBytes(message) - entry.facts.bytes
      return message
    })
    this.messages = Object.freeze(messages)
    const left = imagesOf(this, counter)
    this.#images = left
    this.#sums = {
      tokens,
      bytes,
      images: left.length,
      imageBytes: left.reduce((sum, image) => sum + image.bytes, 0),
      imageTokens: left.reduce((sum, image) => sum + image.tokens, 0)
    }
    Object.freeze(this)
  }

  get kind(): "group" {
    return "group"
  }

  get tokens(): number {
    return this.#sums.tokens
  }

  get bytes(): number {
    return this.#sums.bytes
  }

  get imageCount(): number {
    return this.#sums.images
  }

  get imageBytes(): number {
    return this.#sums.imageBytes
  }

  get imageTokens(): number {
    return this.#sums.imageTokens
  }

  /** True where these are its replacements. */
  holds(replaced: Replaced): boolean {
    const own = this.replaced ?? NONE
    return own.length === replaced.length && own.every((edit, i) => edit === replaced[i])
  }

  get id(): ItemId {
    return this.group.id
  }

  get first(): number {
    return this.group.first
  }

  get last(): number {
    return this.group.first + this.group.entries.length - 1
  }

  get closed(): boolean {
    return this.group.open.length === 0
  }

  get members(): ReadonlyArray<MessageId> {
    return (this.#members ??= this.group.entries.map((e) => e.id))
  }

  get images(): ReadonlyArray<ImageRef> {
    if (this.imageCount === 0) return NONE
    return (this.#images ??= imagesOf(this, undefined))
  }

  get results(): ReadonlyArray<ResultRef> {
    return (this.#results ??= resultsOf(this))
  }
}

/** The item of a group without edits; one object as long as the group is one. */
export const plainItem = (group: Group, { plain }: Transcript, counter: Counter): GroupItem =>
  (plain[group.index] ??= new GroupItem(group, counter))

/** What stands for which block of which message, by path. */
const byMessage = (replaced: Replaced): ReadonlyMap<MessageId, Map<string, Replace["to"]>> => {
  const edits = new Map<MessageId, Map<string, Replace["to"]>>()
  for (const { block, to } of replaced) {
    const [id, path] = splitBlockId(block)
    const own = edits.get(id)
    if (own === undefined) edits.set(id, new Map([[path, to]]))
    else own.set(path, to)
  }
  return edits
}

const imagesOf = (item: GroupItem, counter: Counter | undefined): ReadonlyArray<ImageRef> => {
  const images: Array<ImageRef> = []
  let ordinal = item.group.upTo.images - item.group.images
  for (const entry of item.group.entries) {
    for (const fact of entry.facts.images) {
      ordinal++
      const edit = replacementAt(item.replaced, entry.id, fact.path)
      if (edit === undefined) {
        const block = blockAt(entry.message, fact.path)
        images.push(imageRef(item, entry, fact, fact, ordinal, block))
      } else if (edit.block === blockId(entry.id, fact.path) && counter !== undefined) {
        for (const block of edit.to) {
          const made = imageFact(block, fact.path, counter)
          if (made !== undefined) images.push(imageRef(item, entry, fact, made, ordinal, block))
        }
      }
    }
  }
  return exactly(images)
}

/** The replacement that covers a block: its own, or one of a block around it. */
export const replacementAt = (
  replaced: Replaced | undefined,
  message: MessageId,
  path: string
): Replace | undefined => {
  if (replaced === undefined) return undefined
  for (let p = path; p !== ""; p = p.slice(0, Math.max(0, p.lastIndexOf(".")))) {
    const id = blockId(message, p)
    const edit = replaced.find(({ block }) => block === id)
    if (edit !== undefined) return edit
  }
  return undefined
}

const imageRef = (
  item: GroupItem,
  entry: Entry,
  original: ImageFact,
  now: ImageFact,
  ordinal: number,
  block: Block | undefined
): ImageRef => {
  const image = block === undefined ? undefined : imageOf(block)
  const { message } = entry
  return {
    block: blockId(entry.id, original.path),
    message: entry.id,
    item: item.id,
    ordinal,
    rank: now === original ? 0 : 1,
    shown: block,
    data: image?.data,
    mimeType: image?.mimeType,
    size: now.size,
    original: original.size,
    tokens: now.tokens,
    bytes: now.bytes,
    callId: message.role === "toolResult" ? message.toolCallId : undefined,
    role: message.role
  }
}

const resultsOf = (item: GroupItem): ReadonlyArray<ResultRef> => {
  const results: Array<ResultRef> = []
  for (const entry of item.group.entries) {
    const { message } = entry
    if (message.role !== "toolResult") continue
    visitBlocks(message, (block, path) => {
      if (block.type !== "text" || typeof block.text !== "string") return
      const edit = replacementAt(item.replaced, entry.id, path)
      if (edit !== undefined && edit.rank === 2) return
      const now = edit?.to[0]
      results.push({
        block: blockId(entry.id, path),
        message: entry.id,
        item: item.id,
        callId: message.toolCallId,
        toolName: message.toolName,
        isError: message.isError === true,
        text: now === undefined ? block.text : now.type === "text" ? now.text : "",
        rank: edit === undefined ? 0 : 1
      })
    })
  }
  return exactly(results)
}

/** A text of ours as a message; takes the time of what it stands for, since some hosts ask for one. */
export const textMessage = (text: string, like: Message | undefined): Message =>
  frozen(ours(text, like))

const ours = (text: string, like: Message | undefined): Message => {
  const timestamp = (like as { timestamp?: unknown } | undefined)?.timestamp
  return {
    role: "user",
    content: [Object.freeze({ type: "text", text })],
    ...(typeof timestamp === "number" ? { timestamp } : {})
  }
}

/** Groups and earlier folds behind one text, or behind nothing. */
export class FoldItem implements Item {
  readonly kind = "fold"
  readonly edit: Fold
  readonly first: number
  readonly last: number
  readonly members: ReadonlyArray<MessageId>
  readonly messages: ReadonlyArray<Message>
  readonly tokens: number
  readonly bytes: number
  readonly imageCount = 0
  readonly imageBytes = 0
  readonly imageTokens = 0
  readonly images = NONE
  readonly results = NONE
  readonly closed = true

  constructor(edit: Fold, items: ReadonlyArray<Item>, like: Message | undefined, counter: Counter) {
    this.edit = edit
    this.first = Math.min(...items.map((i) => i.first))
    this.last = Math.max(...items.map((i) => i.last))
    this.members = items.flatMap((i) => i.members)
    this.messages = edit.text === null ? NONE : Object.freeze([textMessage(edit.text, like)])
    this.tokens = this.messages.reduce((sum, m) => sum + counter.message(m), 0)
    this.bytes = this.messages.reduce((sum, m) => sum + messageBytes(m), 0)
  }

  get id(): ItemId {
    return this.edit.id
  }

  get data(): unknown {
    return this.edit.data
  }
}

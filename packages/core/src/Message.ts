/**
 * The neutral message: pi's shape, read structurally. Whatever else a host keeps in its messages
 * (other roles, fields, block types) passes through untouched and in place.
 */

import { NO_ROOM, TAIL } from "./internal/signs.ts"

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

/** A model's reasoning. A signed one is byte-exact or gone, never altered. */
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

/** A part of a message. Blocks of other types may stand beside these and are left alone. */
export type Block = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock

export interface UserMessage {
  readonly role: "user"
  readonly content: string | ReadonlyArray<Block>
}

export interface AssistantMessage {
  readonly role: "assistant"
  readonly content: ReadonlyArray<Block> | string
  readonly stopReason?: string | undefined
}

export interface ToolResultMessage {
  readonly role: "toolResult"
  readonly toolCallId: string
  readonly toolName: string
  readonly content: ReadonlyArray<Block> | string
  readonly isError: boolean
}

export interface SystemMessage {
  readonly role: "system"
  readonly content: string | ReadonlyArray<Block>
}

/** A message. Messages of other roles may stand beside these and are left alone. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage

/** Names one message of a history: the host's own `id` where there is one, and a fingerprint of the content. */
export type MessageId = string

/** Names one block: the message's id, a slash, the path of indexes to the block (`"…/2"`, nested `"…/0.1"`). */
export type BlockId = string

/** Joins a message's id and a block's path. */
export const blockId = (message: MessageId, path: string): BlockId => message + "/" + path

/** Splits a block's id into the message's id and the path. */
export const splitBlockId = (id: BlockId): readonly [MessageId, string] => {
  const at = id.lastIndexOf("/")
  return [id.slice(0, at), id.slice(at + 1)]
}

const isRecord = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

/** What a block that holds an image says about it: base64 `data`, a `url`, or neither where the provider keeps it. */
export interface ImageData {
  readonly data: string | undefined
  readonly url: string | undefined
  readonly mimeType: string | undefined
  readonly detail: string | undefined
}

const fromUrl = (url: string, detail: unknown, mime?: unknown): ImageData => {
  const inline = /^data:([^;,]*)[^,]{0,64};base64,/.exec(url.slice(0, 128))
  return {
    data: inline ? url.slice(inline[0].length) : undefined,
    url: inline ? undefined : url,
    mimeType: inline?.[1] ?? (typeof mime === "string" ? mime : undefined),
    detail: typeof detail === "string" ? detail : undefined
  }
}

/**
 * Reads the image of a block in any of the shapes that hosts use (pi, Anthropic, OpenAI, AI SDK, LangChain),
 * or gives nothing. One function for counting and for replacing, so that both see the same images.
 */
export const imageOf = (block: unknown): ImageData | undefined => {
  if (!isRecord(block)) return undefined
  const { type } = block
  if (type === "image") {
    if (typeof block.data === "string") return fromData(block.data, block.mimeType)
    if (typeof block.url === "string") return fromUrl(block.url, undefined, block.mimeType)
    const source = block.source
    if (isRecord(source)) {
      if (typeof source.data === "string") return fromData(source.data, source.media_type)
      if (typeof source.url === "string") return fromUrl(source.url, undefined)
      if (typeof source.file_id === "string") return elsewhere(undefined)
    }
    if (typeof block.image === "string") {
      return /^(data:|https?:)/.test(block.image)
        ? fromUrl(block.image, undefined, block.mediaType)
        : fromData(block.image, block.mediaType)
    }
    return isReference(block.image) ? elsewhere(undefined) : undefined
  }
  if (isImageFile(type)) return elsewhere(undefined)
  if (type === "image_url" || type === "input_image") {
    const at = block.image_url
    if (typeof at === "string") return fromUrl(at, block.detail)
    if (isRecord(at) && typeof at.url === "string") return fromUrl(at.url, at.detail)
    return typeof block.file_id === "string" ? elsewhere(block.detail) : undefined
  }
  if (type === "file" || type === "media" || type === "image-data") {
    const mime = block.mediaType ?? block.mimeType
    if (typeof mime === "string" && mime.startsWith("image/") && typeof block.data === "string") {
      return /^(data:|https?:)/.test(block.data)
        ? fromUrl(block.data, undefined, mime)
        : fromData(block.data, mime)
    }
    if (typeof mime === "string" && /^image(\/|$)/.test(mime) && isReference(block.data))
      return elsewhere(undefined)
  }
  return undefined
}

/** The AI SDK's parts of results that name an image of a provider. */
const isImageFile = (type: unknown): boolean =>
  type === "image-file-id" || type === "image-file-reference"

/** The AI SDK's names of one file by provider, tagged or bare. */
const isReference = (data: unknown): boolean => {
  if (!isRecord(data) || ArrayBuffer.isView(data)) return false
  if (data.type === "reference") return isRecord(data.reference)
  const ids = Object.values(data)
  return data.type === undefined && ids.length > 0 && ids.every((id) => typeof id === "string")
}

/** An image that the provider keeps: there is no more to see here than that it is one. */
const elsewhere = (detail: unknown): ImageData => ({
  data: undefined,
  url: undefined,
  mimeType: undefined,
  detail: typeof detail === "string" ? detail : undefined
})

const fromData = (data: string, mime: unknown): ImageData => ({
  data: data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data,
  url: undefined,
  mimeType: typeof mime === "string" ? mime : undefined,
  detail: undefined
})

/**
 * The same block with another image in it, in the same host's shape. What holds no image is given back as
 * pi's image block.
 *
 * @example
 * ```ts
 * import { imageOf, withImage } from "@varve/core/Message"
 *
 * const block = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } }
 * console.log(imageOf(withImage(block, { data: "BBBB", mimeType: "image/webp" }))?.mimeType) // => image/webp
 * ```
 */
export const withImage = (
  block: unknown,
  { data, mimeType }: { readonly data: string; readonly mimeType: string }
): Block => {
  const plain = { type: "image", data, mimeType } as const
  if (!isRecord(block)) return plain
  const { image_url: at, source, type } = block
  const url = `data:${mimeType};base64,${data}`
  const same = (fields: object): Block => ({ ...block, ...fields }) as unknown as Block
  if (type === "image_url" || type === "input_image") {
    const { file_id: _, ...rest } = block
    return { ...rest, image_url: isRecord(at) ? { ...at, url } : url } as unknown as Block
  }
  if (type === "file" || type === "media" || type === "image-data") {
    const mime = typeof block.mediaType === "string" ? "mediaType" : "mimeType"
    return same({ data: inShape(block.data, data, url), [mime]: mimeType })
  }
  if (isImageFile(type)) {
    const { fileId: _, providerReference: __, ...rest } = block
    return { ...rest, type: "image-data", data, mediaType: mimeType } as unknown as Block
  }
  if (type !== "image") return plain
  if (typeof block.data === "string") return same({ data, mimeType })
  if (typeof block.url === "string") return same({ url, mimeType })
  if (isRecord(source)) return same({ source: { type: "base64", media_type: mimeType, data } })
  if (typeof block.image !== "string" && !isReference(block.image)) return plain
  return same({ image: inShape(block.image, data, url), mediaType: mimeType })
}

/** A data URL where one stood, else bare base64. */
const inShape = (before: unknown, data: string, url: string): string =>
  typeof before === "string" && /^(data:|https?:)/.test(before) ? url : data

/** The blocks of a message; a plain string is one text block. */
export const blocksOf = (message: { readonly content?: unknown }): ReadonlyArray<Block> => {
  const { content } = message
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content : []
}

/**
 * True for a text that stands at the tail: it is made anew for each request, so a cache mark on it, or behind it, is
 * written and never read.
 *
 * @example
 * ```ts
 * import { createMemory, stepMemory } from "@varve/core"
 * import { blocksOf, isTail } from "@varve/core/Message"
 *
 * const memory = createMemory({ pipeline: [stepMemory({ place: "tail" })] })
 * memory.steps.begin({ id: "s1", goal: "open the menu" })
 * const { messages } = await memory.prepare([{ role: "user", content: "Change the language." }])
 * console.log(blocksOf(messages[0]!).map(isTail)) // => [ false, true ]
 * await memory.close()
 * ```
 */
export const isTail = (block: unknown): boolean => isRecord(block) && TAIL in block

/**
 * The message, with a sign on it that the host's shape has no room for a text beside what is there: nothing stands at
 * its tail. The sign goes with copies of it, and is in no JSON.
 *
 * @example
 * ```ts
 * import { hasRoom, withoutRoom } from "@varve/core/Message"
 *
 * const screen = { role: "toolResult", toolCallId: "c1", toolName: "click", content: [], isError: false }
 * console.log(hasRoom(screen), hasRoom({ ...withoutRoom(screen) })) // => true false
 * ```
 */
export const withoutRoom = <M extends object>(message: M): M => ({ ...message, [NO_ROOM]: true })

/** False for a message that `withoutRoom` gave, and for copies of it. */
export const hasRoom = (message: object): boolean => !(NO_ROOM in message)

/** Calls `f` for each block of a message, nested ones included, in order. Odd blocks are passed over. */
export const visitBlocks = (
  message: { readonly content?: unknown },
  f: (block: Block, path: string) => void
): void => visit(blocksOf(message), "", f, 0)

const visit = (
  blocks: ReadonlyArray<unknown>,
  prefix: string,
  f: (block: Block, path: string) => void,
  depth: number
): void => {
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]
    if (!isRecord(block) || typeof block.type !== "string") continue
    f(block as unknown as Block, prefix + i)
    const nested = nestedOf(block)
    if (nested !== undefined && depth < 4) visit(nested, prefix + i + ".", f, depth + 1)
  }
}

/** The blocks inside a block: tool results of other shapes hold them in `content`, or in `output.value` (AI SDK). */
export const nestedOf = (block: Record<string, unknown>): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(block.content)) return block.content
  return isRecord(block.output) && Array.isArray(block.output.value)
    ? block.output.value
    : undefined
}

/** The block at a path of a message, or nothing. */
export const blockAt = (
  message: { readonly content?: unknown },
  path: string
): Block | undefined => {
  let blocks: ReadonlyArray<unknown> = blocksOf(message)
  let found: unknown
  for (const step of path.split(".")) {
    found = blocks[Number(step)]
    if (!isRecord(found)) return undefined
    blocks = nestedOf(found) ?? []
  }
  return isRecord(found) && typeof found.type === "string" ? (found as unknown as Block) : undefined
}

/**
 * A copy of a message in which the blocks at the given paths are replaced. Everything else is kept by
 * reference; a message whose content is one string stays one where one text replaces it.
 */
export const replaceBlocks = <M extends { readonly content?: unknown }>(
  message: M,
  replacements: ReadonlyMap<string, ReadonlyArray<Block>>
): M => {
  const only = replacements.get("0")
  if (typeof message.content === "string") {
    if (only === undefined) return message
    const [first] = only
    const content = only.length === 1 && first?.type === "text" ? first.text : only
    return { ...message, content }
  }
  return { ...message, content: replaceIn(blocksOf(message), "", replacements) }
}

const replaceIn = (
  blocks: ReadonlyArray<unknown>,
  prefix: string,
  replacements: ReadonlyMap<string, ReadonlyArray<Block>>
): ReadonlyArray<unknown> => {
  const out: Array<unknown> = []
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i]
    const to = replacements.get(prefix + i)
    if (to !== undefined) out.push(...to)
    else if (isRecord(block) && inside(prefix + i + ".", replacements)) {
      const nested = replaceIn(nestedOf(block) ?? [], prefix + i + ".", replacements)
      out.push(
        Array.isArray(block.content)
          ? { ...block, content: nested }
          : { ...block, output: { ...(block.output as object), value: nested } }
      )
    } else out.push(block)
  }
  // These stay: without the room that a list which grew has left.
  return out.slice()
}

const inside = (prefix: string, replacements: ReadonlyMap<string, unknown>): boolean => {
  for (const path of replacements.keys()) if (path.startsWith(prefix)) return true
  return false
}

/** True where a message has nothing that a model could read: no content, or only blank text. */
export const isBlank = (message: { readonly content?: unknown }): boolean => {
  for (const block of blocksOf(message)) {
    if (!isRecord(block) || typeof block.type !== "string") continue
    if (block.type !== "text") return false
    if (typeof block.text === "string" && /\S/.test(block.text)) return false
  }
  return true
}

/** The text of a message's text blocks, joined by line breaks. */
export const textOf = (message: { readonly content?: unknown }): string => {
  const parts: Array<string> = []
  for (const block of blocksOf(message)) {
    if (isRecord(block) && block.type === "text" && typeof block.text === "string")
      parts.push(block.text)
  }
  return parts.join("\n")
}

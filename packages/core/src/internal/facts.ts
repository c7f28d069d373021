import type { Counter } from "../Counter.ts"
import { readImageSize } from "../ImageSize.ts"
import type { ImageSize } from "../ImageSize.ts"
import type { Block, Message, ToolCallBlock } from "../Message.ts"
import { blocksOf, imageOf, visitBlocks } from "../Message.ts"
import { messageBytes } from "./bytes.ts"
import { fingerprint } from "./hash.ts"

/** An image of a message; its data is read from the message when asked for. */
export interface ImageFact {
  readonly path: string
  readonly size: ImageSize | undefined
  readonly tokens: number
  readonly bytes: number
}

/** What is worth knowing of a message, found once in its life. */
export interface Facts {
  readonly print: string
  readonly tokens: number
  readonly bytes: number
  readonly images: ReadonlyArray<ImageFact>
  readonly imageBytes: number
  /** Tokens of its images: the provider's own unit, which no learned ratio scales. */
  readonly imageTokens: number
  readonly calls: ReadonlyArray<string>
  readonly thinking: number
  /** True where a call has no id or no name, or two have one id. */
  readonly oddCalls: boolean
}

const NONE: ReadonlyArray<never> = []

export const imageFact = (block: Block, path: string, counter: Counter): ImageFact | undefined => {
  const image = imageOf(block)
  if (image === undefined) return undefined
  const size = image.data === undefined ? undefined : readImageSize(image.data)
  return { path, size, tokens: counter.image(size, image.detail), bytes: image.data?.length ?? 0 }
}

const isCall = (block: Block): block is ToolCallBlock =>
  isCallLike(block) && textId(block.id) !== "" && typeof block.name === "string"

const isCallLike = (block: Block | null): block is ToolCallBlock => block?.type === "toolCall"

/** An id as hosts give it; empty for what is none. */
export const textId = (id: unknown): string => (typeof id === "string" ? id : "")

/** Closes a message that we made: no strategy may write to what is sent. The host's own are the host's. */
export const frozen = <M extends { readonly content?: unknown }>(message: M): M => {
  Object.freeze(message.content)
  return Object.freeze(message)
}

/** An assistant message whose calls can be answered, and what the host calls each of them. */
export interface Mended<M> {
  readonly message: M
  /** For the id of each call the id that the host has given it; empty for none. */
  readonly given: ReadonlyMap<string, string>
  /** Why calls were left out: nobody can send one without a name, and one that is told twice is one. */
  readonly left: ReadonlySet<string>
}

const mended = new WeakMap<object, Mended<object>>()

/**
 * The same message with an id for each call that has none, or one that a call before it has: some providers give
 * none. The ids come from what the message says, so that they are the same in each request.
 */
export const withCallIds = <M extends { readonly content?: unknown }>(
  message: M,
  print: string
): Mended<M> => {
  let known = mended.get(message) as Mended<M> | undefined
  if (known === undefined) {
    const given = new Map<string, string>()
    const told = new Set<string>()
    const left = new Set<string>()
    const content = blocksOf(message).flatMap((block): ReadonlyArray<Block> => {
      if (!isCallLike(block)) return [block]
      const own = textId(block.id)
      const all = fingerprint({ content: [block] })
      if (typeof block.name !== "string") left.add("a call without a name; left out")
      else if (own !== "" && told.has(all)) left.add("a call that is told twice; left out once")
      else {
        told.add(all)
        const id = own !== "" && !given.has(own) ? own : `call_${print}_${given.size}`
        given.set(id, own)
        return [id === own ? block : Object.freeze({ ...block, id })]
      }
      return []
    })
    known = { message: frozen({ ...message, content }), given, left }
    mended.set(message, known)
  }
  return known
}

const measure = (message: Message, print: string, counter: Counter): Facts => {
  const images: Array<ImageFact> = []
  const calls: Array<string> = []
  let thinking = 0
  let oddCalls = false
  visitBlocks(message, (block, path) => {
    const image = imageFact(block, path, counter)
    if (image !== undefined) images.push(image)
    else if (block.type === "toolCall") {
      if (message.role !== "assistant") return
      if (!isCall(block) || calls.includes(block.id)) oddCalls = true
      else calls.push(block.id)
    } else if (block.type === "thinking") thinking++
  })
  let imageBytes = 0
  let imageTokens = 0
  for (const image of images) {
    imageBytes += image.bytes
    imageTokens += image.tokens
  }
  return {
    print,
    tokens: counter.message(message),
    bytes: messageBytes(message),
    images: images.length === 0 ? NONE : images,
    imageBytes,
    imageTokens,
    calls: calls.length === 0 ? NONE : calls,
    thinking,
    oddCalls
  }
}

/** Knows messages by object first, by fingerprint second, so that clones cost one fingerprint. */
export class FactsCache {
  #byObject = new WeakMap<object, Facts>()
  readonly #byPrint = new Map<string, Facts>()
  readonly counter: Counter

  constructor(counter: Counter) {
    this.counter = counter
  }

  /** Forgets all, for a counter that counts otherwise from now on. */
  clear(): void {
    this.#byObject = new WeakMap()
    this.#byPrint.clear()
  }

  of(message: object): Facts {
    let facts = this.#byObject.get(message)
    if (facts !== undefined) return facts
    const print = fingerprint(message)
    facts = this.#byPrint.get(print)
    if (facts === undefined) {
      facts = measure(message as Message, print, this.counter)
      this.#byPrint.set(print, facts)
    }
    this.#byObject.set(message, facts)
    return facts
  }
}

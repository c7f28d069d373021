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
  /** True where a call has no id or name, or two have one id. */
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
  block.type === "toolCall" &&
  typeof block.id === "string" &&
  block.id !== "" &&
  typeof block.name === "string"

/** Closes a message that we made: no strategy may write to what is sent. The host's own are the host's. */
export const frozen = <M extends { readonly content?: unknown }>(message: M): M => {
  Object.freeze(message.content)
  return Object.freeze(message)
}

const mended = new WeakMap<object, object>()

/** The same message without calls that can't be answered: those without id or name, and a second one of an id. */
export const withoutOddCalls = <M extends { readonly content?: unknown }>(message: M): M => {
  let clean = mended.get(message) as M | undefined
  if (clean === undefined) {
    const ids = new Set<string>()
    const content = blocksOf(message).filter((block) => {
      if ((block as Block | null)?.type !== "toolCall") return true
      return isCall(block) && !ids.has(block.id) && ids.add(block.id)
    })
    mended.set(message, (clean = frozen({ ...message, content })))
  }
  return clean
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

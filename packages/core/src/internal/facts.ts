import type { Counter } from "../Counter.ts"
import { readImageSize } from "../ImageSize.ts"
import type { ImageSize } from "../ImageSize.ts"
import type { Block, Message } from "../Message.ts"
import { imageOf, visitBlocks } from "../Message.ts"
import { bytesOf } from "./bytes.ts"
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
  readonly calls: ReadonlyArray<string>
  readonly thinking: number
}

const NONE: ReadonlyArray<never> = []

export const imageFact = (block: Block, path: string, counter: Counter): ImageFact | undefined => {
  const image = imageOf(block)
  if (image === undefined) return undefined
  const size = image.data === undefined ? undefined : readImageSize(image.data)
  return { path, size, tokens: counter.image(size, image.detail), bytes: image.data?.length ?? 0 }
}

const measure = (message: Message, print: string, counter: Counter): Facts => {
  const images: Array<ImageFact> = []
  const calls: Array<string> = []
  let thinking = 0
  visitBlocks(message, (block, path) => {
    const image = imageFact(block, path, counter)
    if (image !== undefined) images.push(image)
    else if (
      block.type === "toolCall" &&
      message.role === "assistant" &&
      typeof block.id === "string"
    )
      calls.push(block.id)
    else if (block.type === "thinking") thinking++
  })
  let imageBytes = 0
  for (const image of images) imageBytes += image.bytes
  return {
    print,
    tokens: counter.message(message),
    bytes: bytesOf(message),
    images: images.length === 0 ? NONE : images,
    imageBytes,
    calls: calls.length === 0 ? NONE : calls,
    thinking
  }
}

/** Knows messages by object first, by fingerprint second, so that clones cost one fingerprint. */
export class FactsCache {
  readonly #byObject = new WeakMap<object, Facts>()
  readonly #byPrint = new Map<string, Facts>()
  readonly counter: Counter

  constructor(counter: Counter) {
    this.counter = counter
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

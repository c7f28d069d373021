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
  /** In the provider's own unit, which no learned ratio scales. */
  readonly tokens: number
  readonly bytes: number
}

/** What is worth knowing of a message, found once in its life. */
export interface Facts {
  readonly print: string
  readonly tokens: number
  readonly bytes: number
  readonly images: ReadonlyArray<ImageFact>
  readonly calls: ReadonlyArray<string>
  readonly thinking: number
  /** True where a call has no id or no name, or two have one id that is not empty. */
  readonly oddCalls: boolean
  /** How many messages of the transcript say this; the transcript keeps count. */
  times: number
}

const NONE: ReadonlyArray<never> = []

/** A list that stays, without the room that one which grew has left: most are of one entry, or empty. */
export const exactly = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> =>
  list.length === 0 ? NONE : list.slice()

let lastSize: ImageSize | undefined

/** One object for the same size: an agent's screenshots mostly have one. Closed, since it is not one image's alone. */
const shared = (size: ImageSize | undefined): ImageSize | undefined =>
  size !== undefined &&
  size.width === lastSize?.width &&
  size.height === lastSize.height &&
  size.format === lastSize.format
    ? lastSize
    : (lastSize = size && Object.freeze(size))

export const imageFact = (block: Block, path: string, counter: Counter): ImageFact | undefined => {
  const image = imageOf(block)
  if (image === undefined) return undefined
  const size = image.data === undefined ? undefined : shared(readImageSize(image.data))
  return { path, size, tokens: counter.image(size, image.detail), bytes: image.data?.length ?? 0 }
}

const isCallLike = (block: Block | null): block is ToolCallBlock => block?.type === "toolCall"

/** A call that can be answered. Some providers give empty ids: then its place says which result is its own. */
const isCall = (block: ToolCallBlock): boolean =>
  typeof block.id === "string" && typeof block.name === "string"

/** Closes a message that we made: no strategy may write to what is sent. The host's own are the host's. */
export const frozen = <M extends { readonly content?: unknown }>(message: M): M => {
  Object.freeze(message.content)
  return Object.freeze(message)
}

/** Where the calls stand that can't be answered: those without an id or name, or beyond `answers` of one id. */
export const oddCalls = (
  message: { readonly content?: unknown },
  answers: (id: string) => number
): ReadonlySet<number> => {
  const told = new Map<string, number>()
  const odd = new Set<number>()
  for (const [i, block] of blocksOf(message).entries()) {
    if (!isCallLike(block)) continue
    const nth = isCall(block) ? (told.get(block.id) ?? 0) : 0
    if (!isCall(block) || (block.id !== "" && nth > 0 && nth >= answers(block.id))) odd.add(i)
    else told.set(block.id, nth + 1)
  }
  return odd
}

const mended = new WeakMap<object, Map<string, object>>()

/** The same message without some of its blocks: one object for the same ones. */
export const withoutBlocks = <M extends { readonly content?: unknown }>(
  message: M,
  left: ReadonlySet<number>
): M => {
  let known = mended.get(message) as Map<string, M> | undefined
  if (known === undefined) mended.set(message, (known = new Map<string, M>()))
  const key = [...left].join()
  let clean = known.get(key)
  if (clean === undefined) {
    const content = blocksOf(message).filter((_, i) => !left.has(i))
    known.set(key, (clean = frozen({ ...message, content })))
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
      if (!isCall(block) || (block.id !== "" && calls.includes(block.id))) oddCalls = true
      if (isCall(block)) calls.push(block.id)
    } else if (block.type === "thinking") thinking++
  })
  return {
    print,
    tokens: counter.message(message),
    bytes: messageBytes(message),
    images: exactly(images),
    calls: exactly(calls),
    thinking,
    oddCalls,
    times: 0
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

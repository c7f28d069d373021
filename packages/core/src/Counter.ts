import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { estimateTokens } from "./Estimate.ts"
import { figure } from "./internal/count.ts"
import type { ImageSize } from "./ImageSize.ts"
import { readImageSize } from "./ImageSize.ts"
import type { Block, Message } from "./Message.ts"
import { blocksOf, imageOf, nestedOf } from "./Message.ts"
import type { Profile } from "./Profile.ts"

/** Where a count comes from: the provider's own figure, a real tokenizer, or an estimate. */
export type CountSource = "usage" | "counted" | "estimated"

/** What a request has besides its messages. */
export interface Overhead {
  readonly system?: string | undefined
  /** Tool definitions as the host sends them. */
  readonly tools?: ReadonlyArray<unknown> | undefined
}

/** What a request costs by a counter. */
export interface RequestCount {
  readonly tokens: number
  /** The part of `tokens` that is in the provider's own unit, which no ratio scales: images, tool-use prompts. */
  readonly fixed: number
  /** `estimated` as soon as any part of it is. */
  readonly source: CountSource
}

/** Counts tokens of text, images, messages and whole requests. Synchronous; the same for the same input. */
export interface Counter {
  readonly name: string
  /** Tokens of a text. */
  readonly text: (text: string) => number
  /** Tokens of an image by its pixels; without them, those of a usual screenshot. */
  readonly image: (size: ImageSize | undefined, detail?: string) => number
  /** Tokens of a message with its overhead; remembered per block, so that a second count is free. */
  readonly message: (message: Message) => number
  /** Tokens of all that is sent. */
  readonly request: (
    request: Overhead & { readonly messages: ReadonlyArray<Message> }
  ) => RequestCount
  /**
   * Run once before the first count, for a tokenizer that is loaded when first needed. Requests wait for it,
   * but not where a saved session goes on and the provider's last figure says that what is in force still
   * fits: counts are provisional then, and made anew once it is there.
   */
  readonly ready?: Effect.Effect<void>
}

/** Makes a counter for a profile, with its own scope; what `createMemory` takes beside a ready counter. */
export interface CounterMaker {
  readonly name: string
  readonly start: (profile: Profile) => Effect.Effect<Counter, never, Scope.Scope>
}

/** What a counter is made from; the rest follows. */
export interface CounterParts {
  readonly name: string
  readonly text: (text: string) => number
  readonly image: (size: ImageSize | undefined, detail?: string) => number
  /** Tokens that each message costs beside its blocks; default 4. */
  readonly perMessage?: number
  /** The same for a message that is a tool result, default 10: it names its call. */
  readonly perResult?: number
  /** Tokens of a tool call beside its name and arguments; default 12. */
  readonly perCall?: number
  /** Tokens of all tool definitions; default those of their JSON. */
  readonly tools?: (tools: ReadonlyArray<unknown>) => number
  /** Tokens of the prompt that the provider adds as soon as there are tools, in its own unit; default 0. */
  readonly toolPrompt?: number
  /** What a count of this counter is at best; default `counted`. */
  readonly source?: CountSource
  /** How many texts and images were only estimated so far: tells which messages and requests are. */
  readonly estimates?: () => number
  /** False as long as counts are provisional: they are not remembered then. */
  readonly settled?: () => boolean
  readonly ready?: Effect.Effect<void>
}

/** Tokens of a value's JSON text; 0 for what has none. */
const json = (text: (s: string) => number, value: unknown): number => {
  let s: string | undefined
  try {
    s = JSON.stringify(value)
  } catch {
    return 0
  }
  return s === undefined ? 0 : text(s)
}

/**
 * Makes a whole counter from a text and an image rule.
 *
 * Base64 is never counted as text: images go through the image rule, whatever shape they stand in, and other
 * files cost a rough figure by their size. Counting fails with a `TypeError` where a part gives what is no
 * number of at least 0; in a memory the estimate then stands in for it.
 *
 * @example
 * ```ts
 * import { makeCounter } from "@varve/core/Counter"
 *
 * const words = makeCounter({ name: "words", text: (s) => s.split(" ").length, image: () => 1000, perMessage: 0 })
 * console.log(words.message({ role: "user", content: "one two three" })) // => 3
 * ```
 */
export const makeCounter = (parts: CounterParts): Counter => {
  const { perMessage = 4, perResult = 10, perCall = 12, toolPrompt = 0 } = parts
  const text = (s: string): number => figure(parts.text(s))
  const image: Counter["image"] = (size, detail) => figure(parts.image(size, detail))
  const best = parts.source ?? "counted"
  const known = new WeakMap<object, Count>()
  const estimates = parts.estimates ?? (() => 0)
  const remember = (key: object, count: Count): Count => {
    if (parts.settled?.() ?? true) known.set(key, shared(count))
    return count
  }
  const ofText = (s: string): Count => {
    const before = estimates()
    const tokens = text(s)
    return { tokens, fixed: 0, rough: estimates() !== before }
  }
  const ofJson = (value: object): Count => {
    const before = estimates()
    const binary = { characters: 0 }
    const plain = withoutBinary(value, binary)
    const tokens = json(text, plain) + fileTokens(binary.characters)
    return { tokens, fixed: 0, rough: binary.characters > 0 || estimates() !== before }
  }
  const ofBlock = (block: Block, depth: number): Count => {
    if (typeof block !== "object" || block === null) return NOTHING
    return known.get(block) ?? remember(block, countBlock(block, depth))
  }
  const countBlock = (block: Block, depth: number): Count => {
    const found = imageOf(block)
    if (found !== undefined) {
      const before = estimates()
      const size = found.data === undefined ? undefined : readImageSize(found.data)
      const tokens = image(size, found.detail)
      return { tokens, fixed: tokens, rough: size === undefined || estimates() !== before }
    }
    if (block.type === "text" && typeof block.text === "string") return ofText(block.text)
    if (block.type === "thinking" && typeof block.thinking === "string")
      return ofText(block.thinking)
    if (block.type === "toolCall") {
      const before = estimates()
      const { arguments: given, name } = block
      const tokens =
        perCall + text(String(name)) + (typeof given === "string" ? text(given) : json(text, given))
      return { tokens, fixed: 0, rough: estimates() !== before }
    }
    const nested = nestedOf(block as unknown as Record<string, unknown>)
    if (nested !== undefined && depth < 4) return sum(perResult, nested, depth + 1)
    return ofJson(block)
  }
  const sum = (start: number, blocks: ReadonlyArray<unknown>, depth: number): Count => {
    let tokens = start
    let fixed = 0
    let rough = false
    for (const block of blocks) {
      const count = ofBlock(block as Block, depth)
      tokens += count.tokens
      fixed += count.fixed
      rough ||= count.rough
    }
    return { tokens, fixed, rough }
  }
  const ofMessage = (m: Message): Count => {
    if (typeof m !== "object" || m === null) return NOTHING
    const count = known.get(m) ?? countMessage(m)
    // Of a list of blocks each is remembered.
    return Array.isArray(m.content) ? count : remember(m, count)
  }
  const countMessage = (m: Message): Count => {
    const { role, content, tool_calls: calls } = m as unknown as Record<string, unknown>
    const own = role === "toolResult" || role === "tool" ? perResult : perMessage
    if (content === undefined || content === null) {
      // As in what identifies it: when the host wrote it down is the host's.
      const { timestamp: _, ...said } = m as unknown as Record<string, unknown>
      const count = ofJson(said)
      return { ...count, tokens: count.tokens + own }
    }
    return sum(own, Array.isArray(calls) ? [...blocksOf(m), ...calls] : blocksOf(m), 0)
  }
  return {
    name: parts.name,
    text,
    image,
    message: (m) => ofMessage(m).tokens,
    request: ({ system, tools = [], messages }) => {
      const before = estimates()
      let tokens = system === undefined ? 0 : text(system) + perMessage
      let fixed = tools.length === 0 ? 0 : toolPrompt
      if (tools.length > 0) {
        tokens += toolPrompt
        if (parts.tools !== undefined) tokens += figure(parts.tools(tools))
        else for (const tool of tools) tokens += json(text, tool)
      }
      let rough = estimates() !== before
      for (const m of messages) {
        const count = ofMessage(m)
        tokens += count.tokens
        fixed += count.fixed
        rough ||= count.rough
      }
      return { tokens, fixed, source: rough && best === "counted" ? "estimated" : best }
    },
    ...(parts.ready === undefined ? {} : { ready: parts.ready })
  }
}

/** What is known of a message or a block. `rough`: estimated, whatever the counter is. */
interface Count {
  readonly tokens: number
  readonly fixed: number
  readonly rough: boolean
}

const NOTHING: Count = { tokens: 0, fixed: 0, rough: false }

const small = Array.from({ length: 1024 }, (_, tokens): Count => ({ ...NOTHING, tokens }))

/** One object for all small counts that are alike: many are kept. */
const shared = (count: Count): Count =>
  count.fixed > 0 || count.rough ? count : (small[count.tokens] ?? count)

/** A copy without long runs of base64, which no provider counts as text; says how long they were. */
const withoutBinary = (value: object, found: { characters: number }): unknown => {
  let budget = 10_000
  const strip = (u: unknown, depth: number): unknown => {
    if (budget-- < 0 || depth > 8) return undefined
    if (typeof u === "string") {
      if (u.length <= 4096 || u.slice(0, 4096).includes(" ")) return u
      found.characters += u.length
      return undefined
    }
    if (Array.isArray(u)) return u.map((x) => strip(x, depth + 1))
    if (typeof u !== "object" || u === null) return u
    return Object.fromEntries(Object.entries(u).map(([k, v]) => [k, strip(v, depth + 1)]))
  }
  return strip(value, 0)
}

/** A guess for files that aren't images: a page of about 1 600 tokens for each 50 KB of base64. */
const fileTokens = (characters: number): number => 1600 * Math.ceil(characters / 50_000)

/** Tokens of an image where no model's own rule is known: 28-px patches, at most 4 784; 1 600 without a size. */
export const estimateImage = (size: ImageSize | undefined): number =>
  size === undefined
    ? 1600
    : Math.min(4784, Math.ceil(size.width / 28) * Math.ceil(size.height / 28))

/** The default counter: a deterministic estimate, without a tokenizer. */
export const estimateCounter = (): Counter =>
  makeCounter({
    name: "estimate",
    text: estimateTokens,
    image: estimateImage,
    source: "estimated"
  })

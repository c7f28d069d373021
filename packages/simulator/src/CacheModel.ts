import type { CacheRule } from "@varve/core/Profile"
import { hashText } from "./internal/hash.ts"

/**
 * How a provider's prompt cache behaves.
 *
 * - `anthropic`: written at marks only, read by looking back up to 20 positions from each mark.
 * - `openai-56`: written at the latest message that may carry a mark, read there and at 20 earlier ones.
 * - `lcp`: the longest common prefix with any request that is still alive, in steps of 128 tokens.
 * - `none`: nothing is cached.
 */
export type CacheKind = "anthropic" | "openai-56" | "lcp" | "none"

/** The cache rule that a profile's facts describe. */
export const cacheKindOf = ({ cache }: { readonly cache: CacheRule }): CacheKind => {
  if (cache.kind === "prefix") return "lcp"
  if (cache.kind === "none") return "none"
  return cache.implicit === true ? "openai-56" : "anthropic"
}

/** One piece of a request: its content as a key, its tokens, and whether a message ends with it. */
export interface Piece {
  readonly key: string
  readonly tokens: number
  /** True at the end of a user message or of the last result of a group: a mark may stand here. */
  readonly markable: boolean
}

/** What a request is billed as, in tokens of input. */
export interface Billed {
  readonly read: number
  readonly write: number
  readonly uncached: number
}

export interface CacheOptions {
  /** Shortest prefix that is cached, tokens. */
  readonly minimum: number
  /** Lifetime in ms since the last use. */
  readonly lifetime: number
}

/** Positions that a read looks back from a mark. */
const LOOKBACK = 20
/** Entries that a request writes at most. */
const WRITES = 4
/** Hits of the longest common prefix are multiples of this. */
const STEP = 128

interface Laid {
  /** Hash of everything up to and with each piece. */
  readonly prefix: ReadonlyArray<string>
  /** Tokens up to and with each piece. */
  readonly sums: ReadonlyArray<number>
}

const layOut = (pieces: ReadonlyArray<Piece>): Laid => {
  const prefix: Array<string> = []
  const sums: Array<number> = []
  let hash = ""
  let sum = 0
  for (const { key, tokens } of pieces) {
    hash = hashText(hash + "\n" + key)
    sum += tokens
    prefix.push(hash)
    sums.push(sum)
  }
  return { prefix, sums }
}

/** A provider's cache of one session: takes requests in order and says what each is billed as. */
export class CacheModel {
  readonly kind: CacheKind
  readonly #options: CacheOptions
  /** Until when a prefix is alive, ms. */
  readonly #alive = new Map<string, number>()

  constructor(kind: CacheKind, options: CacheOptions) {
    this.kind = kind
    this.#options = options
  }

  /**
   * Bills a request. `marks` are positions of pieces after which a mark stands; the last four are written.
   * Without them one stands after the last piece that can carry one. `at` is the time in ms.
   */
  bill(pieces: ReadonlyArray<Piece>, at: number, marks?: ReadonlyArray<number>): Billed {
    const laid = layOut(pieces)
    const total = laid.sums.at(-1) ?? 0
    if (this.kind === "none") return { read: 0, write: 0, uncached: total }
    if (this.kind === "lcp") return this.#longest(laid, total, at)
    const latest = pieces.findLastIndex((p) => p.markable)
    return this.#marked(pieces, laid, total, at, marks ?? (latest < 0 ? [] : [latest]))
  }

  #isAlive(hash: string | undefined, at: number): boolean {
    return hash !== undefined && (this.#alive.get(hash) ?? -Infinity) >= at
  }

  #longest({ prefix, sums }: Laid, total: number, at: number): Billed {
    let hit = 0
    for (let i = prefix.length - 1; i >= 0; i--) {
      if (!this.#isAlive(prefix[i], at)) continue
      hit = Math.floor(sums[i]! / STEP) * STEP
      break
    }
    if (hit < this.#options.minimum) hit = 0
    if (total >= this.#options.minimum) {
      for (const hash of prefix) this.#alive.set(hash, at + this.#options.lifetime)
    }
    return { read: hit, write: total - hit, uncached: 0 }
  }

  #marked(
    pieces: ReadonlyArray<Piece>,
    { prefix, sums }: Laid,
    total: number,
    at: number,
    marks: ReadonlyArray<number>
  ): Billed {
    const { minimum, lifetime } = this.#options
    const usable = marks
      .filter((m) => m >= 0 && m < pieces.length && sums[m]! >= minimum)
      .toSorted((a, b) => a - b)
    const last = usable.at(-1)
    if (last === undefined) return { read: 0, write: 0, uncached: total }
    let hit = -1
    const look = (from: number): void => {
      if (this.#isAlive(prefix[from], at) && from > hit) hit = from
    }
    if (this.kind === "anthropic") {
      for (const mark of usable.slice(-WRITES))
        for (let j = mark; j > mark - LOOKBACK && j >= 0; j--) look(j)
    } else {
      // Breakpoints match exactly: where one stands, and at the latest 20 messages that could carry one.
      for (const mark of usable) look(mark)
      let seen = 0
      for (let j = last; j >= 0 && seen <= LOOKBACK; j--) {
        if (!pieces[j]!.markable) continue
        seen++
        look(j)
      }
    }
    const read = hit < 0 ? 0 : sums[hit]!
    if (hit >= 0) this.#alive.set(prefix[hit]!, at + lifetime)
    for (const mark of usable.slice(-WRITES)) this.#alive.set(prefix[mark]!, at + lifetime)
    const upTo = sums[last]!
    return { read, write: Math.max(0, upTo - read), uncached: total - Math.max(upTo, read) }
  }
}

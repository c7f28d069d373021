import type { CacheRule } from "@varve/core/Profile"
import { hashText } from "./internal/hash.ts"
import { settingsOf } from "./internal/settings.ts"

/**
 * How a provider's prompt cache behaves.
 *
 * - `anthropic`: written at marks only, read by looking back up to 20 positions from each mark.
 * - `openai-56`: written at marks and at the latest message that may carry one, where the provider sets a mark by
 *   itself; read there, at the 20 messages before it that may carry one, and at marks.
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
  /** Positions that it counts for where a read looks back: blocks, calls in a row as one. Default 1. */
  readonly positions?: number
}

/** What a request is billed as, in tokens of input. */
export interface Billed {
  readonly read: number
  readonly write: number
  readonly uncached: number
}

/**
 * What a cache is made from; a profile's `cache` will do. `minimum`: shortest prefix that is cached, tokens;
 * `lifetime`: ms since the last use; `marks`: entries that a request writes at most (default 4); `lookback`:
 * positions that a read looks back from a mark (default 20); `step`: hits of the longest common prefix are
 * multiples of so many tokens (default 128).
 */
export type CacheOptions = Pick<CacheRule, "minimum" | "lifetime" | "marks" | "lookback" | "step">

interface Laid {
  /** Hash of everything up to and with each piece. */
  readonly prefix: ReadonlyArray<string>
  /** Tokens up to and with each piece. */
  readonly sums: ReadonlyArray<number>
  /** Positions up to and with each piece. */
  readonly places: ReadonlyArray<number>
}

/** Lays out a request; what it begins with as the one before did is taken over from there. */
const layOut = (
  pieces: ReadonlyArray<Piece>,
  before: ReadonlyArray<Piece>,
  { prefix: hashes, sums: totals, places: positionsOf }: Laid
): Laid => {
  const isSame = (i: number): boolean => {
    const [a, b] = [pieces[i]!, before[i]!]
    return a.key === b.key && a.tokens === b.tokens && a.positions === b.positions
  }
  const most = Math.min(pieces.length, before.length)
  let same = 0
  while (same < most && isSame(same)) same++
  const prefix = hashes.slice(0, same)
  const sums = totals.slice(0, same)
  const places = positionsOf.slice(0, same)
  let hash = prefix.at(-1) ?? ""
  let sum = sums.at(-1) ?? 0
  let place = places.at(-1) ?? 0
  for (let i = same; i < pieces.length; i++) {
    const { key, positions = 1, tokens } = pieces[i]!
    hash = hashText(hash + "\n" + key)
    prefix.push(hash)
    sums.push((sum += tokens))
    places.push((place += positions))
  }
  return { prefix, sums, places }
}

/** So many prefixes are never looked through for dead ones. */
const FEW = 10_000

/** A provider's cache of one session: takes requests in order and says what each is billed as. */
export class CacheModel {
  readonly kind: CacheKind
  readonly #options: Required<CacheOptions>
  /** Until when a prefix is alive, ms. */
  readonly #alive = new Map<string, number>()
  /** How many prefixes are known before those that are dead are taken out. */
  #forgetFrom = FEW

  /** The request before. */
  #before: ReadonlyArray<Piece> = []
  #laid: Laid = { prefix: [], sums: [], places: [] }

  constructor(kind: CacheKind, options: CacheOptions) {
    this.kind = kind
    this.#options = settingsOf(options)
  }

  /**
   * Bills a request. `marks` are positions of pieces after which a mark stands; the last four are written.
   * Without them one stands after the last piece that can carry one; under `openai-56` one always stands there.
   * `at` is the time in ms.
   */
  bill(pieces: ReadonlyArray<Piece>, at: number, marks?: ReadonlyArray<number>): Billed {
    this.#forget(at)
    const laid = layOut(pieces, this.#before, this.#laid)
    // A copy: the caller may go on with its list.
    this.#before = pieces.slice()
    this.#laid = laid
    const total = laid.sums.at(-1) ?? 0
    if (this.kind === "none") return { read: 0, write: 0, uncached: total }
    if (this.kind === "lcp") return this.#longest(laid, total, at)
    const latest = pieces.findLastIndex((p) => p.markable)
    const set =
      this.kind === "anthropic" && marks !== undefined ? marks : [...(marks ?? []), latest]
    return this.#marked(pieces, laid, total, at, set)
  }

  /** Takes out what is dead, once as much has been added as was alive: a long run would keep all that it ever sent. */
  #forget(at: number): void {
    if (this.#alive.size < this.#forgetFrom) return
    for (const [hash, until] of this.#alive) if (until < at) this.#alive.delete(hash)
    this.#forgetFrom = Math.max(FEW, 2 * this.#alive.size)
  }

  #isAlive(hash: string | undefined, at: number): boolean {
    return hash !== undefined && (this.#alive.get(hash) ?? -Infinity) >= at
  }

  #longest({ prefix, sums }: Laid, total: number, at: number): Billed {
    let hit = 0
    for (let i = prefix.length - 1; i >= 0; i--) {
      if (!this.#isAlive(prefix[i], at)) continue
      hit = Math.floor(sums[i]! / this.#options.step) * this.#options.step
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
    { places, prefix, sums }: Laid,
    total: number,
    at: number,
    marks: ReadonlyArray<number>
  ): Billed {
    const { lifetime, lookback, marks: most, minimum } = this.#options
    const usable = [...new Set(marks)]
      .filter((m) => m >= 0 && m < pieces.length && sums[m]! >= minimum)
      .toSorted((a, b) => a - b)
    const written = usable.slice(-most)
    const last = usable.at(-1)
    if (last === undefined) return { read: 0, write: 0, uncached: total }
    let hit = -1
    const look = (from: number): void => {
      if (this.#isAlive(prefix[from], at) && from > hit) hit = from
    }
    if (this.kind === "anthropic") {
      for (const mark of written)
        for (let j = mark; j >= 0 && places[mark]! - places[j]! < lookback; j--) look(j)
    } else {
      // Breakpoints match exactly: where one stands, and at the latest messages that could carry one.
      for (const mark of usable) look(mark)
      let seen = 0
      for (let j = last; j >= 0 && seen <= lookback; j--) {
        if (!pieces[j]!.markable) continue
        seen++
        look(j)
      }
    }
    const read = hit < 0 ? 0 : sums[hit]!
    if (hit >= 0) this.#alive.set(prefix[hit]!, at + lifetime)
    for (const mark of written) this.#alive.set(prefix[mark]!, at + lifetime)
    const upTo = sums[last]!
    return { read, write: upTo - read, uncached: total - upTo }
  }
}

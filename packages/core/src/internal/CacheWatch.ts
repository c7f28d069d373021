import type { CacheBreak } from "../CacheBreak.ts"
import { usageTokens } from "../Calibration.ts"
import type { ReportedUsage } from "../Memory.ts"
import type { Message } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import type { Item } from "./items.ts"
import { GroupItem } from "./items.ts"
import { printsOf } from "./Overheads.ts"
import type { Sent } from "./Session.ts"

/** Share of what was expected that may be missing: hits come in steps, and a last mark may stand further up. */
const MARGIN = 0.05

/** Holds what a provider read from its cache against what the request before had left there. */
export class CacheWatch {
  #before: { readonly sent: Sent; readonly cached: number } | undefined
  #isEmpty = false
  /** True once anything was read or written: many hosts report zeros where nothing is known. */
  #reports = false

  /**
   * True where the provider has nothing of this session in its cache: by the time since the last request, by what
   * that one has shown, or because it has none.
   */
  isCold({ kind, lifetime }: Profile["cache"], last: number | undefined, now: number): boolean {
    if (kind === "none") return true
    return last !== undefined && (now - last > lifetime || this.#isEmpty)
  }

  /** Takes the usage of a request. Gives the break, where it read less than it should have. */
  take(sent: Sent, usage: ReportedUsage, { cache }: Profile): CacheBreak | undefined {
    const total = usageTokens(usage)
    const { cacheRead: read, cacheWrite: write = 0 } = usage
    const before = this.#before
    this.#before = undefined
    this.#isEmpty = false
    if (cache.kind === "none" || read === undefined || total === undefined) return undefined
    if (read + write > 0) this.#reports = true
    if (!this.#reports) return undefined
    // Without a fee for writing nobody reports writes: then the whole request is cached.
    const whole = cache.kind === "prefix" ? total : read + write
    // What stood at the tail can't be read again.
    const cached = Math.min(
      whole,
      total * (sent.tail === undefined ? 1 : sent.tail.before / sent.estimate)
    )
    this.#before = { sent, cached }
    if (before === undefined || before.sent === sent) return undefined
    const expected = before.cached
    if (expected - read <= Math.max(cache.minimum, MARGIN * expected)) return undefined
    const cause = causeOf(before.sent, sent, cache.lifetime)
    // What the host wrote is told once: from here on it is what the next request is held against.
    if (cause.cause === "tools" || cause.cause === "system")
      this.#before = { sent: { ...sent, besides: reprinted(sent.besides) }, cached }
    // What changed is written anew. Where nothing did and nothing was written, there is nothing to lose. Where
    // writing is free nobody reports it: what was missed has been cached again.
    this.#isEmpty = cache.kind === "marks" && read + write === 0 && cause.position === null
    return { expected, actual: read, ...cause }
  }
}

const reprinted = (besides: Sent["besides"]): Sent["besides"] =>
  besides && { ...besides, print: printsOf(besides) }

const isEqual = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

const causeOf = (
  before: Sent,
  now: Sent,
  lifetime: number
): Pick<CacheBreak, "cause" | "position"> => {
  // What they say now, not when they were counted: a host may write to the same objects.
  const [was, is] = [before.besides?.print, now.besides && printsOf(now.besides)]
  if (was?.tools !== is?.tools) return { cause: "tools", position: null }
  if (was?.system !== is?.system) return { cause: "system", position: null }
  const change = firstChange(before, now)
  if (change !== undefined) {
    const isOurs = before.edits !== now.edits && !change.isHosts
    return { cause: isOurs ? "edit" : "host", position: change.at }
  }
  if (now.at - before.at > lifetime) return { cause: "expired", position: null }
  return { cause: before.tail === undefined ? "unknown" : "tail", position: null }
}

interface Change {
  readonly at: number
  /** True where the host's own messages are others. */
  readonly isHosts: boolean
}

/** True where two items stand for messages of the host's that are not the same, one added at the end aside. */
const isHosts = (before: Item, now: Item | undefined): boolean => {
  if (!(before instanceof GroupItem) || !(now instanceof GroupItem)) return false
  const [was, is] = [before, now].map(({ group }) => group.entries.map(({ message }) => message))
  return firstDifference(was!, is!) < was!.length
}

/** The first message of `now` that doesn't stand as it did; nothing where all of `before` does. */
const firstChange = (before: Sent, now: Sent): Change | undefined => {
  const memosSame = before.memo === now.memo && before.memoPlace === now.memoPlace
  const place = Math.min(before.memoPlace, now.memoPlace)
  let at = 0
  for (let i = 0; i < before.items.length; i++) {
    if (i === place) {
      if (!memosSame) return { at, isHosts: false }
      at += now.memos
    }
    const item = before.items.at(i)!
    const other = now.items.at(i)
    if (item === other) {
      at += item.messages.length
      continue
    }
    const shown = other?.messages ?? []
    const same = firstDifference(item.messages, shown)
    at += same
    // A group at the end grows as results come in.
    const grew = i < before.items.length - 1 && same < shown.length
    if (same < item.messages.length || grew) return { at, isHosts: isHosts(item, other) }
  }
  return memosSame || place < before.items.length ? undefined : { at, isHosts: false }
}

const firstDifference = (a: ReadonlyArray<Message>, b: ReadonlyArray<Message>): number => {
  let i = 0
  while (i < a.length && i < b.length && isEqual(a[i], b[i])) i++
  return i
}

import { isDeepStrictEqual } from "node:util"
import type { Limits } from "@varve/core/Budget"
import type { Counter, Overhead } from "@varve/core/Counter"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import type { IsPinned } from "./HardPart.ts"
import { hardPart, isFixed, measureHardPart, taskIndex } from "./HardPart.ts"
import type { Origin } from "./internal/origins.ts"
import type { Parted } from "./internal/tail.ts"
import { partTail } from "./internal/tail.ts"
import { contentOf, editFault, isRecord, isText, originsOf, roleOf } from "./internal/origins.ts"
import { measure, overLimits } from "./Measure.ts"

/** The invariants that every view must hold. */
export type Rule = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I9" | "I10"

/** One invariant that does not hold. */
export interface Violation {
  readonly rule: Rule
  /** Index in the output, where one message is at fault; else -1. */
  readonly at: number
  readonly what: string
}

/** One request: what went in and what came out. Freeze the input with `deepFreeze` first. */
export interface Prepared {
  readonly input: ReadonlyArray<Message>
  readonly output: ReadonlyArray<Message>
  readonly counter?: Counter
  /** Counts what edits are judged by, before anything was learned of the model; default: `counter`. */
  readonly estimate?: Counter
  readonly overhead?: Overhead
  /** The limits that hold; without them I10 is not checked. */
  readonly limits?: Partial<Limits>
  readonly isPinned?: IsPinned
  /** Says which of our texts are memos: they may add to the cost. */
  readonly isMemo?: (message: Message) => boolean
  /** Says which of our texts stand at the tail: another one may take their place in the next request. */
  readonly isTail?: (text: string) => boolean
  readonly startsWithUser?: boolean
  /** True where a message with calls may not stand right behind another assistant message. */
  readonly alternates?: boolean | undefined
  /** True where no guard has cut in this session: what is softly protected must then be whole. */
  readonly unguarded?: boolean
}

type Found = Array<Violation>

const isSpoken = (message: Message): boolean =>
  ["user", "assistant", "toolResult"].includes(roleOf(message) ?? "")

const turnFaults = (messages: ReadonlyArray<Message>): number =>
  checkValidity(messages, { alternates: true }).filter((f) => f.rule === "turns").length

const validity = (
  { alternates, input, output, startsWithUser }: Prepared,
  origins: ReadonlyArray<Origin>,
  found: Found
): void => {
  const crowded = turnFaults(input) > 0
  for (const { at, rule, what } of checkValidity(output, {
    startsWithUser: startsWithUser === true,
    alternates: alternates === true && !crowded
  })) {
    found.push({ rule: rule === "empty" ? "I2" : "I1", at, what })
  }
  const asked = input.some((m) => roleOf(m) === "user") && checkValidity(input).length === 0
  if (asked && !output.some(isSpoken))
    found.push({ rule: "I2", at: -1, what: "nothing of the conversation is left" })
  output.forEach((message, at) => {
    if (roleOf(message) !== "assistant" || origins[at]?.kind === "same") return
    if (contentOf(message).every((b) => isRecord(b) && b["type"] === "thinking")) {
      found.push({ rule: "I2", at, what: "only reasoning is left of it" })
    }
  })
}

const textsOf = (message: unknown): ReadonlyArray<string> =>
  contentOf(message).flatMap((b) => (isText(b) && b.text.trim() !== "" ? [b.text] : []))

const protection = (p: Prepared, origins: ReadonlyArray<Origin>, found: Found): void => {
  const { input, output } = p
  const lost = (what: string) => found.push({ rule: "I3", at: -1, what })
  const before = input.filter(isFixed)
  const after = output.filter(isFixed)
  if (before.length !== after.length || before.some((m, i) => m !== after[i])) {
    lost(
      `system messages and unknown roles: ${before.length} went in, ${after.length} came out, or not the same`
    )
  }
  const shown = new Set(origins.flatMap((o) => (o.kind === "same" ? [o.index] : [])))
  if (p.isPinned !== undefined) {
    input.forEach((m, i) => {
      if (isRecord(m) && p.isPinned?.(m, i) === true && !shown.has(i))
        lost(`the pinned message ${i} is not whole`)
    })
  }
  const task = taskIndex(input)
  const texts = textsOf(input[task])
  const whole = output.some((m) => {
    const there = roleOf(m) === "user" ? textsOf(m) : []
    let at = -1
    return texts.every((text) => (at = there.indexOf(text, at + 1)) >= 0)
  })
  if (task >= 0 && texts.length > 0 && !whole) lost("the text of the task")
  if (p.unguarded === true) for (const what of softFaults(input, output, shown)) lost(what)
}

/** Of what is softly protected, what is missing or not whole. */
const softFaults = (
  input: ReadonlyArray<Message>,
  output: ReadonlyArray<Message>,
  shown: ReadonlySet<number>
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const user = input.findLastIndex((m) => roleOf(m) === "user")
  if (user >= 0 && !shown.has(user)) faults.push("the newest user message is not whole")
  const caller = input.findLastIndex((m) => roleOf(m) === "assistant")
  if (caller >= 0 && roleOf(input.at(-1)) === "toolResult") {
    for (let i = caller; i < input.length; i++) {
      if (!shown.has(i)) faults.push(`message ${i}, which the model has not seen, is not whole`)
    }
  }
  const images = input.flatMap((m) =>
    contentOf(m).filter((b) => isRecord(b) && b["type"] === "image")
  )
  const newest = images.at(-1)
  if (newest !== undefined && !output.some((m) => contentOf(m).includes(newest)))
    faults.push("the newest screenshot is gone")
  return faults
}

const order = ({ input }: Prepared, origins: ReadonlyArray<Origin>, found: Found): void => {
  const broken = checkValidity(input).length > 0
  origins.forEach((origin, at) => {
    if (origin.kind === "unknown") found.push({ rule: "I4", at, what: origin.why })
    if (origin.kind === "mended" && !broken)
      found.push({ rule: "I4", at, what: "a result was put in, but none was missing" })
  })
}

/** What may stand for an image. */
const WORDS: Message = { role: "user", content: "[image left out]" }

const cost = (p: Prepared, counter: Counter, found: Found): void => {
  const startsWithUser = p.startsWithUser === true
  if (checkValidity(p.input, { startsWithUser }).length > 0) return
  const isMemo = p.isMemo ?? (() => false)
  const before = measure(p.input, counter)
  const after = measure(
    p.output.filter((m) => !isMemo(m)),
    counter
  )
  // Where an image of a few tokens broke another limit, the words that stand for it may cost more.
  const words =
    p.unguarded === true
      ? 0
      : (before.images - after.images) * counter.request({ messages: [WORDS] }).tokens
  for (const axis of ["tokens", "images", "imageBytes"] as const) {
    if (after[axis] > before[axis] + (axis === "tokens" ? words : 0)) {
      found.push({
        rule: "I5",
        at: -1,
        what: `${axis} grew from ${before[axis]} to ${after[axis]}`
      })
    }
  }
}

/** What a text may be added to: what a user or a tool says, where it is no error. */
const mayHold = (message: Message): boolean =>
  message.role === "user" || (message.role === "toolResult" && message.isError !== true)

/** Host messages stay the host's objects, block by block. */
const shared = (
  { input, output }: Prepared,
  origins: ReadonlyArray<Origin>,
  found: Found
): void => {
  origins.forEach((origin, at) => {
    if (origin.kind !== "edited") return
    const what = editFault(input[origin.index]!, output[at]!)
    if (what !== undefined) found.push({ rule: "I8", at, what })
  })
}

const sharing = (p: Prepared, origins: ReadonlyArray<Origin>, found: Found): void => {
  const { input, output } = p
  shared(p, origins, found)
  const untouched = input.length === output.length && output.every((m, i) => m === input[i])
  if (untouched && output !== input) {
    found.push({ rule: "I8", at: -1, what: "nothing changed, but it is another array" })
  }
}

/**
 * Checks one request against I1 to I5, I8 and I10, each by its own count, with nothing of the memory's
 * own bookkeeping. Empty where all hold.
 *
 * @example
 * ```ts
 * import { checkPrepared } from "@varve/testkit/Invariants"
 *
 * const input = [{ role: "user" as const, content: "hi" }]
 * console.log(checkPrepared({ input, output: [] }).map((v) => v.rule)) // => [ 'I2', 'I3' ]
 * ```
 */
export const checkPrepared = (p: Prepared): ReadonlyArray<Violation> => {
  const found: Found = []
  const counter = p.counter ?? estimateCounter()
  const { at, body, holder } = partTail(p.input, p.output, p.isTail)
  const origins = originsOf(p.input, body)
  const own = { ...p, output: body }
  validity(p, origins, found)
  protection(own, origins, found)
  order(own, origins, found)
  cost(own, p.estimate ?? counter, found)
  if (body === p.output) sharing(p, origins, found)
  else shared(own, origins, found)
  if (holder !== undefined && !mayHold(holder))
    found.push({ rule: "I8", at, what: "a text of ours stands in what may not be added to" })
  if (p.limits !== undefined) {
    for (const what of overLimits(measure(p.output, counter, p.overhead), p.limits)) {
      found.push({ rule: "I10", at: -1, what })
    }
  }
  return found
}

/** Tokens that one short message of ours may take: what is left of a history in which nothing is protected. */
const NOTE = 64

const isTurn = (message: Message): boolean => roleOf(message) !== "system"

/** How many turns of a user's have to part what is hard-protected, the model's next message behind it included. */
const turnsNeeded = ({ input, isPinned }: Omit<Prepared, "output">): number => {
  const hard = hardPart(input, isPinned)
  const endsWith = (list: ReadonlyArray<Message>) => roleOf(list.findLast(isTurn)) === "assistant"
  return turnFaults(hard) + (endsWith(hard) && !endsWith(input) ? 1 : 0)
}

/** I10, the other half: `ContextOverflow` came though what is hard-protected fits by itself. */
export const checkOverflow = (p: Omit<Prepared, "output">): ReadonlyArray<Violation> => {
  const hard = measureHardPart(p.input, p.counter ?? estimateCounter(), p.overhead, p.isPinned)
  const startsWithUser = p.startsWithUser === true
  const needsNote = (list: ReadonlyArray<Message>): boolean =>
    list.every(isFixed) || checkValidity(list, { startsWithUser }).some((f) => f.rule === "first")
  // Where nothing is left, or nothing that a request may begin with, a short note of ours has to stand.
  const empty = needsNote(p.input) || needsNote(hardPart(p.input, p.isPinned))
  // The same where a turn of the user's has to stand between two of the assistant's.
  const between = p.alternates === true ? turnsNeeded(p) : 0
  const notes = (empty ? 1 : 0) + between
  const least = { ...hard, tokens: hard.tokens + notes * NOTE, messages: hard.messages + notes }
  if (overLimits(least, p.limits ?? {}).length > 0) return []
  return [
    {
      rule: "I10",
      at: -1,
      what: `ContextOverflow, but what is hard-protected fits: ${JSON.stringify(least)}`
    }
  ]
}

const firstDifference = (a: ReadonlyArray<Message>, b: ReadonlyArray<Message>): number => {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (a[i] !== b[i] && !isDeepStrictEqual(a[i], b[i])) return i
  }
  return -1
}

/** I6: the same head prepared twice gives the same result. */
export const checkSame = (
  first: ReadonlyArray<Message>,
  second: ReadonlyArray<Message>
): ReadonlyArray<Violation> => {
  const at = firstDifference(first, second)
  return at < 0 ? [] : [{ rule: "I6", at, what: "the second result for one head is another" }]
}

/** I9: two memories that saw the same, or one that was restarted, give the same bytes. */
export const checkDeterministic = (
  one: ReadonlyArray<Message>,
  other: ReadonlyArray<Message>
): ReadonlyArray<Violation> => {
  const at = firstDifference(one, other)
  return at < 0
    ? []
    : [{ rule: "I9", at, what: "two memories give other bytes for the same history" }]
}

/** A text beside which another one stood is a block. */
const asBlocks = (message: Message): Message =>
  typeof message?.content === "string"
    ? ({ ...message, content: contentOf(message) } as Message)
    : message

/**
 * I7: `next` is a request of the same session whose history goes on from `previous`. What was edited stays
 * edited; and where no edit came into force, what was sent before stands unchanged at the front, all but the tail.
 */
export const checkGrowth = (
  previous: Prepared,
  next: Prepared,
  options: { readonly committed: boolean }
): ReadonlyArray<Violation> => {
  const found: Found = []
  const [was, is] = [previous, next].map((p) => partTail(p.input, p.output, p.isTail)) as [
    Parted,
    Parted
  ]
  const shown = ({ input }: Prepared, { body }: Parted) =>
    new Set(originsOf(input, body).flatMap((o) => (o.kind === "same" ? [o.index] : [])))
  const before = shown(previous, was)
  /** Where a text was added to one of several that are alike, nothing says to which. */
  const alike = ({ content, role }: Message): boolean =>
    (was.holder ?? is.holder) !== undefined &&
    typeof content === "string" &&
    [...before].some(
      (i) => previous.input[i]!.role === role && previous.input[i]!.content === content
    )
  for (const index of shown(next, is)) {
    if (index < previous.input.length && !before.has(index) && !alike(next.input[index]!)) {
      found.push({ rule: "I7", at: -1, what: `message ${index} was edited and is whole again` })
    }
  }
  if (!options.committed) {
    // As it was sent up to the tail, and what is left without it.
    const end = Math.min(was.at, is.at)
    const sent = firstDifference(previous.output.slice(0, end), next.output.slice(0, end))
    const [whole, now] = [was.body, is.body.slice(0, was.body.length)]
    const at = sent >= 0 ? sent : firstDifference(whole.map(asBlocks), now.map(asBlocks))
    if (at >= 0)
      found.push({ rule: "I7", at, what: "no edit came into force, but the prefix changed" })
  }
  return found
}

/** Violations as one text, for an assertion's message. */
export const explain = (violations: ReadonlyArray<Violation>): string =>
  violations.map(({ rule, at, what }) => `${rule}${at < 0 ? "" : ` at ${at}`}: ${what}`).join("\n")

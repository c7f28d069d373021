import * as fc from "fast-check"
import type { Message } from "@varve/core/Message"
import type { HistoryOptions } from "./Histories.ts"
import { histories } from "./Histories.ts"

type Loose = Record<string, unknown>
type Break = (messages: ReadonlyArray<unknown>, at: number) => ReadonlyArray<unknown>

const isRole = (u: unknown, role: string): u is Loose =>
  typeof u === "object" && u !== null && (u as Loose)["role"] === role

/** The first message of a role at or behind a position, else the first at all. */
const seek = (messages: ReadonlyArray<unknown>, role: string, at: number): number => {
  const behind = messages.findIndex((m, i) => i >= at && isRole(m, role))
  return behind >= 0 ? behind : messages.findIndex((m) => isRole(m, role))
}

/** Changes one message of a role; nothing where there is none. */
const change =
  (role: string, f: (message: Loose) => unknown): Break =>
  (messages, at) => {
    const i = seek(messages, role, at)
    return i < 0 ? messages : messages.with(i, f(messages[i] as Loose))
  }

const remove =
  (role: string): Break =>
  (messages, at) => {
    const i = seek(messages, role, at)
    return i < 0 ? messages : messages.toSpliced(i, 1)
  }

const insert =
  (...given: ReadonlyArray<unknown>): Break =>
  (messages, at) =>
    messages.toSpliced(at, 0, ...given)

const copy =
  (role: string, away: number): Break =>
  (messages, at) => {
    const i = seek(messages, role, at)
    return i < 0 ? messages : messages.toSpliced(i + away, 0, messages[i])
  }

const blocks = (content: unknown): ReadonlyArray<unknown> => (Array.isArray(content) ? content : [])

const withBlock = (role: string, block: unknown): Break =>
  change(role, (m) => ({ ...m, content: [...blocks(m["content"]), block] }))

const call = (id: unknown) => ({ type: "toolCall", id, name: "click", arguments: {} })

/** Everything that field reports and fuzzers found in histories, by name. */
const breaks: Readonly<Record<string, Break>> = {
  nothing: insert(null),
  hole: insert(undefined),
  odds: insert("hello", 7, [], {}, { role: 3 }, { content: "no role" }),
  orphan: insert({
    role: "toolResult",
    toolCallId: "none",
    toolName: "x",
    content: "lost",
    isError: false
  }),
  noCallId: insert({ role: "toolResult", content: [{ type: "text", text: "whose?" }] }),
  lateResult: copy("toolResult", 3),
  secondResult: copy("toolResult", 1),
  lostResult: remove("toolResult"),
  lostCaller: remove("assistant"),
  lostUser: remove("user"),
  copiedCaller: copy("assistant", 1),
  sameIdTwice: change("assistant", (m) => ({
    ...m,
    content: [...blocks(m["content"]), ...blocks(m["content"])]
  })),
  calledAgain: insert({ role: "assistant", content: [call("c0")] }),
  dangling: withBlock("assistant", call("never")),
  callWithoutId: withBlock("assistant", call(undefined)),
  halfCall: withBlock("assistant", { type: "toolCall", id: "half", name: "click" }),
  noContent: change("user", (m) => ({ ...m, content: undefined })),
  emptyUser: insert({ role: "user", content: [] }),
  blankUser: insert({ role: "user", content: " \n" }),
  emptyAssistant: insert({ role: "assistant", content: [] }),
  emptyBlocks: insert({ role: "assistant", content: [{ type: "text", text: "" }] }),
  aborted: insert({ role: "assistant", content: [call("cut")], stopReason: "aborted" }),
  halfAborted: insert(
    { role: "assistant", content: [call("made"), call("cut")], stopReason: "aborted" },
    { role: "toolResult", toolCallId: "made", toolName: "click", content: "ok", isError: false }
  ),
  failed: insert({
    role: "assistant",
    content: [],
    stopReason: "error",
    errorMessage: "overloaded"
  }),
  length: change("assistant", (m) => ({ ...m, stopReason: "length" })),
  wrongRole: change("user", (m) => ({ ...m, role: "human" })),
  resultAsUser: change("toolResult", (m) => ({ ...m, role: "user" })),
  userAsAssistant: change("user", (m) => ({ ...m, role: "assistant" })),
  nullBlock: withBlock("user", null),
  textAsBlock: withBlock("toolResult", "not a block"),
  noType: withBlock("assistant", { text: "no type" }),
  numberText: withBlock("user", { type: "text", text: 42 }),
  noImageData: withBlock("user", { type: "image" }),
  brokenImage: withBlock("toolResult", {
    type: "image",
    data: "not base64!",
    mimeType: "image/png"
  }),
  urlImage: withBlock("user", {
    type: "image_url",
    image_url: { url: "https://example.com/a.png" }
  }),
  nested: withBlock("user", {
    type: "tool_result",
    tool_use_id: "c0",
    content: [null, { type: "text", text: "in" }]
  }),
  objectContent: change("toolResult", (m) => ({ ...m, content: { text: "object" } })),
  sameHostId: change("user", (m) => ({ ...m, id: "m0" })),
  reversed: (messages) => messages.toReversed(),
  headless: (messages, at) => messages.slice(at)
}

/** The names of the faults that `garbage` puts in. */
export const faultNames: ReadonlyArray<string> = Object.keys(breaks)

/**
 * Puts one fault into a history at a position; the history given is not changed.
 *
 * @example
 * ```ts
 * import { breakHistory } from "@varve/testkit/Garbage"
 *
 * console.log(breakHistory([{ role: "user", content: "hi" }], "nothing", 1)) // => [ { role: 'user', content: 'hi' }, null ]
 * ```
 */
export const breakHistory = (
  messages: ReadonlyArray<unknown>,
  fault: string,
  at: number
): ReadonlyArray<unknown> => breaks[fault]?.(messages, Math.min(at, messages.length)) ?? messages

/**
 * Broken histories: valid ones with up to six faults put in, and lists of anything. They shrink to few
 * faults in few messages. Typed as messages, so that they go where histories go.
 */
export const garbage = (options: HistoryOptions = {}): fc.Arbitrary<ReadonlyArray<Message>> => {
  const faults = fc.array(fc.tuple(fc.constantFrom(...faultNames), fc.nat(30)), {
    minLength: 1,
    maxLength: 6
  })
  const broken = fc
    .tuple(histories({ turns: 3, steps: 3, ...options }), faults)
    .map(([history, list]) =>
      list.reduce<ReadonlyArray<unknown>>((m, [fault, at]) => breakHistory(m, fault, at), history)
    )
  const role = fc.constantFrom("user", "assistant", "toolResult", "system", "other")
  const anything = fc.array(
    fc.oneof(fc.anything(), fc.record({ role, content: fc.anything(), toolCallId: fc.anything() }))
  )
  return fc.oneof(
    { weight: 9, arbitrary: broken },
    { weight: 1, arbitrary: anything }
  ) as fc.Arbitrary<ReadonlyArray<Message>>
}

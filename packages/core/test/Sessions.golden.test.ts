import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { deepFreeze } from "@varve/testkit/Freeze"
import type { Prepared, Violation } from "@varve/testkit/Invariants"
import { checkGrowth, checkPrepared, explain } from "@varve/testkit/Invariants"
import { describe, expect, it } from "vitest"
import { resolveLimits } from "../src/Budget.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { estimateCounter } from "../src/Counter.ts"
import type { PlainMemory } from "../src/createMemory.ts"
import { createMemory } from "../src/createMemory.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { Block, Message } from "../src/Message.ts"
import { textOf } from "../src/Message.ts"
import { defaultProfile } from "../src/Profile.ts"
import type { Store } from "../src/Store.ts"
import { memoryStore } from "../src/Store.ts"
import { stepMemory } from "../src/StepMemory.ts"
import { checkValidity } from "../src/Validity.ts"

const KEEP = 3

/** After how many prefixes the second memory is made anew from its store. */
const RESTART = 10

/** The token limit, as a share of what all messages of a session take. */
const SHARE = 0.4

/** The same where that is too little for the system text and the task, or for more images than are kept. */
const LARGER: Readonly<Record<string, number>> = {
  "swe-agent/function-calling": 0.8,
  GitHub: 0.8,
  "Windows settings": 0.8,
  Flights: 0.8,
  "ui-tars/event-stream": 1
}

/** Few images, or far between: they leave with what is folded before screenshots are old. */
const FOLDED: ReadonlyArray<string> = ["ufo-4k", "claude-code/docker"]

const counter = estimateCounter()

interface Given {
  readonly name: string
  readonly system?: string | undefined
  readonly tools?: ReadonlyArray<unknown> | undefined
  readonly messages: ReadonlyArray<Message>
}

const start = ({ system, tools }: Given, tokens: number, store: Store): PlainMemory =>
  createMemory({
    pipeline: [screenshots({ keep: KEEP }), stepMemory(), conversationSummary(), hardLimit()],
    budget: { tokens },
    overhead: () => ({ system, tools }),
    store
  })

const callsOf = (message: Message): ReadonlyArray<Block & { type: "toolCall" }> =>
  message.role === "assistant" && Array.isArray(message.content)
    ? (message.content as ReadonlyArray<Block>).filter((b) => b.type === "toolCall")
    : []

/** What a host does as it goes: each call is a step, and its result is the outcome. */
const tell = ({ steps }: PlainMemory, message: Message): void => {
  for (const { id, name } of callsOf(message))
    steps.begin({ id, callId: id, tool: name, goal: name })
  if (message.role !== "toolResult") return
  const { toolCallId: id, isError } = message
  steps.finish({ id, callId: id, outcome: isError ? "failed" : "success" })
}

/** What a host that reads its history from a file again has: other objects that say the same. */
const cloned = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  messages.map((message) => {
    const { content } = message
    return deepFreeze({
      ...message,
      content: Array.isArray(content) ? content.map((b: Block) => ({ ...b })) : content
    }) as Message
  })

const texts = new WeakMap<Message, string>()

/** The bytes of a message; the same object has the same. */
const bytes = (message: Message): string => {
  let text = texts.get(message)
  if (text === undefined) texts.set(message, (text = JSON.stringify(message)))
  return text
}

const unlike = (rule: Violation["rule"], a: Prepared["output"], b: Prepared["output"]) => {
  const same = a.length === b.length && a.every((m, i) => m === b[i] || bytes(m) === bytes(b[i]!))
  return same ? [] : [{ rule, at: -1, what: "other bytes for the same history" }]
}

const imagesIn = (messages: ReadonlyArray<Message>): number =>
  messages
    .flatMap(({ content }) => (Array.isArray(content) ? (content as ReadonlyArray<Block>) : []))
    .filter(({ type }) => type === "image").length

const isMemo = (message: Message): boolean => textOf(message).startsWith("[Step memory:")

/** Takes a session through the pipeline at every length; gives what came of it. */
const replay = async (given: Given) => {
  const { messages, system, tools } = given
  const overhead = { system, tools }
  const fixed = counter.request({ ...overhead, messages: [] }).tokens
  const whole = counter.request({ messages }).tokens
  const tokens = fixed + Math.ceil(whole * (LARGER[given.name] ?? SHARE))
  const limits = resolveLimits({ tokens }, defaultProfile)
  const memory = start(given, tokens, memoryStore())
  const store = memoryStore()
  let twin = start(given, tokens, store)
  let clones = cloned(messages)
  let previous: Prepared | undefined
  let cut = false
  let pruned = 0
  for (let length = 0; length <= messages.length; length++) {
    if (length > 0) {
      tell(memory, messages[length - 1]!)
      tell(twin, messages[length - 1]!)
    }
    const input = Object.freeze(messages.slice(0, length))
    const { messages: output, report } = await memory.prepare(input)
    const committed =
      report.commit.committed > 0 || report.guarded > 0 || report.reasoning.removed > 0
    cut ||= report.guarded > 0
    pruned += report.strategies.find(({ name }) => name === "screenshots")?.accepted ?? 0
    const common = { input, counter, overhead, limits, isMemo }
    const prepared: Prepared = { ...common, output, unguarded: !cut }
    const found = [...checkPrepared(prepared)]
    for (const { at, what } of checkValidity(output)) found.push({ rule: "I1", at, what })
    for (const what of report.faults) found.push({ rule: "I1", at: -1, what })
    if (previous !== undefined) found.push(...checkGrowth(previous, prepared, { committed }))
    const again = await memory.prepare(input)
    found.push(...unlike("I6", output, again.messages))
    if (length % RESTART === 0) {
      await twin.close()
      twin = start(given, tokens, store)
      clones = cloned(messages)
    }
    const other = await twin.prepare(Object.freeze(clones.slice(0, length)))
    found.push(...unlike("I9", output, other.messages))
    if (found.length > 0) expect.fail(`at ${length} messages: ${explain(found)}`)
    previous = prepared
  }
  const all = memory.explain()
  // However long it waits: of a memo only the newest text is kept for later.
  const waiting = all.filter(({ kind, state }) => kind === "memo" && state === "staged")
  expect(waiting.length).toBeLessThan(2)
  await memory.close()
  await twin.close()
  const edits = all.filter(({ state }) => state === "in force")
  return { edits, pruned, sent: previous!.output }
}

const data = requireData("the pipeline on real sessions")

describe.skipIf(!data)("real sessions, at every length", () => {
  const entries = data ? sessions() : []

  it("are there from pi, Claude Code and Midscene", () => {
    const paths = entries.map(({ path }) => path)
    for (const agent of ["/pi/", "/cua-claude-code/", "/midscene/"])
      expect(paths.some((path) => path.includes(agent))).toBe(true)
  })

  it.each(entries)(
    "$name: valid, within its limits, and the same bytes however it is prepared",
    async (entry) => {
      const session = deepFreeze(entry.read()) as Given
      const { edits, pruned, sent } = await replay(session)
      expect(edits.length).toBeGreaterThan(0)
      const images = imagesIn(session.messages)
      if (images <= KEEP) return
      if (!FOLDED.includes(entry.name)) expect(pruned).toBeGreaterThan(0)
      expect(imagesIn(sent)).toBeLessThan(images)
    },
    60_000
  )
})

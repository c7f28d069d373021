import * as fc from "fast-check"
import type { Block, Message } from "@varve/core/Message"
import { images, texts } from "./internal/blocks.ts"

/** Bounds of the histories; each may be left out. */
export interface HistoryOptions {
  /** Most turns; default 4. */
  readonly turns?: number
  /** Most steps in a turn; default 5. */
  readonly steps?: number
  /** Most calls in a step; default 3. */
  readonly calls?: number
  /** Most characters in a long text; default 4 000. */
  readonly text?: number
  /** False: no images; default true. */
  readonly images?: boolean
  /** False: every call has its result; default true: those of the last message may wait. */
  readonly inFlight?: boolean
  /** True: no assistant message stands before the first user's; default false. */
  readonly startsWithUser?: boolean
}

type Blocks = ReadonlyArray<Block>

interface CallPlan {
  readonly tool: string
  readonly args: unknown
  readonly result: string | Blocks
  readonly isError: boolean
  /** Where its result stands among those of the step. */
  readonly rank: number
}

interface StepPlan {
  readonly thinking: Block | undefined
  readonly text: string | undefined
  readonly calls: ReadonlyArray<CallPlan>
  /** Stands between the calls and their results. */
  readonly between: Message | undefined
  readonly behind: Message | undefined
}

interface TurnPlan {
  readonly user: string | Blocks
  readonly steps: ReadonlyArray<StepPlan>
  readonly answer: string | undefined
  /** How often the whole turn stands in the history. */
  readonly times: number
}

interface HistoryPlan {
  readonly system: ReadonlyArray<Message>
  readonly opening: string | undefined
  readonly turns: ReadonlyArray<TurnPlan>
  /** Results that the last step still waits for; none for 0. */
  readonly waiting: number
  /** A message has the host's own id where its position is a multiple of this; none for 0. */
  readonly ids: number
  /** True: each step calls its calls `c0`, `c1`, ... again, as some hosts do. */
  readonly sameCallIds: boolean
  /** True: messages carry times, usage and the like. */
  readonly extras: boolean
}

const text = (value: string): Block => ({ type: "text", text: value })

/** There in every second case. */
const often = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

const seldom = <A>(arbitrary: fc.Arbitrary<A>, weight = 8): fc.Arbitrary<A | undefined> =>
  fc.oneof(
    { weight, arbitrary: fc.constant(undefined) as fc.Arbitrary<A | undefined> },
    { weight: 1, arbitrary }
  )

const plans = (options: HistoryOptions): fc.Arbitrary<HistoryPlan> => {
  const words = texts(options.text ?? 4000)
  const image = options.images === false ? words.map(text) : images
  const odd = fc.constant({ type: "resource", uri: "file:///notes" } as unknown as Block)
  const list = (...blocks: ReadonlyArray<fc.Arbitrary<Block>>) => fc.tuple(...blocks)
  const user = fc.oneof<Array<fc.WeightedArbitrary<string | Blocks>>>(
    { weight: 4, arbitrary: words },
    { weight: 3, arbitrary: list(words.map(text), image) },
    { weight: 1, arbitrary: list(image, image) },
    { weight: 1, arbitrary: list(words.map(text), words.map(text)) }
  )
  const result = fc.oneof<Array<fc.WeightedArbitrary<string | Blocks>>>(
    { weight: 4, arbitrary: list(words.map(text)) },
    { weight: 3, arbitrary: list(words.map(text), image) },
    { weight: 2, arbitrary: list(image) },
    { weight: 1, arbitrary: list(image, words.map(text), image) },
    { weight: 1, arbitrary: words },
    { weight: 1, arbitrary: fc.constantFrom<string | Blocks>([], "") },
    { weight: 1, arbitrary: list(odd, words.map(text)) }
  )
  const unknown = fc.oneof(
    words.map((output) => ({ role: "bashExecution", command: "ls", output, exitCode: 0 })),
    words.map((content) => ({ role: "custom", customType: "note", content, display: true })),
    words.map((summary) => ({ role: "branchSummary", summary }))
  ) as unknown as fc.Arbitrary<Message>
  const system = fc.oneof(
    words.map((content): Message => ({ role: "system", content })),
    words.map((content): Message => ({ role: "system", content: [text(content)] }))
  )
  const stands = fc.oneof(
    unknown,
    system,
    words.map((content): Message => ({ role: "user", content }))
  )
  const call = fc.record<CallPlan>({
    tool: fc.constantFrom("click", "screenshot", "read_file", "search"),
    args: fc.oneof(
      fc.tuple(fc.nat(2000), fc.nat(2000)).map(([x, y]) => ({ x, y })),
      words.map((text) => ({ text })),
      fc.constantFrom({}, null, { path: ["a", { b: [1, null] }] })
    ),
    result,
    isError: fc.nat(6).map((n) => n === 6),
    rank: fc.nat(3)
  })
  const thinking = fc.tuple(fc.nat(2), words).map(([kind, thinking]): Block => {
    if (kind === 0) return { type: "thinking", thinking }
    const signed = { type: "thinking", thinkingSignature: "sig-" + thinking.length } as const
    return kind === 1 ? { ...signed, thinking } : { ...signed, thinking: "", redacted: true }
  })
  const step = fc.record<StepPlan>({
    thinking: often(thinking),
    text: often(words),
    calls: fc.array(call, { maxLength: options.calls ?? 3, size: "max" }),
    between: seldom(stands, 12),
    behind: seldom(stands)
  })
  const turn = fc.record<TurnPlan>({
    user,
    steps: fc.array(step, { maxLength: options.steps ?? 5, size: "max" }),
    answer: often(words),
    times: fc.oneof(
      { weight: 4, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.constant(2) }
    )
  })
  return fc.record<HistoryPlan>({
    system: fc.array(system, { maxLength: 2 }),
    opening: options.startsWithUser === true ? fc.constant(undefined) : seldom(words, 12),
    turns: fc.array(turn, { maxLength: options.turns ?? 4, size: "max" }),
    waiting: options.inFlight === false ? fc.constant(0) : fc.nat(2),
    ids: fc.constantFrom(0, 0, 1, 2),
    sameCallIds: fc.nat(2).map((n) => n === 2),
    extras: fc.nat(2).map((n) => n === 2)
  })
}

const build = (plan: HistoryPlan): ReadonlyArray<Message> => {
  const out: Array<Message> = []
  let calls = 0
  const add = (message: object, extras?: object) => {
    const id = plan.ids > 0 && out.length % plan.ids === 0 ? { id: `m${out.length}` } : {}
    const time = plan.extras ? { timestamp: 1_700_000_000_000 + out.length * 1000, ...extras } : {}
    out.push({ ...message, ...id, ...time } as unknown as Message)
  }
  const assistant = (content: Blocks, stopReason: string) =>
    add(
      { role: "assistant", content, stopReason },
      {
        model: "some-model",
        usage: { input: out.length * 100, output: 20, cacheRead: 0, cacheWrite: 0 }
      }
    )
  const step = (plan_: StepPlan, waiting: number) => {
    const ids = plan_.calls.map((_, i) => `c${plan.sameCallIds ? i : calls++}`)
    const content: Array<Block> = []
    if (plan_.thinking !== undefined) content.push(plan_.thinking)
    if (plan_.text !== undefined || plan_.calls.length === 0)
      content.push(text(plan_.text ?? "done"))
    plan_.calls.forEach((call, i) =>
      content.push({ type: "toolCall", id: ids[i]!, name: call.tool, arguments: call.args })
    )
    assistant(content, plan_.calls.length > 0 ? "toolUse" : "stop")
    if (plan_.between !== undefined && waiting === 0) add(plan_.between)
    const order = plan_.calls.map((call, i) => ({ call, id: ids[i]! }))
    order.sort((a, b) => a.call.rank - b.call.rank)
    for (const { call, id } of order.slice(0, order.length - waiting)) {
      add(
        {
          role: "toolResult",
          toolCallId: id,
          toolName: call.tool,
          content: call.result,
          isError: call.isError
        },
        { details: { exit: 0 } }
      )
    }
    if (plan_.behind !== undefined && waiting === 0) add(plan_.behind)
  }
  for (const message of plan.system) add(message)
  if (plan.opening !== undefined) assistant([text(plan.opening)], "stop")
  const turns = plan.turns.flatMap((turn) => Array.from({ length: turn.times }, () => turn))
  turns.forEach((turn, t) => {
    add({ role: "user", content: turn.user })
    turn.steps.forEach((one, s) => {
      const last = t === turns.length - 1 && s === turn.steps.length - 1
      step(one, last ? Math.min(plan.waiting, one.calls.length) : 0)
    })
    const open = t === turns.length - 1 && plan.waiting > 0
    if (turn.answer !== undefined && !open) assistant([text(turn.answer)], "stop")
  })
  return out
}

/**
 * Histories as agents make them, valid by construction: turns with text and images, reasoning (plain, signed,
 * redacted), parallel calls with results in any order, errors, odd texts, unknown roles, system messages at
 * the head and in between, equal messages, calls in flight at the end. They shrink to small ones.
 *
 * @example
 * ```ts
 * import { checkValidity } from "@varve/core/Validity"
 * import { histories } from "@varve/testkit/Histories"
 * import * as fc from "fast-check"
 *
 * fc.assert(fc.property(histories({ turns: 2 }), (history) => checkValidity(history).length === 0))
 * ```
 */
export const histories = (options: HistoryOptions = {}): fc.Arbitrary<ReadonlyArray<Message>> =>
  plans(options).map(build)

import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deepFreeze } from "../src/Freeze.ts"
import { garbage } from "../src/Garbage.ts"
import { measureHardPart } from "../src/HardPart.ts"
import { histories } from "../src/Histories.ts"
import {
  checkDeterministic,
  checkGrowth,
  checkOverflow,
  checkPrepared,
  checkSame,
  explain
} from "../src/Invariants.ts"
import type { Prepared } from "../src/Invariants.ts"
import { pngBase64 } from "../src/Png.ts"

const image = (seed: number) => ({
  type: "image" as const,
  data: pngBase64(640, 480, seed),
  mimeType: "image/png"
})
const text = (value: string) => ({ type: "text" as const, text: value })
const thinking = { type: "thinking" as const, thinking: "so", thinkingSignature: "sig" }
const call = (id: string) => ({ type: "toolCall" as const, id, name: "t", arguments: {} })
const ours = (value: string): Message => ({ role: "user", content: [text(value)] })

const S: Message = { role: "system", content: "rules" }
const task: Message = { role: "user", content: [text("the task"), image(1)] }
const [say, one, two] = [text("I look at it"), call("c1"), call("c2")]
const caller: Message = {
  role: "assistant",
  content: [thinking, say, one, two]
}
const first: Message = {
  role: "toolResult",
  toolCallId: "c1",
  toolName: "t",
  content: [text("a long result, all of it"), image(2)],
  isError: false
}
const second: Message = {
  role: "toolResult",
  toolCallId: "c2",
  toolName: "t",
  content: [image(3)],
  isError: false
}
const X = { role: "custom", content: "theirs" } as unknown as Message
const newest: Message = { role: "user", content: "and now?" }
const input = deepFreeze([S, task, caller, first, second, X, newest])

const without = (...gone: ReadonlyArray<Message>) => input.filter((m) => !gone.includes(m))
const instead = (from: Message, ...to: ReadonlyArray<Message>) =>
  input.flatMap((m) => (m === from ? to : [m]))
const clipped: Message = { ...first, content: [text("a long…"), first.content[1] as never] }

/** Rules that a request breaks, each once. */
const rules = (output: ReadonlyArray<Message>, options: Partial<Prepared> = {}) => [
  ...new Set(checkPrepared({ input, output, ...options }).map((v) => v.rule))
]

describe("checkPrepared accepts", () => {
  it.each<[string, ReadonlyArray<Message>, Partial<Prepared>?]>([
    ["the history as it came", input],
    ["a group left out", without(caller, first, second)],
    [
      "a group behind a text of ours",
      instead(caller, ours("[an older step]")).filter((m) => m !== first && m !== second)
    ],
    ["a clipped result", instead(first, clipped)],
    ["an image as a card", instead(second, { ...second, content: [text("[screenshot]")] })],
    ["the task without its image", instead(task, { ...task, content: [text("the task")] })],
    ["reasoning left out whole", instead(caller, { ...caller, content: [say, one, two] })],
    [
      "shorter arguments",
      instead(caller, {
        ...caller,
        content: [thinking, { ...call("c1"), arguments: 1 }, two]
      })
    ],
    [
      "a memo behind the task",
      instead(task, task, ours("memo")),
      { isMemo: (m) => m.content.length === 1 && JSON.stringify(m).includes("memo") }
    ]
  ])("%s", (_, output, options) => {
    expect(explain(checkPrepared({ input, output, ...options }))).toBe("")
  })
})

describe("a text at the tail", () => {
  const isTail = (value: string) => value.startsWith("[memory")
  const held = (message: Message, value = "[memory 1]"): Message => ({
    ...message,
    content: [
      ...(typeof message.content === "string" ? [text(message.content)] : message.content),
      text(value)
    ]
  })

  it("may stand in what a user or a tool says, and there alone", () => {
    expect(rules(instead(newest, held(newest)), { isTail })).toEqual([])
    expect(rules(instead(second, held(second)), { isTail })).toEqual([])
    expect(rules(instead(caller, held(caller)), { isTail })).toEqual(["I8"])
    const failed = { ...second, isError: true }
    const list = input.map((m) => (m === second ? failed : m))
    const output = list.map((m) => (m === failed ? held(failed) : m))
    expect(checkPrepared({ input: list, output, isTail }).map((v) => v.rule)).toEqual(["I8"])
  })

  it("leaves what is protected to be whole, and counts", () => {
    const pinned = { isTail, isPinned: (m: Message) => m === newest }
    expect(rules(instead(newest, held(newest)), pinned)).toEqual([])
    expect(rules(instead(newest, held(ours("and now"))), pinned)).toContain("I3")
    const limits = { tokens: estimateCounter().request({ messages: input }).tokens }
    expect(rules(instead(newest, held(newest)), { isTail, limits })).toEqual(["I10"])
  })

  it("may change from one request to the next, and nothing before it", () => {
    const last = ours("go on")
    const later = deepFreeze([...input, { role: "assistant" as const, content: "Yes." }, last])
    const previous = { input, output: instead(newest, held(newest)), isTail }
    const grown = (...changed: ReadonlyArray<readonly [Message, Message]>) => {
      const output = later.map((m) => changed.find(([from]) => from === m)?.[1] ?? m)
      return checkGrowth(previous, { input: later, output, isTail }, { committed: false }).map(
        ({ rule }) => rule
      )
    }
    const second = [last, held(last, "[memory 2]")] as const
    expect(grown()).toEqual([])
    expect(grown(second)).toEqual([])
    expect(grown(second, [newest, held(newest)])).toContain("I7")
    expect(grown(second, [first, clipped])).toContain("I7")
  })
})

describe("a provider that wants turns to alternate", () => {
  const answer: Message = { role: "assistant", content: "Which one?" }
  const own = deepFreeze([task, answer, newest, caller, first, second])
  const crowded = own.filter((m) => m !== newest)
  const found = (output: ReadonlyArray<Message>, options: Partial<Prepared> = {}) =>
    checkPrepared({ input: own, output, ...options }).map((v) => v.rule)

  it("is asked for by the option, and an answer right before a call is then found", () => {
    expect(found(own, { alternates: true })).toEqual([])
    expect(found(crowded)).toEqual([])
    expect(found(crowded, { alternates: true })).toEqual(["I1"])
  })

  it("has no say in what the host itself has so", () => {
    expect(checkPrepared({ input: crowded, output: crowded, alternates: true })).toEqual([])
  })

  it("may cost an overflow the note that has to part the two", () => {
    const isPinned = (m: Message) => m === answer || m === caller
    const tokens = measureHardPart(own, estimateCounter(), {}, isPinned).tokens + 40
    const check = (alternates: boolean) =>
      checkOverflow({ input: own, isPinned, limits: { tokens }, alternates })
    expect(check(true)).toEqual([])
    expect(check(false).map((v) => v.rule)).toEqual(["I10"])
  })
})

describe("checkPrepared finds", () => {
  it.each<[string, ReadonlyArray<Message>, ReadonlyArray<string>, Partial<Prepared>?]>([
    ["a lost result", without(first), ["I1"]],
    ["a lost call", without(caller), ["I1"]],
    [
      "an assistant first, where a user must be",
      without(task),
      ["I1", "I3"],
      { startsWithUser: true }
    ],
    ["an emptied message", instead(newest, { ...newest, content: "" }), ["I2"]],
    [
      "reasoning that is left alone",
      instead(caller, { ...caller, content: [thinking] }).filter(
        (m) => m !== first && m !== second
      ),
      ["I2"]
    ],
    ["a lost system message", without(S), ["I3"]],
    ["a lost unknown role", without(X), ["I3"]],
    ["an unknown role that was copied", instead(X, { ...X }), ["I3", "I8"]],
    ["a lost task", without(task), ["I3"]],
    [
      "a task that was cut",
      instead(task, { ...task, content: [text("the…"), image(1)] }),
      ["I3", "I8"]
    ],
    [
      "a pinned message that was cut",
      instead(first, clipped),
      ["I3"],
      { isPinned: (m) => m === first }
    ],
    ["the newest request cut without a guard", without(newest), ["I3"], { unguarded: true }],
    [
      "the newest screenshot cut without a guard",
      instead(second, { ...second, content: [text("[screenshot]")] }),
      ["I3"],
      { unguarded: true }
    ],
    ["messages in another order", [S, task, newest, caller, first, second, X], ["I4"]],
    ["a message twice", [...input, newest], ["I4", "I5"]],
    [
      "an assistant message of ours",
      instead(newest, newest, { role: "assistant", content: "forged" }),
      ["I4", "I5"]
    ],
    [
      "a text of ours that is longer than what it stands for",
      instead(newest, ours("x".repeat(4000))),
      ["I5"]
    ],
    [
      "one more image",
      instead(newest, { ...newest, content: [text("and now?"), image(9)] }),
      ["I5"]
    ],
    ["a copy of an untouched message", instead(first, { ...first }), ["I8"]],
    [
      "a copy of an untouched block",
      instead(first, {
        ...first,
        content: [text("a…"), { ...(first.content[1] as object) } as never]
      }),
      ["I8"]
    ],
    ["a copy of the list", [...input], ["I8"]],
    [
      "altered reasoning",
      instead(caller, {
        ...caller,
        content: [{ ...thinking, thinking: "" }, text("I look at it"), call("c1"), call("c2")]
      }),
      ["I4"]
    ],
    [
      "a call of another name",
      instead(caller, { ...caller, content: [{ ...call("c1"), name: "u" }, call("c2")] }),
      ["I4"]
    ],
    [
      "calls in another order",
      instead(caller, { ...caller, content: [call("c2"), call("c1")] }),
      ["I8"]
    ],
    ["too many tokens", input, ["I10"], { limits: { tokens: 20 } }],
    ["too many images", input, ["I10"], { limits: { images: 2 } }]
  ])("%s", (_, output, expected, options) => {
    expect(rules(output, options)).toEqual(expected)
  })

  it("what the model has not seen yet cut without a guard", () => {
    const open = deepFreeze([task, caller, first, second])
    const output = open.map((m) => (m === first ? clipped : m))
    expect(checkPrepared({ input: open, output, unguarded: true }).map((v) => v.rule)).toEqual([
      "I3"
    ])
    expect(checkPrepared({ input: open, output })).toEqual([])
  })

  it("a result that was put in where none was missing, and lets it be where one was", () => {
    const mended: Message = {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "t",
      content: [text("[none]")],
      isError: true
    }
    const whole = [
      task,
      { role: "assistant", content: [call("c1")] } as Message,
      { ...first },
      newest
    ]
    const broken = whole.filter((m) => m.role !== "toolResult")
    const output = [whole[0]!, whole[1]!, mended, newest]
    expect(checkPrepared({ input: broken, output })).toEqual([])
    expect(checkPrepared({ input: whole, output }).map((v) => v.rule)).toContain("I4")
  })
})

describe("checkPrepared", () => {
  it("has nothing to say about histories that are passed on as they came", () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const found = checkPrepared({ input: history, output: history, unguarded: true })
        expect(explain(found)).toBe("")
      }),
      { numRuns: 300 }
    )
  })

  it("never throws", () => {
    fc.assert(
      fc.property(garbage(), garbage(), (input, output) => void checkPrepared({ input, output }))
    )
  })
})

describe("checkOverflow", () => {
  it("lets an overflow pass where what is hard-protected is over the limit", () => {
    expect(checkOverflow({ input, limits: { tokens: 5 } })).toEqual([])
    expect(checkOverflow({ input, limits: { tokens: 500 } }).map((v) => v.rule)).toEqual(["I10"])
    expect(checkOverflow({ input, limits: { images: 0 } }).map((v) => v.rule)).toEqual(["I10"])
    expect(checkOverflow({ input, limits: { images: 0 }, isPinned: (m) => m === first })).toEqual(
      []
    )
  })
})

describe("checkOverflow, where nothing is protected,", () => {
  it("leaves room for one message of ours", () => {
    const answers: ReadonlyArray<Message> = [
      { role: "assistant", content: "an answer that is long enough" }
    ]
    expect(checkOverflow({ input: answers, limits: { tokens: 10 } })).toEqual([])
    expect(checkOverflow({ input: answers, limits: { tokens: 100 } }).map((v) => v.rule)).toEqual([
      "I10"
    ])
  })
})

describe("checks over several requests", () => {
  it("I6: the same head twice", () => {
    expect(checkSame(input, [...input])).toEqual([])
    expect(checkSame(input, structuredClone(input))).toEqual([])
    expect(checkSame(input, without(newest))).toMatchObject([{ rule: "I6", at: 6 }])
    expect(checkSame(without(newest), input)).toMatchObject([{ rule: "I6", at: 6 }])
  })

  it("I9: two memories", () => {
    expect(checkDeterministic(input, structuredClone(input))).toEqual([])
    expect(checkDeterministic(input, instead(first, clipped))).toMatchObject([
      { rule: "I9", at: 3 }
    ])
  })

  it("I7: what was edited stays so, and the prefix moves at commits only", () => {
    const next = deepFreeze([...input, { role: "assistant", content: "done" } as Message, newest])
    const cut = { input, output: instead(first, clipped) }
    const more = next.slice(input.length)
    expect(
      checkGrowth(cut, { input: next, output: [...cut.output, ...more] }, { committed: false })
    ).toEqual([])
    expect(checkGrowth(cut, { input: next, output: next }, { committed: true })).toMatchObject([
      { rule: "I7", at: -1 }
    ])
    const later = { input: next, output: [...without(caller, first, second), ...more] }
    expect(checkGrowth(cut, later, { committed: true })).toEqual([])
    expect(checkGrowth(cut, later, { committed: false })).toMatchObject([{ rule: "I7", at: 2 }])
  })
})

import type { Message } from "@varve/core/Message"
import { Transcript } from "@varve/core/Transcript"
import { checkValidity } from "@varve/core/Validity"
import { deepFreeze } from "@varve/testkit/Freeze"
import { breakHistory, faultNames, garbage } from "@varve/testkit/Garbage"
import { histories } from "@varve/testkit/Histories"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  assistant,
  call,
  image,
  odd,
  result,
  session,
  step,
  system,
  task,
  text,
  thinking,
  user
} from "./fixtures/history.ts"
import { counter, transcriptOf } from "./fixtures/views.ts"

const ids = (t: Transcript) => t.groups.flatMap((g) => g.entries.map((e) => e.id))
/** Each group as the positions of its messages; -1 for one that was put in. */
const groups = (messages: ReadonlyArray<unknown>) =>
  transcriptOf(deepFreeze(messages)).groups.map((g) => g.entries.map((e) => e.at))
const repairs = (messages: ReadonlyArray<unknown>) =>
  transcriptOf(deepFreeze(messages)).repairs.map((r) => `${r.at}: ${r.what}`)

describe("a message's id", () => {
  it("is the host's id with a fingerprint, or the fingerprint alone", () => {
    const [named, plain] = ids(transcriptOf([user("a", { id: "m1" }), user("b")]))
    expect(named).toMatch(/^m1@[0-9a-z]+$/)
    expect(plain).toMatch(/^[0-9a-z]+$/)
    expect(ids(transcriptOf([user("a", { id: "" })]))[0]).toMatch(/^[0-9a-z]+$/)
  })

  it("changes with what the message says, also where the host's id stays", () => {
    const base = { id: "m1" }
    const seen = [
      user("a", base),
      user("b", base),
      user([text("a")], base),
      system("a", base),
      result("c1", "a", base),
      result("c2", "a", base),
      result("c1", "a", { ...base, isError: true }),
      user([text("a"), image(10, 10)], base),
      user([text("a"), image(10, 10, 1)], base)
    ].map(
      (m) =>
        transcriptOf([assistant("c1", "c2"), m])
          .groups.at(-1)!
          .entries.at(-1)!.id
    )
    expect(new Set(seen).size).toBe(seen.length)
  })

  it("is the same for clones, after JSON, with other keys beside the content and in another order", () => {
    const history = session(3, { thinking: true })
    const before = ids(transcriptOf(history))
    expect(ids(transcriptOf(structuredClone(history)))).toEqual(before)
    expect(ids(transcriptOf(JSON.parse(JSON.stringify(history)) as []))).toEqual(before)
    const dressed = history.map((m, i) => ({ timestamp: i, usage: { input: i }, ...m }))
    expect(ids(transcriptOf(dressed))).toEqual(before)
    const turned = history.map((m) => Object.fromEntries(Object.entries(m).toReversed()))
    expect(ids(transcriptOf(turned))).toEqual(before)
  })

  it("tells equal messages apart by their occurrence", () => {
    const same = () => user("go on")
    const one = same()
    const [a, b, c] = ids(transcriptOf([same(), same(), one]))
    expect([b, c]).toEqual([`${a}#1`, `${a}#2`])
    expect(ids(transcriptOf([one, one, one]))).toEqual([a, b, c])
  })

  it("of equal messages is right however often the tail is taken back", () => {
    const t = new Transcript(counter)
    const equal = () => user("go on")
    for (const n of [3, 1, 4, 0, 2, 5, 2]) {
      const history = Array.from({ length: n }, equal)
      t.update(history)
      expect(ids(t)).toEqual(ids(transcriptOf(history)))
      expect(t.byId.size).toBe(n)
    }
  })

  it("differs between a long text and one that differs in its middle", () => {
    const long = "x".repeat(900) + "middle" + "y".repeat(900)
    const [a] = ids(transcriptOf([user(long)]))
    const [b] = ids(transcriptOf([user(long.replace("middle", "MIDDLE"))]))
    const [c] = ids(transcriptOf([user(long + "!")]))
    expect(new Set([a, b, c]).size).toBe(3)
  })
})

describe("what stays when the host rewrites its history", () => {
  const history = session(6)
  it("is all up to a fork", () => {
    const t = transcriptOf(history)
    const before = [...t.groups]
    const fork = [...history.slice(0, 7), user("do it otherwise")]
    expect(t.update(fork)).toBe(4)
    expect(t.groups.slice(0, 4)).toEqual(before.slice(0, 4))
    expect(t.groups.slice(0, 4).every((g, i) => g === before[i])).toBe(true)
    expect(ids(t)).toEqual(ids(transcriptOf(fork)))
  })

  it("are the ids of all that is left behind a trimmed head", () => {
    const t = transcriptOf(history)
    const before = ids(t)
    t.update(history.slice(5))
    expect(ids(t)).toEqual(before.slice(5))
  })

  it("is everything, as the same objects, where nothing changed", () => {
    const t = transcriptOf(history)
    const [before, revision] = [[...t.groups], t.revision]
    expect(t.update(history)).toBe(before.length)
    expect(t.update([...history])).toBe(before.length)
    expect(t.groups.every((g, i) => g === before[i])).toBe(true)
    expect(t.revision).toBe(revision)
  })

  it("is what the history says, for clones: the revision is the same", () => {
    const t = transcriptOf(history)
    const { revision } = t
    t.update(structuredClone(history))
    expect(t.revision).toBe(revision)
    t.update([...history.slice(0, -1), user("other")])
    expect(t.revision).toBe(revision + 1)
    t.update(history.slice(0, 4))
    expect(t.revision).toBe(revision + 2)
  })
})

describe("a group", () => {
  it("is one message, or a call with its results", () => {
    expect(groups([task, ...step(1), ...step(2), assistant("all done"), user("thanks")])).toEqual([
      [0],
      [1, 2],
      [3, 4],
      [5],
      [6]
    ])
  })

  it("holds parallel calls in whatever order their results come", () => {
    const orders = [
      ["a", "b", "c"],
      ["c", "b", "a"],
      ["b", "c", "a"]
    ]
    for (const order of orders) {
      const t = transcriptOf([
        task,
        assistant("a", "b", "c"),
        ...order.map((id) => result(id)),
        task
      ])
      expect(t.groups.map((g) => g.entries.length)).toEqual([1, 4, 1])
      expect(t.repairs).toEqual([])
    }
  })

  it("holds what stands between a call and its result", () => {
    const approval = user("approved")
    const note = odd({ role: "approval", id: "x", answer: "yes" })
    expect(
      groups([task, assistant("a", "b"), approval, result("a"), note, result("b"), task])
    ).toEqual([[0], [1, 2, 3, 4, 5], [6]])
  })

  it("does not reach over the next assistant message, nor further than sixteen messages", () => {
    expect(groups([assistant("a"), assistant("on we go"), result("a")])).toEqual([[0, -1], [1], []])
    const far = (n: number) => [
      assistant("a"),
      ...Array.from({ length: n }, () => user("hm")),
      result("a")
    ]
    expect(groups(far(15))).toEqual([Array.from({ length: 17 }, (_, i) => i)])
    expect(groups(far(16))[0]).toEqual([0, -1])
  })

  it("pairs repeated call ids by position", () => {
    const again = [assistant("c"), result("c", "first"), assistant("c"), result("c", "second")]
    expect(groups(again)).toEqual([
      [0, 1],
      [2, 3]
    ])
    expect(repairs(again)).toEqual([])
    expect(groups([...again, result("c", "third")]).flat()).toEqual([0, 1, 2, 3])
  })

  it("is open while calls at the end wait for their results, and closed once they have them", () => {
    const t = transcriptOf([task, assistant("a", "b"), result("b")])
    expect(t.groups[1]!.open).toEqual(["a"])
    t.update([task, assistant("a", "b"), result("b"), result("a")])
    expect(t.groups[1]!.open).toEqual([])
    expect(t.repairs).toEqual([])
  })

  it.each<readonly [string, object]>([
    ["an error", { isError: true, content: [text("it failed")] }],
    ["a rejection", { isError: true, content: [text("The user said no.")], rejected: true }],
    ["nothing", { content: [] }],
    ["an empty text", { content: "" }],
    ["no content at all", { content: undefined }],
    ["an object", { content: { rows: 3 } }],
    ["odd blocks", { content: [null, { type: "resource" }, 7] }],
    ["no tool's name", { toolName: undefined }]
  ])("is closed by any kind of result: %s", (_, fields) => {
    const answer = { ...result("a"), ...fields }
    const t = transcriptOf(deepFreeze([task, assistant("a"), answer, user("go on")]))
    expect(t.groups.map((g) => g.entries.length)).toEqual([1, 2, 1])
    expect(t.groups[1]!.entries[1]!.message).toBe(answer)
    expect(t.repairs).toEqual([])
  })

  it("has one id for the same messages, and another for others", () => {
    const id = (...messages: ReadonlyArray<unknown>) => transcriptOf(messages).groups[0]!.id
    expect(id(...step(1))).toBe(id(...structuredClone(step(1))))
    expect(id(...step(1))).not.toBe(id(step(1)[0], result("c1", "other")))
    const t = transcriptOf([task])
    expect(t.groups[0]!.id).toBe(t.groups[0]!.entries[0]!.id)
  })

  it("carries the sums of all up to it", () => {
    const history = session(4, { images: 2 })
    const t = transcriptOf(history)
    const last = t.totals
    expect(last.images).toBe(8)
    expect([last.requests, last.turns, last.task]).toEqual([4, 1, 0])
    expect(last.tokens).toBe(history.reduce((sum, m) => sum + counter.message(m), 0))
    expect(last.newestUser).toBe(t.groups[0]!.id)
    expect(last.newestImage).toBe(t.newest!.id + "/2")
  })
})

describe("a fault of the host's history", () => {
  it.each<readonly [string, ReadonlyArray<unknown>, ReadonlyArray<ReadonlyArray<number>>, string]>([
    ["no message", [task, null, 3, "x", {}], [[0], []], "1: not a message with a role; left out"],
    ["an orphan result", [task, result("x"), task], [[0], [2]], "1: a result without a call"],
    ["an empty user message", [task, user(" "), task], [[0], [2]], "1: an empty user message"],
    ["an empty assistant message", [task, assistant()], [[0], []], "1: an empty assistant message"],
    [
      "a second result",
      [assistant("a"), result("a", "1"), result("a", "2"), task],
      [[0, 1], [3]],
      "2: a result without a call, or a second one; left out"
    ],
    [
      "a call without a result",
      [assistant("a", "b"), result("b"), task],
      [[0, 1, -1], [2]],
      "0: a call without a result; a note stands for it"
    ],
    [
      "an aborted message with calls that were never made",
      [task, { ...assistant("a", "b"), stopReason: "aborted" }, result("a"), task],
      [[0], [], [3]],
      "1: an aborted message with calls that were never made; left out"
    ],
    [
      "the same of a failed request",
      [task, { ...assistant("a"), stopReason: "error" }, task],
      [[0], [], [2]],
      "1: an aborted message"
    ],
    [
      "a call without an id",
      [task, assistant(text("a b"), odd({ type: "toolCall", name: "x" })), task],
      [[0], [1], [2]],
      "1: calls without an id or a name, or more of one id than results; left out"
    ],
    [
      "a call without a name",
      [task, assistant(text("a b"), odd({ type: "toolCall", id: "x" })), task],
      [[0], [1], [2]],
      "1: calls without an id or a name"
    ],
    [
      "nothing but such calls",
      [task, assistant(odd({ type: "toolCall", name: "x" })), task],
      [[0], [], [2]],
      "1: calls without an id or a name"
    ],
    [
      "two calls of one id and one result",
      [task, assistant("a", "a"), result("a"), task],
      [[0], [1, 2], [3]],
      "1: calls without an id or a name, or more of one id than results; left out"
    ],
    [
      "one of two calls with an empty id",
      [task, assistant("", ""), result(""), task],
      [[0], [1, 2, -1], [3]],
      "1: a call without a result; a note stands for it"
    ],
    [
      "an empty message between a call and its result",
      [assistant("a"), user(""), null, result("b"), user("yes"), result("a")],
      [[0, 4, 5]],
      "1: an empty user message; left out"
    ]
  ])("is mended and named: %s", (_, messages, expected, what) => {
    expect(groups(messages)).toEqual(expected)
    const said = repairs(messages)
    expect(said.some((line) => line.startsWith(what))).toBe(true)
  })

  it("leaves calls of one id as the host has them, an empty one too: their results answer them in order", () => {
    for (const id of ["", "same"]) {
      const step = () => [
        assistant(call(id, "read"), call(id, "look"), call("own", "click")),
        result(id, "page 1"),
        result("own", "page 3"),
        result(id, "page 2")
      ]
      const history = deepFreeze([task, ...step(), ...step(), user("and now?")])
      const t = transcriptOf(history)
      const sent = t.groups.flatMap((g) => g.entries.map((e) => e.message))
      expect(sent).toHaveLength(history.length)
      expect(sent.every((m, i) => m === history[i])).toBe(true)
      expect(t.groups.map((g) => g.entries.length)).toEqual([1, 4, 4, 1])
      expect(t.repairs).toEqual([])
      expect(checkValidity(sent)).toEqual([])
    }
  })

  it("leaves a note in the place of a missing result, bound to its call", () => {
    const history = [assistant(call("a", "read"), "b"), result("b"), task]
    const t = transcriptOf(deepFreeze(history))
    const note = t.groups[0]!.entries[2]!.message
    expect(note).toMatchObject({
      role: "toolResult",
      toolCallId: "a",
      toolName: "read",
      isError: true
    })
    // The same object each time, so that what is sent stays the same too.
    t.update([...history, user("more")])
    expect(t.groups[0]!.entries[2]!.message).toBe(note)
  })

  it("where a provider wants a user's message first: a note stands before the model's", () => {
    const open = (messages: ReadonlyArray<unknown>) => {
      const t = new Transcript(counter, true)
      t.update(messages)
      return t.groups.map((g) => g.entries.map((e) => e.message.role))
    }
    expect(open([...step(1), task])).toEqual([["user"], ["assistant", "toolResult"], ["user"]])
    expect(open([system("rules"), assistant("hello there")])).toEqual([
      ["system"],
      ["user"],
      ["assistant"]
    ])
    expect(open([system("rules"), task, ...step(1)])).toEqual([
      ["system"],
      ["user"],
      ["assistant", "toolResult"]
    ])
    expect(open([])).toEqual([])
    const t = new Transcript(counter, true)
    t.update([assistant("hello there"), user("the real task")])
    expect(t.totals.task).toBe(2)
    expect(t.totals.turns).toBe(1)
  })

  it("costs none of the messages that stand among what is left out", () => {
    const stopped = { ...assistant("a", "b"), stopReason: "aborted" }
    const approval = user("approved, but only the first")
    const note = odd({ role: "bashExecution", command: "ls", output: "x" })
    const t = transcriptOf(deepFreeze([task, stopped, approval, note, result("a"), user("go on")]))
    const left = t.groups.flatMap((g) => g.entries.map((e) => e.message))
    expect(left).toContain(approval)
    expect(left).toContain(note)
    expect(left).not.toContain(stopped)
    expect(left.some((m) => m.role === "toolResult")).toBe(false)
  })

  it("is none: system text, unknown roles, empty results, reasoning alone", () => {
    const fine = [
      system(""),
      task,
      odd({ role: "custom" }),
      assistant(thinking("hm")),
      assistant("a"),
      result("a", ""),
      user([image(10, 10)])
    ]
    expect(repairs(fine)).toEqual([])
    expect(groups(fine).flat()).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})

/** All that a transcript knows, as plain data. Bytes aside: a host's own keys have some, and say nothing. */
const known = (t: Transcript) => ({
  groups: t.groups
    .filter((g) => g.entries.length > 0)
    .map(({ id, first, open, tokens, images, imageBytes, entries, upTo }) => ({
      id,
      first,
      open,
      tokens,
      images,
      imageBytes,
      upTo: totals(t, upTo),
      entries: entries.map((e) => ({ id: e.id, at: e.at, message: e.message }))
    })),
  repairs: t.repairs.toSorted((a, b) => a.at - b.at || (a.what < b.what ? -1 : 1)),
  totals: totals(t, t.totals),
  ids: [...t.byId.keys()].sort(),
  length: t.length
})

const totals = (t: Transcript, of: Transcript["totals"]) => ({
  ...of,
  bytes: 0,
  task: of.task < 0 ? undefined : t.groups[of.task]!.id
})

describe("taking a history bit by bit", () => {
  const clone = (m: ReadonlyArray<unknown>): ReadonlyArray<unknown> => structuredClone(m)
  it("gives what taking it at once gives, whatever the host appended, took back, cloned or broke", () => {
    const change = fc.record({
      kind: fc.constantFrom("grow", "grow", "grow", "fork", "trim", "clone", "same", "break"),
      at: fc.nat(1000),
      fault: fc.constantFrom(...faultNames)
    })
    const sources = fc.oneof(garbage(), histories({ turns: 3, steps: 3, text: 40 }))
    fc.assert(
      fc.property(
        sources,
        sources,
        fc.array(change, { maxLength: 12 }),
        fc.boolean(),
        (one, two, changes, opener) => {
          const t = new Transcript(counter, opener)
          let now: ReadonlyArray<unknown> = []
          let source: ReadonlyArray<unknown> = one
          for (const { kind, at, fault } of [...changes, { kind: "grow", at: 999, fault: "" }]) {
            const cut = Math.floor((now.length * at) / 1000)
            if (kind === "grow") {
              const more = source.slice(now.length, now.length + 1 + (at % 7))
              now = [...now, ...more]
            } else if (kind === "fork") {
              now = [...now.slice(0, cut), ...two.slice(cut, cut + 3)]
              source = [...now, ...two.slice(cut + 3)]
            } else if (kind === "trim") {
              now = now.slice(Math.min(cut, 5))
              source = now
            } else if (kind === "clone") {
              try {
                now = clone(now)
              } catch {
                // Garbage that can't be cloned stays as it is.
              }
            } else if (kind === "break") {
              now = breakHistory(now, fault, cut)
              source = now
            }
            t.update(now)
            const whole = new Transcript(counter, opener)
            whole.update(now)
            expect(known(t)).toEqual(known(whole))
          }
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("counts each message once", () => {
    let counted = 0
    const counting = { ...counter, message: (m: Message) => (counted++, counter.message(m)) }
    const history = session(200)
    const t = new Transcript(counting)
    for (let n = 1; n <= history.length; n += 2) t.update(history.slice(0, n))
    t.update(structuredClone(history))
    expect(counted).toBe(history.length)
  })
})

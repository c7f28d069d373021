import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Message } from "../src/Message.ts"
import { checkValidity } from "../src/Validity.ts"

const U = (text = "go on"): Message => ({ role: "user", content: text })
const S = (text = "rules"): Message => ({ role: "system", content: text })
const X = { role: "bashExecution", command: "ls", output: "" } as unknown as Message
const A = (...calls: ReadonlyArray<string>): Message => ({
  role: "assistant",
  content: [
    { type: "text", text: "next" },
    ...calls.map((id) => ({ type: "toolCall" as const, id, name: "click", arguments: {} }))
  ]
})
const T = (toolCallId: string, content = "ok"): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "click",
  content,
  isError: false
})

/** Faults as `at rule`. */
const faults = (messages: ReadonlyArray<unknown>, startsWithUser = false) =>
  checkValidity(messages as ReadonlyArray<Message>, { startsWithUser }).map(
    (f) => `${f.at} ${f.rule}`
  )

describe("checkValidity", () => {
  it.each([
    ["an empty history", []],
    ["one user message", [U()]],
    ["a call and its result", [U(), A("c1"), T("c1"), A()]],
    ["parallel results out of order", [U(), A("c1", "c2"), T("c2"), T("c1"), A()]],
    ["a user message between a call and its result", [U(), A("c1"), U(), T("c1"), A()]],
    ["an unknown role between a call and its result", [U(), A("c1"), X, T("c1"), A()]],
    ["a call in flight", [U(), A("c1")]],
    ["one of two calls in flight", [U(), A("c1", "c2"), T("c2")]],
    ["an id used again in a later message", [U(), A("c1"), T("c1"), A("c1"), T("c1"), U()]],
    ["one id twice in one message, with two results", [U(), A("c1", "c1"), T("c1"), T("c1"), U()]],
    ["an empty result", [U(), A("c1"), T("c1", ""), U()]],
    ["a system message and an unknown role without content", [S(""), X, U(), A()]],
    [
      "reasoning alone",
      [U(), { role: "assistant", content: [{ type: "thinking", thinking: "" }] }]
    ],
    [
      "images alone",
      [{ role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }] }]
    ],
    [
      "ids that are names of an object's own",
      [U(), A("__proto__", "constructor"), T("constructor"), T("__proto__"), U()]
    ]
  ])("accepts %s", (_, messages) => {
    expect(faults(messages)).toEqual([])
  })

  it.each([
    ["a result without a call", [U(), T("c1")], ["1 pairs"]],
    ["a result before its call", [U(), T("c1"), A("c1"), U()], ["1 pairs", "2 pairs"]],
    ["a second result", [U(), A("c1"), T("c1"), T("c1"), A()], ["3 pairs"]],
    [
      "a result whose call was answered, though the id was used later",
      [U(), A("c1"), T("c1"), T("c1"), A("c1"), T("c1"), U()],
      ["3 pairs"]
    ],
    ["a call that was never answered", [U(), A("c1"), A()], ["1 pairs"]],
    ["a call that waits behind a user's message", [U(), A("c1"), U()], ["1 pairs"]],
    ["a call that waits behind an unknown role", [U(), A("c1"), X], ["1 pairs"]],
    [
      "a call that waits behind a system message and results",
      [U(), A("c1", "c2"), S(), T("c2")],
      ["1 pairs"]
    ],
    ["each unanswered call", [U(), A("c1", "c2"), U(), A()], ["1 pairs", "1 pairs"]],
    ["a result behind the next assistant message", [U(), A("c1"), A(), T("c1")], ["3 order"]],
    [
      "a result behind the calls of the next one",
      [U(), A("c1"), A("c2"), T("c1"), T("c2"), U()],
      ["3 order"]
    ],
    [
      "the older of two calls of one id, when one result came",
      [U(), A("c1"), A("c1"), T("c1"), U()],
      ["1 pairs"]
    ],
    ["one of two equal ids of one message", [U(), A("c1", "c1"), T("c1"), U()], ["1 pairs"]],
    [
      "a call without an id",
      [U(), { role: "assistant", content: [{ type: "toolCall", name: "x" }] }, U()],
      ["1 pairs"]
    ],
    ["a result without an id", [U(), { role: "toolResult", content: "ok" }], ["1 pairs"]],
    ["a user message without content", [{ role: "user", content: [] }], ["0 empty"]],
    ["a blank text", [U(" \n\t")], ["0 empty"]],
    [
      "an assistant message whose blocks went",
      [U(), { role: "assistant", content: [] }],
      ["1 empty"]
    ],
    ["content that is neither text nor a list", [{ role: "user", content: { a: 1 } }], ["0 empty"]],
    ["a hole", [U(), undefined, A()], ["1 shape"]],
    ["null, a text and a number", [null, "hello", 3], ["0 shape", "1 shape", "2 shape"]],
    ["a role that is no text", [{ role: 7, content: "x" }], ["0 shape"]]
  ])("finds %s", (_, messages, expected) => {
    expect(faults(messages)).toEqual(expected)
  })

  it("asks for a user's message first only where it is told to", () => {
    expect(faults([S(), X, A(), U()], false)).toEqual([])
    expect(faults([S(), X, A(), U()], true)).toEqual(["2 first"])
    expect(faults([T("c1")], true)).toEqual(["0 first", "0 pairs"])
    expect(faults([S(), X, U(), A()], true)).toEqual([])
    expect(faults([S()], true)).toEqual([])
  })

  it("asks for a turn between an answer and a call only where it is told to", () => {
    const wants = (...messages: ReadonlyArray<Message>) =>
      checkValidity(messages, { alternates: true }).map(({ at, rule }) => `${at} ${rule}`)
    expect(faults([U(), A(), A("c1")])).toEqual([])
    expect(wants(U(), A(), A("c1"))).toEqual(["2 turns"])
    expect(wants(U(), A(), S(), A("c1"))).toEqual(["3 turns"])
    expect(wants(U(), A(), A(), U())).toEqual([])
    expect(wants(U(), A(), X, A("c1"))).toEqual([])
    expect(wants(U(), A("c1"), T("c1"), A("c2"))).toEqual([])
  })

  it("says which call, and never more than a little of what it was given", () => {
    const [fault] = checkValidity([U(), T("x".repeat(5000))])
    expect(fault?.what).toContain("xxx")
    expect(fault?.what.length).toBeLessThan(200)
  })

  it("never throws", () => {
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no")
        }
      }
    )
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(faults([trap, proxy, U()])).toEqual(["0 shape", "1 shape"])
    expect(checkValidity(undefined as never)).toHaveLength(1)
    expect(checkValidity(null as never)).toHaveLength(1)
    const role = fc.constantFrom("user", "assistant", "toolResult", "system", "other", 1, null)
    const odd = fc.record(
      { role, content: fc.anything(), toolCallId: fc.anything() },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fc.anything())), (messages) => {
        const found = checkValidity(messages as ReadonlyArray<Message>, { startsWithUser: true })
        for (const { at } of found) expect(at).toBeLessThan(messages.length)
        expect(found.map((f) => f.at)).toEqual(found.map((f) => f.at).toSorted((a, b) => a - b))
      })
    )
  })

  it("takes any order of parallel results, and misses each one that is left out", () => {
    const batches = fc.array(
      fc.integer({ min: 1, max: 5 }).chain((n) => {
        const ids = Array.from({ length: n }, (_, i) => `c${i}`)
        return fc
          .shuffledSubarray(ids, { minLength: n, maxLength: n })
          .map((order) => ({ ids, order }))
      }),
      { minLength: 1, maxLength: 8 }
    )
    fc.assert(
      fc.property(batches, fc.nat(), (steps, pick) => {
        const history = steps.flatMap(({ ids, order }) => [A(...ids), ...order.map((id) => T(id))])
        const whole = [U(), ...history, U()]
        expect(faults(whole)).toEqual([])
        const results = whole.flatMap((m, i) => (m.role === "toolResult" ? [i] : []))
        const gone = results[pick % results.length]!
        const without = whole.filter((_, i) => i !== gone)
        const caller = whole.slice(0, gone).findLastIndex((m) => m.role === "assistant")
        expect(faults(without)).toEqual([`${caller} pairs`])
      })
    )
  })

  it("reads 100 000 messages, all calls of one id among them", () => {
    const many = Array.from({ length: 50_000 }, () => [A("c1"), T("c1")]).flat()
    expect(faults(many)).toEqual([])
    expect(faults(many.filter((m) => m.role === "assistant"))).toHaveLength(49_999)
  })
})

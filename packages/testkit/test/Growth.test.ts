import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cloned, forked, growths, heads, trimmed } from "../src/Growth.ts"
import { histories } from "../src/Histories.ts"

const U: Message = { role: "user", content: "go on" }
const A = (...ids: ReadonlyArray<string>): Message => ({
  role: "assistant",
  content: [
    { type: "text", text: "x" },
    ...ids.map((id) => ({ type: "toolCall" as const, id, name: "t", arguments: {} }))
  ]
})
const T = (toolCallId: string): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "t",
  content: "ok",
  isError: false
})

describe("heads", () => {
  it("are where a model would be asked: behind a user's message, or the last result of a step", () => {
    const history = [U, A("c1", "c2"), T("c2"), T("c1"), A(), U, A("c1"), U, T("c1"), A("c3")]
    expect(heads(history).map((h) => h.length)).toEqual([1, 4, 6, 9])
  })

  it("are valid, with no call open", () => {
    fc.assert(
      fc.property(histories(), (history) => {
        for (const head of heads(history)) expect(checkValidity([...head, U])).toEqual([])
      })
    )
  })
})

describe("variants", () => {
  it("clones share nothing, and say the same", () => {
    const all = heads([U, A("c1"), T("c1")])
    const copies = cloned(all)
    expect(copies).toEqual(all)
    expect(copies[1]![0]).not.toBe(copies[0]![0])
  })

  it("forks and trimmed heads are valid, and cut at a border", () => {
    fc.assert(
      fc.property(histories(), histories(), fc.nat(40), (history, tail, at) => {
        const fork = forked(history, at, tail)
        expect(checkValidity(fork)).toEqual([])
        expect(fork.length).toBeGreaterThanOrEqual(tail.length)
        const rest = trimmed(history, at)
        expect(checkValidity(rest)).toEqual([])
        expect(rest).toEqual(history.slice(history.length - rest.length))
        const ids = fork.flatMap((m) => ("id" in m ? [m.id] : []))
        expect(new Set(ids).size).toBe(ids.length)
      })
    )
  })

  it("growths come in every kind, each request valid", () => {
    const kinds = new Set<string>()
    fc.assert(
      fc.property(growths(histories({ turns: 2 }), { requests: 8 }), ({ kind, requests }) => {
        if (requests.length > 1) kinds.add(kind)
        expect(requests.length).toBeLessThanOrEqual(8)
        for (const request of requests) expect(checkValidity(request)).toEqual([])
      }),
      { numRuns: 300 }
    )
    expect([...kinds].toSorted()).toEqual(["cloned", "forked", "plain", "trimmed"])
  })
})

import * as Trigger from "@varve/core/Trigger"
import type { View } from "@varve/core/View"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { group, handView } from "./fixtures/handView.ts"

const at = (usage: Partial<View["usage"]>, rest: Partial<View> = {}): View => {
  const view = handView({ tokens: 1000 })
  return { ...view, ...rest, usage: { ...view.usage, ...usage } }
}

describe("a trigger", () => {
  it.each<readonly [string, Trigger.Trigger, (n: number) => View, number]>([
    ["tokens", Trigger.tokens(500), (tokens) => at({ tokens }), 500],
    ["share", Trigger.share(0.7), (tokens) => at({ tokens }), 700],
    ["images", Trigger.images(4), (images) => at({ images }), 4],
    ["bytes", Trigger.bytes(9000), (requestBytes) => at({ requestBytes }), 9000],
    ["messages", Trigger.messages(12), (messages) => at({ messages }), 12],
    [
      "groups",
      Trigger.groups(3),
      (n) => at({}, { groups: Array.from({ length: n }, (_, i) => group(`g${i}`)) }),
      3
    ],
    ["turns", Trigger.turns(2), (turns) => at({}, { turns }), 2],
    [
      "steps",
      Trigger.steps(2),
      (n) => at({}, { steps: Array.from({ length: n }, () => ({}) as never) }),
      2
    ]
  ])("on %s holds from its mark on, and not one below it", (_, trigger, view, mark) => {
    expect(trigger(view(mark - 1))).toBe(false)
    expect(trigger(view(mark))).toBe(true)
    expect(trigger(view(mark + 1))).toBe(true)
    expect(trigger(view(0))).toBe(false)
  })

  it("on a cold cache holds where it is cold", () => {
    expect(Trigger.cacheCold(at({}, { cacheCold: true }))).toBe(true)
    expect(Trigger.cacheCold(at({}, { cacheCold: false }))).toBe(false)
  })

  it("on a share follows the limit, not the window", () => {
    const view = at({ tokens: 80 })
    expect(Trigger.share(0.8)({ ...view, limits: { ...view.limits, tokens: 100 } })).toBe(true)
    expect(Trigger.share(0.8)({ ...view, limits: { ...view.limits, tokens: 101 } })).toBe(false)
    expect(Trigger.share(0.1)({ ...view, limits: { ...view.limits, tokens: Infinity } })).toBe(
      false
    )
  })

  it("joined with and, or, not is as in logic", () => {
    const view = handView({})
    fc.assert(
      fc.property(fc.array(fc.boolean()), (values) => {
        const triggers = values.map((value) => () => value)
        expect(Trigger.and(...triggers)(view)).toBe(values.every(Boolean))
        expect(Trigger.or(...triggers)(view)).toBe(values.some(Boolean))
        for (const [i, trigger] of triggers.entries())
          expect(Trigger.not(trigger)(view)).toBe(!values[i])
      })
    )
  })

  it("takes a predicate of one's own", () => {
    const late: Trigger.Trigger = (view) => view.requests > 5
    const both = Trigger.and(late, Trigger.not(Trigger.cacheCold))
    expect(both(at({}, { requests: 6 }))).toBe(true)
    expect(both(at({}, { requests: 5 }))).toBe(false)
  })
})

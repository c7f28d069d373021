import * as Edit from "@varve/core/Edit"
import { blockId } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { strategy } from "@varve/core/Strategy"
import { createMemory } from "@varve/core/createMemory"
import * as Commit from "@varve/core/Commit"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Draft } from "../src/internal/Draft.ts"
import { accept } from "../src/internal/gate.ts"
import { take } from "../src/internal/propose.ts"
import type { ViewContext } from "../src/internal/ViewState.ts"
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
  user,
  words
} from "./fixtures/history.ts"
import { viewOf } from "./fixtures/views.ts"

const long = words(300)
const history = [
  system("rules"),
  task,
  user([text(long), image()], { id: "long" }),
  assistant(thinking("hm", "sig"), text("I look at it."), call("a", "read", { path: long })),
  result("a", [text(long), image()], { id: "read" }),
  assistant(thinking("alone"), text(long)),
  ...session(2).slice(1),
  user("newest")
]

const gate = (
  messages: ReadonlyArray<Message> = history,
  parts: Partial<ViewContext> = {},
  guard = false
) => {
  const view = viewOf(messages, parts)
  const draft = new Draft(view)
  const entries = view.context.transcript.groups.flatMap((g) => g.entries)
  const id = (at: number) => entries.find((e) => e.at === at)!.id
  return {
    view,
    draft,
    id,
    block: (at: number, path = "0") => blockId(id(at), path),
    group: (at: number) =>
      view.context.transcript.groups.find((g) => g.entries.some((e) => e.at === at))!.id,
    /** Why it is refused; nothing where it is accepted. */
    why: (edit: unknown) => {
      const before = draft.totals
      const got = accept(draft, edit as Edit.Edit, { guard })
      if (typeof got !== "string") return undefined
      // What is refused leaves no trace.
      expect(draft.totals).toBe(before)
      return got
    }
  }
}

describe("a replacement", () => {
  it("of something long by something short is accepted, with what it costs before and after", () => {
    const g = gate()
    const got = accept(g.draft, Edit.replace(g.block(4), "[read]"), { guard: false })
    if (typeof got === "string") throw new Error(got)
    expect(got.before).toBe(g.view.counter.text(long))
    expect(got.after).toBe(g.view.counter.text("[read]"))
    expect(g.draft.freeze().messages[4]).toMatchObject({ content: [text("[read]"), image()] })
  })

  it.each([
    ["nothing", null, "not an edit"],
    ["a text", "drop it", "not an edit"],
    ["another kind", { kind: "delete", block: "x" }, "not an edit"],
    ["no block", { kind: "replace", to: [], rank: 2 }, "not a replacement"],
    ["no list", { kind: "replace", block: "x/0", to: "card", rank: 2 }, "not a replacement"],
    ["another rank", { kind: "replace", block: "x/0", to: [], rank: 0 }, "not a replacement"],
    ["an unknown message", Edit.replace("x/0", "card"), "no such block"]
  ])("is refused that is %s", (_, edit, why) => {
    expect(gate().why(edit)).toMatch(new RegExp(`^${why}`))
  })

  it("is refused for what is protected, with the reason", () => {
    const g = gate()
    expect(g.why(Edit.replace(g.block(0), "x"))).toBe("protected: system message")
    expect(g.why(Edit.replace(g.block(1), "x"))).toBe("protected: the task")
    expect(g.why(Edit.replace(g.block(10), "x"))).toBe("protected: the newest user message")
    const pinned = gate(history, { pins: new Set(["read"]) })
    expect(pinned.why(Edit.replace(pinned.block(4), "x"))).toBe("protected: pinned")
    expect(pinned.why(Edit.replace(pinned.block(3, "2"), [call("a", "read")]))).toBe(
      "protected: needed by a pinned result"
    )
    expect(g.why(Edit.replace(g.block(2, "9"), "x"))).toBe("no such block")
  })

  it("of what is softly protected is the guard's alone; of the hard, nobody's", () => {
    const g = gate([task, ...step(1), user(long)], {}, true)
    expect(g.why(Edit.replace(g.block(3), "[clipped]", 1))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(0), "x"))).toBe("protected: the task")
  })

  it("only goes down: thumbnail, card, nothing", () => {
    const g = gate()
    const at = g.block(4, "1")
    const thumb = image(64, 36)
    expect(g.why(Edit.replace(at, thumb, 1))).toBeUndefined()
    expect(g.why(Edit.replace(at, image(32, 18), 1))).toBe("already at this rank or beyond")
    expect(g.why(Edit.replace(at, "[card]", 2))).toBeUndefined()
    expect(g.why(Edit.replace(at, thumb, 1))).toBe("already at this rank or beyond")
    expect(g.why(Edit.replace(at, "[c]", 2))).toBe("already at this rank or beyond")
    expect(g.why(Edit.replace(at, [], 2))).toBeUndefined()
    expect(g.why(Edit.replace(at, [], 2))).toBe("already at this rank or beyond")
  })

  it("must save something and make nothing larger", () => {
    const g = gate()
    expect(g.why(Edit.replace(g.block(4), long + " and more"))).toBe("it would grow")
    expect(g.why(Edit.replace(g.block(4), long))).toBe("it would save nothing")
    // More images than before, and a larger one, though tokens fall.
    expect(g.why(Edit.replace(g.block(4, "1"), [image(8, 8), image(8, 8)]))).toBe("it would grow")
    expect(g.why(Edit.replace(g.block(4), image(8, 8)))).toBe(
      "an image may only take the place of an image"
    )
    expect(g.why(Edit.replace(g.block(4, "1"), image(64, 36, 0, 90_000), 1))).toBe("it would grow")
  })

  it("never leaves a message empty, or with reasoning alone", () => {
    const g = gate()
    expect(g.why(Edit.replace(g.block(5, "1"), []))).toBe("its message would be empty")
    expect(g.why(Edit.replace(g.block(5, "1"), "[text left out]"))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(2, "0"), []))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(2, "1"), []))).toBe("its message would be empty")
    // A result may be empty.
    expect(g.why(Edit.replace(g.block(4, "0"), []))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(4, "1"), []))).toBeUndefined()
  })

  it("of a call keeps its id and its name", () => {
    const g = gate()
    const at = g.block(3, "2")
    const why = "a call may only be replaced by one with the same id and name"
    for (const to of [
      [],
      [text("x")],
      [call("b", "read")],
      [call("a", "write")],
      [call("a", "read"), text("x")]
    ])
      expect(g.why(Edit.replace(at, to))).toBe(why)
    expect(g.why(Edit.replace(at, [call("a", "read", { path: "…" })]))).toBeUndefined()
  })

  it("of a call that is signed is refused: it stays as it is, or leaves with its group", () => {
    const signed = odd({ ...call("s", "read", { path: long }), thoughtSignature: "sig" })
    const g = gate([task, assistant(signed), result("s"), user("newest")])
    expect(g.why(Edit.replace(g.block(1), [call("s", "read")]))).toContain("a signed call")
    expect(g.why(Edit.fold([g.group(1)], null, g.id(2)))).toBeUndefined()
  })

  it("of reasoning takes it out whole or not at all", () => {
    const g = gate()
    const at = g.block(3, "0")
    for (const to of [[thinking("h", "sig")], [text("h")]])
      expect(g.why(Edit.replace(at, to))).toBe("reasoning may only be left out whole")
    expect(g.why(Edit.replace(at, []))).toBeUndefined()
  })

  it("puts in texts and images alone, and none that is empty", () => {
    const g = gate()
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [null, "not a block"],
      ["text", "not a block"],
      [text(" \n"), "an empty text"],
      [{ type: "text" }, "an empty text"],
      [thinking("x"), "a block may be replaced by texts and images only"],
      [call("a"), "a block may be replaced by texts and images only"],
      [{ type: "resource" }, "a block may be replaced by texts and images only"],
      [image(8, 8), "an image may only take the place of an image"],
      [{ type: "image", data: "", mimeType: "image/png" }, "not an image"],
      [{ type: "image", data: "AAAA" }, "not an image"],
      [{ type: "image" }, "not an image"]
    ]
    for (const [to, why] of cases)
      expect(g.why({ kind: "replace", block: g.block(4), rank: 2, to: [to] }), why).toBe(why)
  })

  it("reaches no block inside one that was replaced, and no message that was folded", () => {
    const box = odd({ type: "tool_result", content: [text(long), text(long)] })
    const g = gate([task, user([box, text("x")]), assistant("well then"), user("newest")])
    expect(g.why(Edit.replace(g.block(1, "0.1"), "[left out]"))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(1, "0"), "[all left out]"))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(1, "0.0"), "x"))).toBe("the block around it is replaced")
    expect(g.why(Edit.fold([g.group(1)], null, g.id(1)))).toBeUndefined()
    expect(g.why(Edit.replace(g.block(1, "1"), []))).toBe("its message is folded")
  })
})

describe("a fold", () => {
  it.each([
    ["no items", { kind: "fold", id: "f", text: null, basis: "x" }, "not a fold"],
    ["no basis", { kind: "fold", id: "f", items: [], text: null }, "not a fold"],
    ["a blank text", Edit.fold(["g"], " ", "x"), "not a fold"],
    ["no text", { ...Edit.fold(["g"], null, "x"), text: undefined }, "not a fold"],
    ["an unknown item", Edit.fold(["g"], null, "x"), "g is not there or folded already"],
    ["nothing", Edit.fold([], null, "x"), "its basis is gone"]
  ])("is refused that has %s", (_, edit, why) => {
    expect(gate().why(edit)).toMatch(new RegExp(`^${why}`))
  })

  it("is refused for what is protected, open, folded already, or of no ground", () => {
    const g = gate()
    expect(g.why(Edit.fold([g.group(0)], null, g.id(5)))).toBe("protected: system message")
    expect(g.why(Edit.fold([g.group(3), g.group(1)], null, g.id(5)))).toBe("protected: the task")
    expect(g.why(Edit.fold([g.group(3)], null, "gone"))).toBe("its basis is gone")
    expect(g.why(Edit.fold([], null, g.id(3)))).toBe("nothing to fold")
    const fold = Edit.fold([g.group(3)], "short", g.id(4))
    expect(g.why(fold)).toBeUndefined()
    expect(g.why(fold)).toBe("a fold of this id is there already")
    expect(g.why(Edit.fold([g.group(3)], null, g.id(4)))).toContain("folded already")
    expect(g.why(Edit.fold([fold.id], null, g.id(4)))).toBeUndefined()
  })

  it("of softly protected groups is the guard's alone", () => {
    const open = [task, assistant(text(long), "a"), user(long)]
    for (const guard of [false, true]) {
      const g = gate(open.slice(0, 2), {}, guard)
      const why = g.why(Edit.fold([g.group(1)], null, g.id(1)))
      expect(why).toBe(guard ? undefined : "protected: a call without a result")
    }
  })

  it("never leaves nothing to answer: the last of a conversation can't leave whole", () => {
    for (const startsWithUser of [false, true]) {
      const profile = { ...defaultProfile, startsWithUser }
      const only = user([image(), image()], { id: "only" })
      const g = gate([system("rules"), only], { protectLast: 0, profile }, true)
      const why = startsWithUser
        ? "the first message would not be a user's"
        : "nothing would be left to answer"
      expect(g.why(Edit.fold([g.group(1)], null, g.id(1)))).toBe(why)
      const noted = Edit.fold([g.group(1)], "[left out]", g.id(1))
      expect(g.why(noted)).toBeUndefined()
      expect(g.why(Edit.fold([noted.id], null, g.id(1)))).toBe(why)
    }
  })

  it("must save a fifth of what it stands for", () => {
    const g = gate()
    const { tokens } = g.draft.item(g.group(5))!
    const costs = (n: number) => {
      let fill = ""
      while (g.view.counter.message(user([text(fill + " row")])) <= n) fill += " row"
      return fill
    }
    expect(g.why(Edit.fold([g.group(5)], costs(tokens * 0.85), g.id(5)))).toBe(
      "it saves less than a fifth"
    )
    expect(g.why(Edit.fold([g.group(5)], costs(tokens * 1.5), g.id(5)))).toBe("it would grow")
    expect(g.why(Edit.fold([g.group(5)], costs(tokens * 0.79), g.id(5)))).toBeUndefined()
  })
})

describe("a memo", () => {
  it.each([
    ["without a key", { kind: "memo", text: "x", basis: null, cap: 9 }, "not a memo"],
    ["of an empty key", Edit.memo("", "x", { cap: 9 }), "not a memo"],
    ["of a blank text", Edit.memo("k", " ", { cap: 9 }), "not a memo"],
    ["without a cap", { kind: "memo", key: "k", text: "x", basis: null }, "a memo needs a cap"],
    ["of a cap of 0", Edit.memo("k", "x", { cap: 0 }), "a memo needs a cap"],
    ["of a cap that is no number", Edit.memo("k", "x", { cap: NaN }), "a memo needs a cap"],
    ["of a cap without an end", Edit.memo("k", "x", { cap: Infinity }), "a memo needs a cap"],
    ["of a basis that is gone", Edit.memo("k", "x", { cap: 99, basis: "x" }), "its basis is gone"],
    ["that removes nothing", Edit.memo("k", null, { cap: 9 }), "unchanged"]
  ])("is refused %s", (_, edit, why) => {
    expect(gate().why(edit)).toMatch(new RegExp(`^${why}`))
  })

  it("stays within its cap", () => {
    const g = gate()
    const tokens = g.view.counter.message(user([text("what was done")]))
    expect(g.why(Edit.memo("k", "what was done", { cap: tokens - 1 }))).toBe(
      `${tokens} tokens are over its cap of ${tokens - 1}`
    )
    expect(g.why(Edit.memo("k", "what was done", { cap: tokens }))).toBeUndefined()
    expect(g.why(Edit.memo("k", "what was done", { cap: tokens }))).toBe("unchanged")
    // A refused one leaves the one before it in its place.
    expect(g.why(Edit.memo("k", long, { cap: tokens }))).toContain("over its cap")
    expect(g.draft.memo("k")?.text).toBe("what was done")
    expect(g.why(Edit.memo("k", null, { cap: tokens }))).toBeUndefined()
  })
})

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

describe("an edit that holds what is no JSON", () => {
  it("is refused, wherever it holds it", () => {
    for (const bad of [cyclic, { n: 10n }]) {
      const g = gate()
      const why = "what it holds is not JSON"
      expect(g.why(Edit.fold([g.group(5)], null, g.id(5), bad))).toBe(why)
      expect(g.why(Edit.memo("k", "x", { cap: 99, data: bad }))).toBe(why)
      expect(g.why(Edit.replace(g.block(3, "2"), [call("a", "read", bad)]))).toBe(why)
      const block = odd({ ...text("short"), extra: bad })
      expect(g.why(Edit.replace(g.block(4), block))).toBe(why)
    }
  })

  it("is taken without what isn't the edit's own", () => {
    const g = gate()
    for (const edit of [
      Edit.replace(g.block(4), "short"),
      Edit.fold([g.group(5)], null, g.id(5)),
      Edit.memo("k", "x", { cap: 99 })
    ]) {
      const got = accept(g.draft, { ...edit, junk: 10n } as unknown as Edit.Edit, { guard: false })
      if (typeof got === "string") throw new Error(got)
      expect(got.edit).toEqual(edit)
    }
  })

  it("is taken as a copy: what the strategy does to its object later stays with it", () => {
    const g = gate()
    const to = [text("short")]
    const data = { list: [1] }
    const replace = { kind: "replace" as const, block: g.block(4), rank: 2 as const, to }
    const one = accept(g.draft, replace, { guard: false })
    const two = accept(g.draft, Edit.memo("k", "x", { cap: 99, data }), { guard: false })
    to.push(text("more"))
    data.list.push(2)
    expect(one).toMatchObject({ edit: { to: [text("short")] } })
    expect(two).toMatchObject({ edit: { data: { list: [1] } } })
  })
})

describe("a proposal", () => {
  const propose = (edits: ReadonlyArray<Edit.Edit>, atomic: boolean) => {
    const g = gate()
    const proposals = [Edit.proposal("why", edits, { atomic })]
    return take("s", { proposals, error: undefined }, g.view, false, 0)
  }
  const g = gate()
  const good = [Edit.replace(g.block(4), "short"), Edit.replace(g.block(5, "1"), "short")]
  const bad = Edit.replace(g.block(1), "not the task")

  it("stands edit by edit, each refusal with its reason", () => {
    const { report, view } = propose([good[0]!, bad, good[1]!], false)
    expect([report.proposed, report.accepted]).toEqual([3, 2])
    expect(report.refused).toEqual([{ edit: g.block(1), why: "protected: the task" }])
    expect(report.reasons).toEqual({ why: 2 })
    expect(report.saved).toBe(g.view.estimate - view.estimate)
  })

  it("that is atomic stands as a whole or not at all", () => {
    const { report, view, accepted } = propose([good[0]!, good[1]!, bad], true)
    expect([report.proposed, report.accepted, accepted.length]).toEqual([3, 0, 0])
    expect(report.refused).toEqual([{ edit: g.block(1), why: "protected: the task" }])
    expect(view.messages).toEqual(g.view.messages)
    expect(propose(good, true).report.accepted).toBe(2)
  })

  it("that was refused as a whole leaves nothing to the one behind it", () => {
    const proposals = [
      Edit.proposal("all or none", [good[0]!, bad], { atomic: true }),
      Edit.proposal("why", [good[1]!])
    ]
    const { view, report } = take("s", { proposals, error: undefined }, g.view, false, 0)
    expect(report.accepted).toBe(1)
    expect(view.messages.filter((m, i) => m !== g.view.messages[i]).length).toBe(1)
  })

  const trap: never = new Proxy(
    {},
    {
      get: () => {
        throw new Error("trap")
      }
    }
  ) as never
  const { proxy: revoked, revoke } = Proxy.revocable<Array<never>>([], {})
  revoke()

  it.each<readonly [string, () => unknown]>([
    ["an edit that throws", () => [trap]],
    [
      "a block that throws",
      () => [{ kind: "replace", block: gate().block(4), rank: 2, to: [trap] }]
    ],
    ["items that throw", () => [{ kind: "fold", id: "f", items: [trap], text: null, basis: "x" }]],
    ["a list of edits that throws", () => [{ edits: trap, reason: "r" }]],
    ["a list that was revoked", () => revoked],
    ["edits that were revoked", () => [{ edits: revoked, reason: "r" }]],
    ["a reason that is no text", () => [{ edits: good, reason: Object.create(null) as object }]],
    ["all of it", () => trap]
  ])("is only looked at with care: %s", async (_, proposed) => {
    for (const make of [
      () => strategy("odd", () => proposed() as never),
      () => ({ name: "odd", start: Effect.succeed(() => Effect.sync(proposed as () => never)) })
    ]) {
      const memory = createMemory({ pipeline: [make()] })
      const { messages, report } = await memory.prepare(history)
      expect(messages).toBe(history)
      const [own] = report.strategies
      expect(own!.error ?? own!.refused[0]?.why ?? "accepted").not.toBe("")
      await memory.close()
    }
  })

  it("whatever it holds, throws nothing and changes nothing that is not an edit", async () => {
    const any = fc.record(
      {
        kind: fc.constantFrom("replace", "fold", "memo", "x"),
        block: fc.anything(),
        rank: fc.constantFrom(1, 2, 3),
        to: fc.anything(),
        items: fc.anything(),
        text: fc.anything(),
        basis: fc.anything(),
        key: fc.anything(),
        cap: fc.anything(),
        id: fc.anything()
      },
      { requiredKeys: ["kind"] }
    )
    const list = fc.array(fc.oneof(fc.anything(), any))
    await fc.assert(
      fc.asyncProperty(list, fc.boolean(), fc.anything(), async (edits, wrapped, reason) => {
        const proposed = wrapped ? [{ edits, reason }] : edits
        const memory = createMemory({
          pipeline: [strategy("odd", () => proposed as never)],
          commit: Commit.immediate
        })
        const out = await memory.prepare(history)
        const memos = out.report.strategies[0]!.accepted
        expect(out.messages.length).toBe(history.length + memos)
        await memory.close()
      }),
      { numRuns: 300 }
    )
  })
})

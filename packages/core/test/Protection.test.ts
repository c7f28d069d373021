import { StepLog } from "@varve/core/StepLog"
import { blockId, blocksOf } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { histories } from "@varve/testkit/Histories"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isNewest, protectionOf } from "../src/internal/protect.ts"
import { touchesNewest } from "../src/internal/replay.ts"
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
  user
} from "./fixtures/history.ts"
import { viewOf } from "./fixtures/views.ts"

/** How the block at a path of a message is protected, as `level: reason`. */
const of = (messages: ReadonlyArray<Message>, parts: Partial<ViewContext> = {}) => {
  const view = viewOf(messages, parts)
  const { transcript } = view.context
  const id = (at: number) =>
    transcript.groups.flatMap((g) => g.entries).find((e) => e.at === at)!.id
  const say = (protection: ReturnType<typeof view.protection>) =>
    protection === undefined ? "none" : `${protection.level}: ${protection.reason}`
  return {
    block: (at: number, path = "0") => say(view.protection(blockId(id(at), path))),
    message: (at: number) => say(view.protection(id(at))),
    group: (at: number) =>
      say(view.protection(transcript.groups.find((g) => g.entries.some((e) => e.at === at))!.id)),
    id,
    view
  }
}
const behind = [...session(3).slice(1), user("newest"), assistant("on it"), user("newest of all")]

describe("hard-protected", () => {
  it("are system messages and unknown roles, wherever they stand", () => {
    const custom = odd({ role: "custom", content: [text("note")] }) as unknown as Message
    const p = of([system("rules"), task, system("more rules"), custom, ...behind])
    for (const see of [p.block, p.message, p.group]) {
      expect(see(0)).toBe("hard: system message")
      expect(see(2)).toBe("hard: system message")
      expect(see(3)).toBe("hard: message of a role that is not known here")
    }
  })

  it("is the text of the first user message, and not its image", () => {
    const p = of([assistant("hello there"), user([text("the task"), image()]), ...behind])
    expect(p.block(1, "0")).toBe("hard: the task")
    expect(p.block(1, "1")).toBe("none")
    expect(p.message(1)).toBe("hard: the task")
    expect(p.group(1)).toBe("hard: the task")
    expect(p.block(0)).toBe("none")
  })

  it("is no first user message that has no text", () => {
    const p = of([user([image()]), ...behind])
    expect([p.block(0), p.message(0), p.group(0)]).toEqual(["none", "none", "none"])
  })

  it("is what is pinned, by the host's id or by ours", () => {
    const history = [task, user("remember this", { id: "m7" }), ...behind]
    expect(of(history).message(1)).toBe("none")
    for (const pin of ["m7", of(history).id(1)]) {
      const p = of(history, { pins: new Set([pin]) })
      expect([p.block(1), p.message(1), p.group(1)]).toEqual(Array(3).fill("hard: pinned"))
    }
  })

  it("is all that a pinned result needs: its call and the reasoning, not the call beside it", () => {
    const asks = assistant(thinking("hm"), text("I look."), call("a"), call("b"))
    const history = [task, asks, result("a"), result("b", "ok", { id: "r" }), ...behind]
    const p = of(history, { pins: new Set(["r"]) })
    expect(p.block(3)).toBe("hard: pinned")
    expect(p.block(1, "0")).toBe("hard: needed by a pinned result")
    expect(p.block(1, "1")).toBe("none")
    expect(p.block(1, "2")).toBe("none")
    expect(p.block(1, "3")).toBe("hard: needed by a pinned result")
    expect(p.group(1)).toBe("hard: pinned")
  })
})

describe("softly protected", () => {
  it("is the newest user message alone", () => {
    const p = of([
      task,
      ...step(1),
      user("older"),
      ...step(2),
      user("newer"),
      assistant("so be it")
    ])
    expect(p.message(3)).toBe("none")
    expect(p.message(6)).toBe("soft: the newest user message")
  })

  it("are results that the model has not seen, with their calls", () => {
    const p = of(session(3))
    for (const at of [5, 6]) expect(p.block(at)).toBe("soft: the model has not seen it yet")
    expect(p.block(4)).toBe("none")
    expect(of([...session(3), assistant("I see")]).block(6)).toBe("none")
  })

  it("is a call without a result", () => {
    const p = of([task, assistant("a", "b"), result("a")])
    for (const at of [1, 2]) expect(p.block(at)).toBe("soft: a call without a result")
    expect(p.group(1)).toBe("soft: a call without a result")
  })

  it("is the newest screenshot, and the group that holds it", () => {
    const p = of([...session(3), assistant("fine"), user("no image here"), assistant("indeed so")])
    expect(p.block(6, "1")).toBe("soft: the newest screenshot")
    expect(p.block(6, "0")).toBe("none")
    expect(p.group(6)).toBe("soft: the newest screenshot")
    expect(p.block(4, "1")).toBe("none")
  })

  it("is a step that is pending", () => {
    const steps = new StepLog()
    steps.begin({ id: "s1", goal: "go", callId: "c1" })
    steps.begin({ id: "s2", goal: "go", callId: "c2" })
    steps.finish({ id: "s2", callId: "c2", outcome: "success" })
    const p = of([...session(4), assistant("well")], { steps })
    expect(p.group(1)).toBe("soft: its step is pending")
    expect(p.block(2)).toBe("soft: its step is pending")
    expect(p.group(3)).toBe("none")
  })

  it.each([0, 1, 2, 3, 10, 11, 12])("are the last %i groups, exactly", (n) => {
    const history = [task, ...session(10, { images: 0 }).slice(1), assistant("the end")]
    const p = of(history, { protectLast: n })
    const recent = p.view.items.map(
      (i) => p.view.protection(i.id)?.reason === "one of the last groups"
    )
    // Twelve groups, the task the first: it is protected for another reason.
    expect(recent).toEqual(Array.from({ length: 12 }, (_, i) => i > 0 && i >= 12 - n))
  })

  it("are groups and not turns: one prompt with many steps has nothing but its end protected", () => {
    const p = of(session(500, { images: 0, words: 3 }), { protectLast: 2 })
    const free = p.view.items.filter((i) => p.view.protection(i.id) === undefined)
    expect(free.length).toBe(501 - 3)
  })

  it("are no images of the last groups but the newest", () => {
    const p = of([...session(3), assistant("well then")], { protectLast: 4 })
    expect(p.block(4, "0")).toBe("soft: one of the last groups")
    expect(p.block(4, "1")).toBe("none")
    expect(p.block(6, "1")).toBe("soft: the newest screenshot")
  })
})

it("nothing protects what isn't there", () => {
  const { view } = of(session(1))
  for (const id of ["", "x", "x/0", "/", "x/0/1"]) expect(view.protection(id)).toBeUndefined()
})

it("edits touch the newest of its kind exactly where protection says so", () => {
  fc.assert(
    fc.property(histories(), (messages) => {
      const { context } = viewOf(messages)
      for (const entry of context.transcript.groups.flatMap((g) => g.entries)) {
        for (let i = 0; i < blocksOf(entry.message).length; i++) {
          const block = blockId(entry.id, String(i))
          const edit = { kind: "replace", block, rank: 1, to: [] } as const
          expect(touchesNewest(context, edit)).toBe(isNewest(protectionOf(context, block)))
        }
      }
    })
  )
})

import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Block, Message } from "@varve/core/Message"
import { blocksOf, textOf } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { stepMemory } from "@varve/core/StepMemory"
import { strategy } from "@varve/core/Strategy"
import { checkValidity } from "@varve/core/Validity"
import { deepFreeze } from "@varve/testkit/Freeze"
import { histories } from "@varve/testkit/Histories"
import { measure } from "@varve/testkit/Measure"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  assistant,
  call,
  odd,
  result,
  session,
  step,
  task,
  text,
  thinking,
  user
} from "./fixtures/history.ts"
import { counter } from "./fixtures/views.ts"

type Mode = "none" | "drop" | "error"

const thoughts = (messages: ReadonlyArray<Message>): ReadonlyArray<Block> =>
  messages.flatMap((m) => blocksOf(m).filter((b) => b.type === "thinking"))

/** Makes a card of the image of one step. */
const cardOf = (n: number) =>
  strategy("card", (view) =>
    view.images.filter((i) => i.ordinal === n).map((i) => Edit.replace(i.block, "[card]"))
  )

const memoryOf = (reasoning: Mode, options: MemoryOptions) =>
  createMemory({
    commit: Commit.immediate,
    profile: { ...defaultProfile, reasoning },
    protectLast: 0,
    ...options
  })

const talk = [
  ...session(6, { thinking: true }),
  assistant(thinking("end", "s"), "that is it"),
  user("go on")
]

describe("an edit in front of reasoning", () => {
  it("where the provider does not care, leaves it and counts nothing", async () => {
    const { messages, report } = await memoryOf("none", { pipeline: [cardOf(2)] }).prepare(talk)
    expect(thoughts(messages)).toEqual(thoughts(talk))
    expect(report.reasoning).toEqual({ lost: 0, removed: 0 })
  })

  it("where the provider drops it, leaves it and counts what will be lost", async () => {
    const memory = memoryOf("drop", { pipeline: [cardOf(2)] })
    const { messages, report } = await memory.prepare(talk)
    expect(messages.filter((m, i) => m !== talk[i]).length).toBe(1)
    // Of steps 2 to 6 and of the answer.
    expect(report.reasoning).toEqual({ lost: 6, removed: 0 })
    // It was counted once: nothing more is lost as long as nothing else is edited.
    const next = await memory.prepare([...talk, assistant("so it is"), user("thanks")])
    expect(next.report.reasoning).toEqual({ lost: 0, removed: 0 })
  })

  it("where the provider refuses it, takes along all that stands behind, whole, and nothing before", async () => {
    const memory = memoryOf("error", { pipeline: [cardOf(3)] })
    const { messages, report } = await memory.prepare(deepFreeze(talk))
    expect(report.reasoning).toEqual({ lost: 0, removed: 5 })
    expect(thoughts(messages)).toEqual(thoughts(talk).slice(0, 2))
    expect(checkValidity(messages)).toEqual([])
    expect(messages.length).toBe(talk.length)
    const own = memory.explain().filter((e) => e.strategy === "reasoning")
    expect(own.map((e) => e.state)).toEqual(Array(5).fill("in force"))
    expect(own[0]!.reason).toBe("bound to what was edited before it")
    // What comes later is bound to what was sent, and stays.
    const more = [...talk, ...step(7, { thinking: true }), user("thanks")]
    const next = await memory.prepare(more)
    expect(thoughts(next.messages)).toEqual([
      ...thoughts(talk).slice(0, 2),
      ...thoughts(more).slice(-1)
    ])
  })

  it("leaves no message that is reasoning alone, nor an empty one", async () => {
    const history = [
      task,
      ...step(1),
      assistant(thinking("alone", "s")),
      user("and?"),
      assistant("well then"),
      user("go on")
    ]
    const { messages } = await memoryOf("error", { pipeline: [cardOf(1)], protectLast: 0 }).prepare(
      [...history, ...step(2), user("next")]
    )
    expect(messages[3]).toEqual({ role: "assistant", content: [text("[reasoning left out]")] })
  })

  it("waits for the end of the turn, unless a limit forces it: then the report says which reasoning went", async () => {
    const open = session(6, { thinking: true })
    const waits = await memoryOf("error", { pipeline: [cardOf(2)] }).prepare(open)
    expect(waits.messages).toBe(open)
    expect(waits.report.commit).toMatchObject({ committed: 0, waiting: 1 })
    const memory = memoryOf("error", { pipeline: [cardOf(2), hardLimit()], budget: { images: 5 } })
    const { messages, report } = await memory.prepare(open)
    expect(report.commit.forced || report.guarded > 0).toBe(true)
    expect(report.reasoning.removed).toBeGreaterThan(3)
    expect(thoughts(messages).length).toBe(6 - report.reasoning.removed)
    const named = memory.explain().filter((e) => e.strategy === "reasoning")
    expect(named.length).toBe(report.reasoning.removed)
    for (const { id } of named) expect((await memory.recall(id)).block?.type).toBe("thinking")
  })
})

describe("reasoning", () => {
  it("is byte-exact or gone, whatever is edited, in every mode", async () => {
    let seen = 0
    await fc.assert(
      fc.asyncProperty(
        histories({ turns: 2, text: 600 }),
        fc.constantFrom<Mode>("none", "drop", "error"),
        fc.integer({ min: 5, max: 100 }),
        async (history, mode, share) => {
          const tokens = 40 + Math.ceil((measure(history, counter).tokens * share) / 100)
          const memory = memoryOf(mode, { pipeline: [cardOf(1), hardLimit()], budget: { tokens } })
          const out = await memory.transformContext(deepFreeze(history) as Array<Message>)
          const given = new Set(thoughts(history))
          for (const block of thoughts(out)) {
            seen++
            expect(given.has(block)).toBe(true)
          }
          expect(checkValidity(out)).toEqual([])
          await memory.close()
        }
      ),
      { numRuns: 150 }
    )
    expect(seen).toBeGreaterThan(30)
  })

  it("and the call that it led to leave together, with whatever else is in their group", async () => {
    const file = odd({ type: "reasoning-file", mediaType: "image/png", data: "x" })
    const history = [
      task,
      assistant(thinking("hm", "sig"), file, call("a")),
      result("a"),
      ...session(3, { thinking: true }).slice(1),
      user("go on")
    ]
    const fold = strategy("fold", (view) => {
      const item = view.items.find((i) => i.messages.includes(history[1]!))
      return item === undefined ? [] : [Edit.fold([item.id], null, item.members.at(-1)!)]
    })
    const { messages } = await memoryOf("none", { pipeline: [fold] }).prepare(history)
    expect(messages).toEqual([task, ...history.slice(3)])
    expect(JSON.stringify(messages)).not.toContain("reasoning-file")
  })

  it("of a signed call stays with it: the guard clips other arguments, not those", async () => {
    const long = { body: "x y ".repeat(600) }
    const signed = odd({ ...call("s", "write", long), thoughtSignature: "sig" })
    const history = [
      task,
      assistant(signed),
      result("s"),
      assistant(call("u", "write", long)),
      result("u"),
      assistant("well then"),
      user("go on")
    ]
    const whole = measure(history, counter).tokens
    const memory = createMemory({
      pipeline: [hardLimit({ lowWater: 1 })],
      budget: { tokens: whole - 200 },
      protectLast: 0
    })
    const { messages } = await memory.prepare(history)
    expect(messages[1]).toBe(history[1])
    expect(messages[3]).not.toBe(history[3])
  })

  it("leaves with a memo that the guard takes away: that stood before it", async () => {
    const profile = { ...defaultProfile, reasoning: "error" as const, limits: { messages: 3 } }
    const pipeline = [stepMemory(), hardLimit()]
    const memory = createMemory({ profile, pipeline, protectLast: 0 })
    const history = deepFreeze([
      user("go"),
      assistant("a", "b"),
      result("a"),
      result("b"),
      assistant(thinking("why", "s"), "c"),
      result("c")
    ])
    for (const id of ["a", "b"]) {
      memory.steps.begin({ id, callId: id, goal: "click", tool: "click" })
      memory.steps.finish({ id, callId: id, outcome: "success" })
    }
    const first = await memory.prepare<Message>(history.slice(0, 4))
    expect(first.messages.map(textOf).join()).toContain("[Step memory")
    const { messages, report } = await memory.prepare<Message>(history)
    expect(messages.map((m) => m.role)).toEqual(["user", "assistant", "toolResult"])
    expect(thoughts(messages)).toEqual([])
    expect(report.reasoning.removed).toBe(1)
  })
})

import { createMemory } from "@varve/core/createMemory"
import type { Budget } from "@varve/core/Budget"
import { hardLimit } from "@varve/core/HardLimit"
import type { Message } from "@varve/core/Message"
import { textOf } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import type { Profile } from "@varve/core/Profile"
import { stepMemory } from "@varve/core/StepMemory"
import { ContextOverflow } from "@varve/core/VarveError"
import { checkValidity } from "@varve/core/Validity"
import { deepFreeze } from "@varve/testkit/Freeze"
import { histories } from "@varve/testkit/Histories"
import { measure } from "@varve/testkit/Measure"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  assistant,
  call,
  image,
  read,
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
import { counter } from "./fixtures/views.ts"

const tokensOf = (messages: ReadonlyArray<Message>) => measure(messages, counter).tokens

interface Options {
  readonly profile?: Partial<Profile>
  readonly lowWater?: number
  readonly protectLast?: number
}

/** What the guard alone makes of a history. */
const guarded = async (
  history: ReadonlyArray<Message>,
  budget: Budget,
  { profile = {}, lowWater, protectLast = 0 }: Options = {}
) => {
  const memory = createMemory({
    pipeline: [hardLimit(lowWater === undefined ? {} : { lowWater })],
    budget,
    profile: { ...defaultProfile, ...profile },
    protectLast
  })
  const out = await memory.prepare(deepFreeze(history))
  const edits = memory.explain()
  await memory.close()
  return { ...out, edits, text: read(out.messages) }
}

const overflow = async (
  history: ReadonlyArray<Message>,
  budget: Budget
): Promise<ContextOverflow> => {
  try {
    await guarded(history, budget)
  } catch (error) {
    if (error instanceof ContextOverflow) return error
    throw error
  }
  throw new Error("it fits")
}

/** A history with one of each thing that a rung of the ladder takes. */
const ladder = [
  task,
  assistant(
    thinking("old reasoning " + words(400, 1), "sig"),
    text("I look."),
    call("a", "read", { path: "p", body: words(500, 2) })
  ),
  result("a", [text(words(600, 3)), image()]),
  ...step(1, { images: 0, words: 60 }),
  ...step(2, { images: 0, words: 60 }),
  assistant("and what comes next?"),
  user([text("go on with the rest"), image(64, 36, 7)])
]

describe("the guard's ladder", () => {
  it.each<readonly [number, ReadonlyArray<string>]>([
    [1, []],
    [0.99, ["image"]],
    [0.62, ["image", "result"]],
    [0.38, ["image", "result", "arguments"]],
    [0.22, ["image", "result", "arguments", "reasoning"]],
    [0.1, ["groups"]]
  ])("at %d of what there is takes no more than is needed: %j", async (share, expected) => {
    const whole = tokensOf(ladder)
    const {
      text: out,
      messages,
      report
    } = await guarded(ladder, { tokens: Math.ceil(whole * share) }, { lowWater: 1 })
    const gone = messages.length < ladder.length
    const taken = gone
      ? ["groups"]
      : [
          ...(out.includes("image 1280x720") ? ["image"] : []),
          ...(out.includes(words(600, 3)) ? [] : ["result"]),
          ...(out.includes(words(500, 2)) ? [] : ["arguments"]),
          ...(out.includes("old reasoning") ? [] : ["reasoning"])
        ]
    expect(taken).toEqual(expected)
    expect(report.after.tokens).toBeLessThanOrEqual(Math.ceil(whole * share))
  })

  it("clips what is long and leaves what is short, wherever it stands", async () => {
    const history = [
      ...session(4, { images: 0, words: 20 }),
      assistant(call("big", "read")),
      result("big", words(3000, 7)),
      ...session(6, { images: 0, words: 20 }).slice(9),
      assistant("and what comes next?"),
      user("go on")
    ]
    const { messages, edits } = await guarded(history, { tokens: 2500 })
    expect(edits.length).toBe(1)
    expect(messages.filter((m, i) => m !== history[i]).map((m) => m.role)).toEqual(["toolResult"])
  })

  it("goes on to the next rung where one isn't enough, and never refuses a second pass", async () => {
    const memory = createMemory({ budget: { tokens: 3000 }, protectLast: 0 })
    const history: Array<Message> = [task]
    for (let i = 1; i <= 60; i++) {
      history.push(...step(i, { words: 150 }))
      const { report } = await memory.prepare(history.slice())
      expect(report.after.tokens).toBeLessThanOrEqual(3000)
      expect(report.over).toEqual([])
    }
  })

  it("goes down to its low-water mark, so that the next requests are free", async () => {
    const memory = createMemory({ budget: { images: 10 }, protectLast: 0 })
    const history: Array<Message> = [task]
    const acted: Array<number> = []
    for (let i = 1; i <= 40; i++) {
      history.push(...step(i, { words: 5 }))
      const { report } = await memory.prepare(history.slice())
      if (report.guarded > 0) acted.push(i)
      expect(report.after.images).toBeLessThanOrEqual(10)
    }
    // Eleven are four too many for a mark of seven: then four more fit.
    expect(acted).toEqual([11, 15, 19, 23, 27, 31, 35, 39])
  })

  it("keeps what results were and how often, in one note where they stood", async () => {
    const named = session(30, { images: 0, words: 100 }).map((m, i) =>
      m.role === "toolResult" && i % 3 === 0 ? { ...m, toolName: "read" } : m
    )
    const { messages } = await guarded([...named, user("go on")], { tokens: 1500 })
    const notes = messages.filter((m) => textOf(m).includes("earlier messages were left out"))
    expect(notes.length).toBe(1)
    expect(messages.indexOf(notes[0]!)).toBe(1)
    const [, left, clicks, reads] =
      /^\[(\d+) earlier .* calls among them: click x (\d+), read x (\d+); call again/.exec(
        textOf(notes[0]!)
      ) ?? []
    expect(Number(left)).toBe(named.length + 1 - messages.length + 1)
    expect(Number(clicks) + Number(reads)).toBe(Number(left) / 2)
  })

  it("joins its earlier note to the next: there is one, and its figures add up", async () => {
    const memory = createMemory({ budget: { tokens: 2000 }, protectLast: 0 })
    const history: Array<Message> = [task]
    for (let i = 1; i <= 120; i++) {
      history.push(...step(i, { images: 0, words: 60 }))
      const { messages } = await memory.prepare(history.slice())
      const notes = messages.filter((m) => textOf(m).includes("were left out to fit"))
      expect(notes.length).toBeLessThanOrEqual(1)
      if (notes.length === 0) continue
      const left = Number(/\d+/.exec(textOf(notes[0]!))![0])
      expect(left).toBe(history.length - (messages.length - 1))
    }
  })

  it("says what a card stands for: which image, its size, why, and how to get it back", async () => {
    const { messages } = await guarded(session(6), { images: 3 }, { lowWater: 1 })
    expect(textOf(messages[2]!)).toMatch(
      /\n\[image 1280x720; over the limit; recall [0-9a-z]+\/1\]$/
    )
  })

  it("what a user said in few words goes after all other old groups, and the note says when it has to", async () => {
    const history: Array<Message> = [task]
    for (let n = 1; n <= 60; n++) {
      history.push(...step(n, { words: 60 }))
      if (n % 10 === 5) history.push(user(`Correction ${n}: never delete anything.`))
      if (n === 7) history.push(user(words(400)))
    }
    const { messages } = await guarded(history, { tokens: 4000 })
    const sent = read(messages)
    for (const n of [5, 15, 25, 35, 45, 55]) expect(sent).toContain(`Correction ${n}:`)
    expect(sent).not.toContain(words(400))
    expect(sent).toContain("to fit the limit, 1 of them the user's; calls among them")
    const tight = await guarded(history, { tokens: 200 })
    expect(read(tight.messages)).toMatch(/to fit the limit, [2-7] of them the user's/)
    expect(read(tight.messages)).not.toContain("Correction 5:")
  })
})

describe("what the guard leaves", () => {
  it.each([
    ["tail", 740, 1],
    ["messages", 700, 30]
  ] as const)(
    "has the newest result rather than a memo, which stands at the place %s",
    async (place, task, rows) => {
      const memory = createMemory({
        budget: { tokens: 1000 },
        pipeline: [stepMemory({ place }), hardLimit()]
      })
      for (let i = 1; i <= 30; i++) {
        memory.steps.begin({ id: `s${i}`, goal: `goal ${i}` })
        memory.steps.finish({ id: `s${i}`, outcome: "success" })
      }
      const found = result("c1", "order Q-1027 " + "and a row ".repeat(rows))
      const history = [user("word ".repeat(task)), assistant("c1"), found]
      const { messages, report } = await memory.prepare(deepFreeze(history))
      expect(messages).toEqual(history)
      expect(report.strategies[0]!.accepted).toBe(1)
      await memory.close()
    }
  )

  const budgets: ReadonlyArray<number> = [300, 500, 1000, 2000, 4000, 8000]

  it("always has the task, word for word", async () => {
    const long = user(words(120, 9))
    for (const tokens of budgets) {
      const { messages } = await guarded([long, ...session(30).slice(1)], { tokens })
      expect(messages[0]).toBe(long)
    }
  })

  it("has the newest request and what the model hasn't seen, whole as long as anything else can go", async () => {
    const newest = step(31, { words: 100 })
    const history = [...session(30, { words: 100 }), ...newest]
    const { messages } = await guarded(history, { tokens: 3000 }, { protectLast: 2 })
    expect(messages.slice(-2)).toEqual(newest)
    const asked = [...session(30, { words: 100 }), user("now " + words(200, 5))]
    expect((await guarded(asked, { tokens: 3000 })).messages.at(-1)).toBe(asked.at(-1))
  })

  it("has the newest screenshot though text alone is over the limit", async () => {
    const history = [
      task,
      ...step(1, { words: 4000, images: 1 }),
      ...step(2, { words: 4000, images: 1 }),
      ...step(3, { words: 3000, images: 1 })
    ]
    const { messages } = await guarded(history, { tokens: 5000 })
    const shown = messages.flatMap((m) => (Array.isArray(m.content) ? m.content : []))
    const images = (shown as ReadonlyArray<{ type: string }>).filter((b) => b.type === "image")
    expect(images).toEqual([(history[6]!.content as ReadonlyArray<unknown>)[1]])
  })

  it("cuts a result that the model hasn't seen last, to its head and tail with a note", async () => {
    const huge = "FIRST " + words(6000, 3) + " LAST"
    const history = [task, assistant("a"), result("a", huge)]
    const { messages, report } = await guarded(history, { tokens: 6000 })
    expect(messages.length).toBe(3)
    expect(messages[2]).toMatchObject({ role: "toolResult", toolCallId: "a", isError: false })
    expect(textOf(messages[2]!)).toMatch(/^FIRST .*tokens left out.* LAST$/s)
    // An eighth of the limit stays of it.
    expect(report.after.tokens).toBeGreaterThan(6000 / 8)
  })

  it("of one message over the limit is a typed error for the task, a marked clip for any later one", async () => {
    const error = await overflow([user(words(2000))], { tokens: 500 })
    expect(error).toMatchObject({ _tag: "ContextOverflow", axis: "tokens", limit: 500 })
    const { messages } = await guarded([task, assistant("yes, what?"), user(words(2000))], {
      tokens: 500
    })
    expect(textOf(messages.at(-1)!)).toContain("left out")
  })

  it("is never an empty request, nor one without the last message that can stand", async () => {
    await fc.assert(
      fc.asyncProperty(
        histories({ turns: 2, steps: 3, text: 300 }),
        fc.integer({ min: 1, max: 200 }),
        async (history, tokens) => {
          const memory = createMemory({ budget: { tokens }, protectLast: 2 })
          const out = await memory.transformContext(deepFreeze(history) as Array<Message>)
          expect(out.length > 0 || history.length === 0).toBe(true)
          expect(checkValidity(out)).toEqual([])
          await memory.close()
        }
      ),
      { numRuns: 150 }
    )
  })

  it("of nothing is nothing, and of one short message that message", async () => {
    expect((await guarded([], { tokens: 10 })).messages).toEqual([])
    expect((await guarded([task], { tokens: 100 })).messages).toEqual([task])
  })

  it("keeps statuses and the shape of structured results: only long texts in them change", async () => {
    const details = { rows: [{ id: 1, ok: true }], page: null }
    const structured = { type: "json", value: details }
    const failed = result("b", [text(words(900, 4)), structured as never], {
      isError: true,
      details
    })
    const history = [
      task,
      assistant("a"),
      result("a", words(900, 3), { isError: true, id: "r1" }),
      assistant("b"),
      failed,
      assistant("well then"),
      user("go on")
    ]
    const { messages } = await guarded(history, { tokens: 900 })
    expect(messages[2]).toMatchObject({
      isError: true,
      id: "r1",
      toolCallId: "a",
      role: "toolResult"
    })
    expect(typeof messages[2]!.content).toBe("string")
    expect(messages[4]).toMatchObject({ isError: true, toolCallId: "b", details })
    expect((messages[4]!.content as ReadonlyArray<unknown>)[1]).toBe(structured)
    expect(read(messages)).not.toContain("[object Object]")
  })

  it("clips arguments inside their structure", async () => {
    const args = {
      path: "/a",
      edits: [
        { old: words(500, 1), new: "x" },
        { old: "y", n: 1 }
      ],
      dry: true
    }
    const history = [
      task,
      assistant(call("a", "edit", args)),
      result("a"),
      assistant("fine then"),
      user("go on")
    ]
    const { messages } = await guarded(history, { tokens: 400 })
    const [asked] = messages[1]!.content as ReadonlyArray<{ arguments: typeof args; id: string }>
    expect(asked).toMatchObject({
      id: "a",
      arguments: { path: "/a", edits: [{ new: "x" }, { old: "y", n: 1 }], dry: true }
    })
    expect(asked!.arguments.edits[0]!.old).toMatch(/characters left out\]$/)
  })
})

describe("the guard takes the oldest first", () => {
  it("of results", async () => {
    const history = [...session(8, { images: 0, words: 400 }), user("go on")]
    const { messages } = await guarded(history, { tokens: 3400 }, { lowWater: 1 })
    const clipped = messages.map((m, i) => m !== history[i])
    const first = clipped.lastIndexOf(true)
    // All that were cut stand before all that were not.
    expect(
      clipped.slice(0, first + 1).filter((c, i) => history[i]!.role === "toolResult" && !c)
    ).toEqual([])
    expect(first).toBeLessThan(history.length - 3)
  })

  it("of images in one message, one by one and in order", async () => {
    const many = user(Array.from({ length: 8 }, (_, i) => image(200, 100, i)))
    const history = [task, assistant("show me"), many, assistant("so be it"), user("go on")]
    const { messages } = await guarded(history, { images: 3 }, { lowWater: 1 })
    const content = messages[2]!.content as ReadonlyArray<{ type: string }>
    expect(content.map((b) => b.type)).toEqual([
      ...Array<string>(5).fill("text"),
      "image",
      "image",
      "image"
    ])
    expect(content.slice(5)).toEqual((many.content as ReadonlyArray<unknown>).slice(5))
  })
})

describe("the guard's edits", () => {
  it("count what several images in one message free, exactly", async () => {
    const frame = (i: number) =>
      user([text(`frame ${i}`), image(280, 280, i), image(280, 280, i + 500)])
    const history = [
      task,
      ...Array.from({ length: 11 }, (_, i) => [frame(i), assistant("I see it")]).flat(),
      user("go on")
    ]
    const whole = tokensOf(history)
    const one = counter.image({ width: 280, height: 280, format: "png" })
    // Four images are too many, and cards cost a little.
    const { report, messages } = await guarded(
      history,
      { tokens: whole - Math.floor(3.2 * one) },
      { lowWater: 1 }
    )
    const cards = read(messages).split("[image 280x280").length - 1
    expect(cards).toBeGreaterThanOrEqual(4)
    expect(cards).toBeLessThanOrEqual(5)
    expect(report.after.images).toBe(22 - cards)
  })

  it("once made are made for good: what follows is appended", async () => {
    const memory = createMemory({ budget: { images: 6, tokens: 12_000 }, protectLast: 0 })
    const history: Array<Message> = [task]
    let before: ReadonlyArray<Message> = []
    for (let i = 1; i <= 30; i++) {
      history.push(...step(i))
      const { messages, report } = await memory.prepare(history.slice())
      if (report.guarded === 0) {
        expect(messages.slice(0, before.length)).toEqual(before)
        expect(before.every((m, k) => m === messages[k])).toBe(true)
      }
      before = messages
    }
  })
})

describe("what can't be cut", () => {
  it("over the limit is an error with a table of what takes how much and what would help", async () => {
    const pinned = user("remember " + words(300, 2), { id: "keep" })
    const history = [system("rules " + words(200)), user(words(400, 1)), pinned, ...step(1)]
    const memory = createMemory({ budget: { tokens: 500 } })
    memory.pin("keep")
    const error = await memory
      .prepare(history, {
        system: words(100, 5),
        tools: [{ name: "click", description: words(50, 6) }]
      })
      .then(
        () => undefined,
        (e: unknown) => e as ContextOverflow
      )
    expect(error).toBeInstanceOf(ContextOverflow)
    const { table, needed, limit, axis, message } = error!
    expect([axis, limit]).toEqual(["tokens", 500])
    expect(table.map((row) => row.what)).toEqual([
      "system text and tools",
      "system message",
      "the task",
      "pinned"
    ])
    expect(table.reduce((sum, row) => sum + row.tokens, 0)).toBe(needed)
    for (const row of table) expect(row.help).not.toBe("")
    expect(message).toContain("unpin what is not needed")
    expect(message).toContain("a shorter first message")
  })

  it("names a role that isn't known, and bytes and images on their own axes", async () => {
    const custom = { role: "custom", content: [text(words(500))] } as unknown as Message
    const error = await overflow([task, custom], { tokens: 100 })
    expect(error.table.map((r) => r.what)).toContain("message of a role that is not known here")
    const shown = { role: "custom", content: [image(64, 64, 0, 9000)] } as unknown as Message
    expect(await overflow([task, shown], { images: 0 })).toMatchObject({
      axis: "images",
      limit: 0,
      needed: 1
    })
    expect((await overflow([task, shown], { imageBytes: 5000 })).axis).toBe("image bytes")
    expect((await overflow([task, shown], { requestBytes: 5000 })).axis).toBe("request bytes")
    expect((await overflow([task, shown], { maxEdge: 32 })).axis).toBe("px of an edge")
  })

  it("comes only where not even a short note fits in the place of a single step", async () => {
    const names = ["search", "click", "read_file"]
    const history = [
      assistant(...names.map((name) => call(name, name))),
      ...names.map((name) => result(name, words(20)))
    ]
    let short = 0
    for (let tokens = 12; tokens <= 60; tokens++) {
      const { messages } = await guarded(history, { tokens })
      expect(tokensOf(messages)).toBeLessThanOrEqual(tokens)
      if (textOf(messages[0]!) === "[left out]") short++
    }
    expect(short).toBeGreaterThan(5)
  })

  it("costs nothing else: what is sent to a host that must not fail is the smallest valid view, and no edit stays", async () => {
    const history = [user(words(2000)), ...step(1), ...step(2)]
    const memory = createMemory({ budget: { tokens: 500 }, protectLast: 0 })
    const out = await memory.transformContext(history.slice())
    expect(out[0]).toBe(history[0])
    expect(checkValidity(out)).toEqual([])
    expect(tokensOf(out)).toBeLessThan(tokensOf(history.slice(0, 1)) + 100)
    expect(memory.explain()).toEqual([])
  })
})

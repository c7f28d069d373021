import { historyAsCode } from "@varve/testkit/Code"
import { deepFreeze } from "@varve/testkit/Freeze"
import { heads } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import { pngBase64 } from "@varve/testkit/Png"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createMemory } from "../src/createMemory.ts"
import type { Edit } from "../src/Edit.ts"
import * as EditOf from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { Message } from "../src/Message.ts"
import type { Saved } from "../src/Ledger.ts"
import { defaultProfile } from "../src/Profile.ts"
import { memoryStore } from "../src/Store.ts"
import { strategy } from "../src/Strategy.ts"
import { ContextOverflow } from "../src/VarveError.ts"
import type { Usage, View } from "../src/View.ts"

const numRuns = Math.ceil(Number(process.env["VARVE_CASES"] ?? 1000) / 4)
const timeout = 30_000 + numRuns * 100

type Axis = "tokens" | "images" | "imageBytes"
const axes: ReadonlyArray<Axis> = ["tokens", "images", "imageBytes"]

interface Cut {
  /** What was there before the guard. */
  readonly before: View
  readonly edits: ReadonlyArray<Edit>
  readonly after: Usage
}

/** Lets the guard alone loose on one history; nothing where there is nothing to do or nothing that can be done. */
const cut = async (
  history: ReadonlyArray<Message>,
  share: number,
  lowWater: number,
  limits: { readonly images?: number }
): Promise<Cut | undefined> => {
  let before: View | undefined
  const spy = strategy("spy", (view) => {
    before = view
    return []
  })
  const { report } = await createMemory({ pipeline: [] }).prepare(history)
  const store = memoryStore()
  const tokens = 40 + Math.ceil((report.before.tokens * share) / 100)
  const guard = hardLimit({ lowWater })
  const memory = createMemory({
    pipeline: [spy, guard],
    budget: { tokens, ...limits },
    store
  })
  try {
    await memory.prepare<unknown>(deepFreeze(history))
  } catch (error) {
    if (error instanceof ContextOverflow) return undefined
    throw error
  }
  await memory.close()
  const { entries } = await Effect.runPromise(store.load("agent/session"))
  const edits = (entries as ReadonlyArray<Saved>).flatMap((e) =>
    e.t === "edit" && e.strategy === guard.name ? [e.edit as unknown as Edit] : []
  )
  if (edits.length === 0) return undefined
  return { before: before!, edits, after: usageWith(before!, edits) }
}

const usageWith = (view: View, edits: ReadonlyArray<Edit>): Usage =>
  view.after(edits.map((edit) => ({ edits: [edit], reason: "" }))).usage

/** Where each axis that was over its limit had to go: `share` of the limit; the others stay within theirs. */
const meets = ({ limits, usage: was }: View, now: Usage, share: number): boolean =>
  axes.every((axis) => {
    const limit = limits[axis]
    return now[axis] <= (was[axis] > limit ? Math.floor(limit * share) : limit)
  })

const cuts = fc.tuple(
  histories({ turns: 3, text: 1500 }).chain((history) =>
    fc.constantFrom(...(heads(history).length === 0 ? [history] : heads(history)))
  ),
  fc.integer({ min: 5, max: 100 }),
  fc.constantFrom(0.5, 0.7, 0.7, 1),
  fc.record({ images: fc.nat(4) }, { requiredKeys: [] })
)

const holds = async (
  find: (found: Cut, lowWater: number) => string | undefined
): Promise<ReadonlyArray<Cut>> => {
  const seen: Array<Cut> = []
  const check = async ([history, share, lowWater, limits]: typeof cuts extends fc.Arbitrary<infer A>
    ? A
    : never): Promise<string | undefined> => {
    const found = await cut(history, share, lowWater, limits)
    if (found === undefined) return undefined
    seen.push(found)
    return find(found, lowWater)
  }
  const { counterexample } = await fc.check(
    fc.asyncProperty(cuts, async (input) => (await check(input)) === undefined),
    { numRuns }
  )
  if (counterexample !== null) {
    const [[history, ...rest]] = counterexample
    expect.fail(
      `${await check(counterexample[0])}\n${JSON.stringify(rest)}\n${historyAsCode(history)}`
    )
  }
  return seen
}

describe("the guard", () => {
  it(
    "removes no more than it must: putting any one edit back misses the target",
    async () => {
      const seen = await holds(({ after, before, edits }, lowWater) => {
        const target = meets(before, after, lowWater) ? lowWater : 1
        if (!meets(before, after, target)) return undefined
        for (const edit of edits) {
          const without = edits.filter((e) => e !== edit)
          if (meets(before, usageWith(before, without), target))
            return `without ${JSON.stringify(edit).slice(0, 300)} it meets ${target} just as well`
        }
        return undefined
      })
      expect(seen.length).toBeGreaterThan(numRuns / 4)
      expect(seen.filter((c) => c.edits.some((e) => e.kind === "fold")).length).toBeGreaterThan(
        numRuns / 20
      )
      expect(seen.filter((c) => c.edits.length > 1).length).toBeGreaterThan(numRuns / 10)
    },
    timeout
  )

  it(
    "goes down to the low-water mark where what is not protected allows it",
    async () => {
      const seen = await holds(({ after, before }, lowWater) => {
        const free = (id: string) => before.protection(id) === undefined
        const images = before.images.filter((i) => free(i.block))
        const groups = before.groups.filter((g) => free(g.id) && g.closed)
        const out = [
          ...images.map((i) => EditOf.replace(i.block, [])),
          ...groups.map((g) => EditOf.fold([g.id], null, g.members.at(-1)!))
        ]
        const least = usageWith(before, out)
        const cards = images.filter((i) => !groups.some((g) => g.members.includes(i.message)))
        const withWords = { ...least, tokens: least.tokens + 64 + 24 * cards.length }
        return meets(before, withWords, lowWater) && !meets(before, after, lowWater)
          ? "it stopped above the mark, with more to take that nothing protects"
          : undefined
      })
      const far = seen.filter((c) => c.after.tokens <= 0.71 * c.before.limits.tokens)
      expect(far.length).toBeGreaterThan(numRuns / 10)
    },
    timeout
  )

  it(
    "touches what is softly protected only down to the limit itself, and last",
    async () => {
      await holds(({ before, edits }) => {
        const level = (id: string) => before.protection(id)?.level
        const ids = edits.flatMap((e) =>
          e.kind === "replace" ? [e.block] : e.kind === "fold" ? e.items : []
        )
        if (ids.some((id) => level(id) === "hard")) return "it cut what is hard-protected"
        const { limits, usage } = before
        // Where there are too many images, only images help, and what stands for them costs tokens.
        const forced = (id: string) =>
          usage.images > limits.images && before.images.some((i) => i.block === id)
        const firstSoft = ids.findIndex((id) => level(id) === "soft" && !forced(id))
        const lastFree = ids.findLastIndex((id) => {
          const image = before.images.some((i) => i.block === id)
          return level(id) === undefined && !image && before.items.some((i) => i.id === id)
        })
        return firstSoft >= 0 && firstSoft < lastFree
          ? `${ids[lastFree]} is free, and was folded behind ${ids[firstSoft]}, which is protected`
          : undefined
      })
    },
    timeout
  )
})

/** The edits that a view meets its target without. */
const spare = ({ after, before, edits }: Cut, lowWater: number): ReadonlyArray<Edit> => {
  const target = meets(before, after, lowWater) ? lowWater : 1
  return edits.filter((edit) =>
    meets(
      before,
      usageWith(
        before,
        edits.filter((e) => e !== edit)
      ),
      target
    )
  )
}
const png = (width: number, height: number, seed: number, bytes?: number) =>
  ({ type: "image", data: pngBase64(width, height, seed, bytes), mimeType: "image/png" }) as const
const calls = (...names: ReadonlyArray<string>): Message => ({
  role: "assistant",
  content: names.map((name, i) => ({ type: "toolCall", id: `c${i}`, name, arguments: {} }))
})
const shown = (id: string, ...content: ReadonlyArray<object>): Message =>
  ({ role: "toolResult", toolCallId: id, toolName: "look", content, isError: false }) as Message

it("a tiny image that a card stood for first is back where the view fits with it", async () => {
  const text = { type: "text", text: "what is of 42 orders 42 shows into a page field of a page" }
  const history = [
    { role: "system", content: "Prices are in pounds. ".repeat(14) },
    { role: "assistant", content: "42 was into" },
    { role: "user", content: "go on" },
    calls("look", "look"),
    shown("c0", png(16, 16, 0), text, png(1280, 720, 1)),
    shown("c1", { type: "text", text: "Widgets. ".repeat(40) }, png(320, 240, 2))
  ] as ReadonlyArray<Message>
  let cuts = 0
  for (let share = 5; share <= 60; share++) {
    const found = await cut(history, share, 0.5, { images: 1 })
    if (found === undefined) continue
    cuts++
    expect(spare(found, 0.5), `share ${share}`).toEqual([])
  }
  expect(cuts).toBeGreaterThan(20)
})

it("a note that only pays beside cards in its own fold is not made: the cards are not needed", async () => {
  const history = [
    { role: "system", content: "a field the" },
    { role: "user", content: [png(16, 16, 0, 20_000), png(16, 16, 1)] },
    calls("look"),
    shown("c0", png(16, 16, 2)),
    { role: "user", content: [{ type: "text", text: "go on" }, png(16, 16, 3)] },
    { role: "assistant", content: "orders what 42 what the orders was what and a orders one" },
    { role: "user", content: "Put the total of all items into the field. ".repeat(12) }
  ] as ReadonlyArray<Message>
  let folds = 0
  for (let share = 5; share <= 100; share++) {
    const found = await cut(history, share, 0.5, { images: 0 })
    if (found?.edits.some((e) => e.kind === "fold") === true) folds++
    if (found !== undefined) expect(spare(found, 0.5), `share ${share}`).toEqual([])
  }
  expect(folds).toBeGreaterThan(5)
})

it("a fold that only pays beside the cards inside it is made with them", async () => {
  const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" })
  const tiny = image(pngBase64(16, 16, 0))
  const large = image(pngBase64(1280, 720, 1))
  const words = { type: "text" as const, text: "the the the the the the the the the the the" }
  const history: ReadonlyArray<Message> = [
    { role: "user", content: [words, tiny] },
    { role: "user", content: [words, tiny] },
    { role: "user", content: [{ type: "text", text: "x" }, large] },
    {
      role: "assistant",
      content: [{ type: "toolCall", id: "c0", name: "click", arguments: {} }]
    },
    {
      role: "toolResult",
      toolCallId: "c0",
      toolName: "click",
      content: [large, { type: "text", text: "go on" }, large],
      isError: false
    }
  ]
  const memory = createMemory({
    budget: { tokens: 240, images: 1 },
    profile: { ...defaultProfile, limits: { messages: 3 } },
    protectLast: 0
  })
  const { report } = await memory.prepare<unknown>(deepFreeze(history))
  expect(report.after.messages).toBe(3)
  expect(report.after.images).toBeLessThanOrEqual(1)
})

it("among many images, those that nobody may touch count, and the oldest others go", async () => {
  const image = { type: "image", data: pngBase64(1280, 720, 0), mimeType: "image/png" } as const
  const user = (id: string, n: number) => ({
    role: "user" as const,
    id,
    content: [{ type: "text" as const, text: id }, ...Array.from({ length: n }, () => image)]
  })
  const history = [user("m0", 1), user("m1", 1), user("m2", 2)] as ReadonlyArray<Message>
  const memory = createMemory({
    profile: { ...defaultProfile, limits: { manyImages: { over: 1, maxEdge: 700 } } }
  })
  memory.pin("m0")
  const { messages, report } = await memory.prepare<unknown>(deepFreeze(history))
  expect(report.after.images).toBe(1)
  expect(messages[0]).toBe(history[0])
})

it("a first message that had to stay for those behind it goes once they are gone", async () => {
  const history = [
    { role: "system", content: "a" },
    {
      role: "user",
      content: [{ type: "image", data: pngBase64(1280, 720, 0), mimeType: "image/png" }]
    },
    { role: "assistant", content: "the" },
    { role: "user", content: "the", id: "m4" }
  ] as unknown as ReadonlyArray<Message>
  const memory = createMemory({
    profile: { ...defaultProfile, startsWithUser: true, limits: { messages: 2 } }
  })
  memory.pin("m4")
  const { messages } = await memory.prepare<unknown>(deepFreeze(history))
  expect(messages).toEqual([history[0], history[3]])
})

it("never leaves system text alone: a note stands for the only message that had to go", async () => {
  const image = { type: "image", data: pngBase64(1280, 720, 0), mimeType: "image/png" }
  const history = [
    { role: "system", content: "a" },
    { role: "user", content: [image, { ...image, data: pngBase64(1280, 720, 1) }] }
  ] as unknown as ReadonlyArray<Message>
  for (const tokens of [20, 30, 40]) {
    const memory = createMemory({ budget: { tokens } })
    const messages = await memory.transformContext<unknown>(deepFreeze([...history]))
    expect(messages).toHaveLength(2)
    expect(messages[1]).toMatchObject({ role: "user" })
  }
})

it("what was folded away whole is back where the host goes back to it alone", async () => {
  const image = { type: "image", data: pngBase64(1280, 720, 0), mimeType: "image/png" }
  const pictures = { role: "user", content: [image, { ...image, data: pngBase64(1280, 720, 1) }] }
  const history = [
    { role: "system", content: "a" },
    pictures,
    { role: "assistant", content: [{ type: "toolCall", id: "c", name: "look", arguments: {} }] },
    { role: "toolResult", toolCallId: "c", toolName: "look", content: "b", isError: false }
  ] as unknown as ReadonlyArray<Message>
  const memory = createMemory({
    profile: { ...defaultProfile, limits: { messages: 3 } },
    protectLast: 0
  })
  const { messages } = await memory.prepare<unknown>(deepFreeze(history))
  expect(messages).toEqual([history[0], history[2], history[3]])
  const back = await memory.prepare<unknown>([pictures])
  expect(back.messages).toEqual([pictures])
})

it("what the guard folded away whole is back where the call behind it is gone", async () => {
  const image = { type: "image", data: pngBase64(1280, 720, 0), mimeType: "image/png" }
  const pictures = { role: "user", content: [image, image, image], id: "m0" }
  const call = { type: "toolCall", id: "c0", name: "click", arguments: { path: ["a", { b: [1] }] } }
  const history = [pictures, { role: "assistant", content: [call], stopReason: "toolUse" }]
  const memory = createMemory({ budget: { tokens: 100 } })
  const sent = (messages: ReadonlyArray<unknown>) =>
    memory.transformContext(deepFreeze([...messages]) as Array<Message>)
  await sent([pictures])
  await sent(history)
  expect(await sent([pictures])).toMatchObject([{ role: "user" }])
})

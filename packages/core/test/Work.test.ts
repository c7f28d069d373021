import { assert, it } from "@effect/vitest"
import * as Commit from "@varve/core/Commit"
import { estimateImage, makeCounter } from "@varve/core/Counter"
import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import * as Memory from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import type { Strategy } from "@varve/core/Strategy"
import { strategy } from "@varve/core/Strategy"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { describe, expect } from "vitest"

const step = (n: number): ReadonlyArray<Message> => [
  {
    role: "assistant",
    content: [
      { type: "text", text: `Step ${n}.` },
      { type: "toolCall", id: `c${n}`, name: "look", arguments: { n } }
    ]
  },
  {
    role: "toolResult",
    toolCallId: `c${n}`,
    toolName: "look",
    isError: false,
    content: [
      { type: "text", text: `The page of step ${n}.` },
      { type: "image", data: `iVBORw0KGgo${n}`.padEnd(200, "A"), mimeType: "image/png" }
    ]
  }
]

const history = (steps: number): ReadonlyArray<Message> =>
  deepFreeze([
    { role: "user", content: "the task" },
    ...Array.from({ length: steps }, (_, n) => step(n)).flat()
  ])

/** Keeps three images, and looks at all that there is. */
const prune = strategy("prune", (view) => {
  expect(view.messages.length + view.results.length + view.items.length).toBeGreaterThan(0)
  return view.images
    .slice(0, -3)
    .filter((image) => view.protection(image.block) === undefined)
    .map((image) => Edit.replace(image.block, "[screenshot removed]"))
})

const idle = strategy("idle", (view) =>
  view.images.length < 0 ? [Edit.memo("k", "x", { cap: 9 })] : []
)

/** The same messages; `read` gets the index of each that something is read of. */
const watched = (messages: ReadonlyArray<Message>, read: (at: number) => void) =>
  messages.map(
    (message, at) =>
      new Proxy(message, {
        get: (target, key) => (read(at), Reflect.get(target, key)),
        ownKeys: (target) => (read(at), Reflect.ownKeys(target))
      })
  )

describe("a request with a step more", () => {
  const readBy = async (own: Strategy, commit: Commit.CommitRule) => {
    const read = new Set<number>()
    const all = watched(history(60), (at) => read.add(at))
    const memory = createMemory({ pipeline: [own, hardLimit()], commit })
    await memory.prepare(all.slice(0, 61))
    const each: Array<ReadonlyArray<number>> = []
    for (let length = 63; length <= all.length; length += 2) {
      read.clear()
      await memory.prepare(all.slice(0, length))
      each.push([...read].filter((at) => at < length - 2))
    }
    await memory.close()
    return each
  }

  it("reads nothing of the messages before that where nothing is edited", async () => {
    for (const old of await readBy(idle, Commit.immediate)) expect(old).toEqual([])
  })

  it("reads of those before only what it edits, once it is staged and once it comes into force", async () => {
    for (const size of [1, 5]) {
      const each = await readBy(prune, Commit.batched({ size }))
      // One image leaves the newest three with each request.
      for (const old of each) expect(old.length).toBeLessThanOrEqual(2 * size)
      const most = Math.max(...each.map((old) => old.length))
      expect(each.filter((old) => old.length === most).length).toBe(30 / size)
    }
  })

  it("counts each text and each image once", async () => {
    const counted = new Map<string, number>()
    const count = (what: string): number => {
      counted.set(what, (counted.get(what) ?? 0) + 1)
      return 7
    }
    let images = 0
    const counter = makeCounter({
      name: "counting",
      text: (text) => count(text),
      image: (size) => (images++, estimateImage(size))
    })
    const all = history(40)
    const memory = createMemory({
      pipeline: [prune, hardLimit()],
      commit: Commit.batched({ size: 4 }),
      counter
    })
    for (let length = 1; length <= all.length; length += 2) {
      const { messages } = await memory.prepare(all.slice(0, length))
      const again = await memory.prepare(all.slice(0, length))
      expect(again.messages).toEqual(messages)
    }
    await memory.close()
    counted.delete("[screenshot removed]")
    // The step's own text and its result's; the call's name and arguments are two more.
    expect([...counted].filter(([what, times]) => times > 1 && what !== "look")).toEqual([])
    expect(counted.size).toBeGreaterThan(3 * 40)
    // Each is an image of the transcript and a block of its message.
    expect(images).toBe(2 * 40)
  })

  it("gives the host's own list as long as nothing is edited, and then one that is the caller's", async () => {
    const all = history(12)
    const memory = createMemory({
      pipeline: [prune, hardLimit()],
      commit: Commit.batched({ size: 5 })
    })
    for (let length = 1; length <= all.length; length += 2) {
      const given = all.slice(0, length)
      const { messages, report } = await memory.prepare(given)
      const edited = report.after.images < report.before.images
      expect(messages === given).toBe(!edited)
      if (edited) (messages as Array<Message>).length = 0
      expect((await memory.prepare(given)).messages.length).toBe(length)
    }
    await memory.close()
  })

  it.effect(
    "asks the clock no more often, and each strategy once, however long the history is",
    () =>
      Effect.gen(function* () {
        const asked = [0, 0]
        let runs = 0
        const own = strategy("own", () => (runs++, []))
        for (const [at, steps] of [5, 500].entries()) {
          const clock = yield* Clock.Clock
          const counting: Clock.Clock = {
            ...clock,
            currentTimeMillisUnsafe: () => (asked[at]!++, clock.currentTimeMillisUnsafe()),
            sleep: () => Effect.die("a timer for what is answered at once")
          }
          yield* Effect.gen(function* () {
            const memory = yield* Memory.make({ pipeline: [own, idle, hardLimit()] })
            const all = history(steps)
            yield* memory.prepare(all.slice(0, -2))
            ;[runs, asked[at]] = [0, 0]
            yield* memory.prepare(all)
            assert.strictEqual(runs, 1)
            // What is known already asks nobody.
            yield* memory.prepare(all.slice())
            assert.strictEqual(runs, 1)
          }).pipe(Effect.scoped, Effect.provideService(Clock.Clock, counting))
        }
        assert.strictEqual(asked[1], asked[0])
        assert.isBelow(asked[0]!, 16)
      })
  )
})

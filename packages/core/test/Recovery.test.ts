import { createMemory } from "@varve/core/createMemory"
import { conversationSummary } from "@varve/core/ConversationSummary"
import { hardLimit } from "@varve/core/HardLimit"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import type { Overflow } from "@varve/core/Profile"
import { defaultProfile } from "@varve/core/Profile"
import { memoryStore } from "@varve/core/Store"
import { ContextOverflow } from "@varve/core/VarveError"
import { checkValidity } from "@varve/core/Validity"
import { measure } from "@varve/testkit/Measure"
import { describe, expect, it } from "vitest"
import { assistant, image, result, session, task, user, words } from "./fixtures/history.ts"
import { counter } from "./fixtures/views.ts"

/** A profile whose provider's errors are what they say. */
const profile = {
  ...defaultProfile,
  classify: (error: unknown) => (error as { overflow?: Overflow } | null)?.overflow
}
const says = (overflow: Overflow) => Object.assign(new Error("400"), { overflow })
const memoryOf = (options: MemoryOptions = {}) =>
  createMemory({ profile, protectLast: 1, ...options })
const history = session(30, { words: 200 })
const figures = (messages: ReadonlyArray<Message>) => measure(messages, counter)

/** A memory that has sent all of the history. */
const after = async (options?: MemoryOptions) => {
  const memory = memoryOf(options)
  const { report } = await memory.prepare(history)
  expect(report.guarded).toBe(0)
  return { memory, sent: report.after }
}

describe("an overflow that the provider reports", () => {
  it("of tokens is answered with a request well below the one that failed", async () => {
    const { memory, sent } = await after()
    const answer = (await memory.recover(says({ kind: "tokens" }), history))!
    expect(figures(answer.messages).tokens).toBeLessThanOrEqual(0.75 * sent.tokens)
    expect(answer.messages[0]).toBe(task)
    expect(answer.messages.at(-1)).toBe(history.at(-1))
    expect(checkValidity(answer.messages)).toEqual([])
  })

  it("of tokens with figures is measured in the provider's tokens, which correct the next estimates", async () => {
    const { memory, sent } = await after()
    const actual = 2 * sent.tokens
    const limit = 1.6 * sent.tokens
    const answer = (await memory.recover(says({ kind: "tokens", actual, limit }), history))!
    // Each of ours is two of theirs.
    expect(figures(answer.messages).tokens).toBeLessThanOrEqual((limit / 2) * 1.05)
    expect(answer.report.after.tokens).toBeLessThanOrEqual(limit)
    const next = await memory.prepare([...history, user("go on")])
    expect(next.report.before.tokens).toBeGreaterThan(1.9 * sent.tokens)
    expect(next.report.limits.tokens).toBe(limit)
  })

  it("of tokens with figures, and nothing reported before: the difference is the counter's, no more goes than has to", async () => {
    const texts = session(60, { words: 300, images: 0 })
    for (const [pipeline, least] of [
      [[hardLimit()], 0.45],
      [[conversationSummary(), hardLimit()], 0.2]
    ] as const) {
      for (const ratio of [1.05, 1.3, 1.5, 1.8, 2.2, 2.8]) {
        const memory = memoryOf({ pipeline: [...pipeline] })
        const { report } = await memory.prepare(texts)
        const actual = Math.ceil(ratio * report.after.tokens)
        const limit = Math.floor(0.9 * actual)
        const answer = (await memory.recover(says({ kind: "tokens", actual, limit }), texts))!
        const real = ratio * figures(answer.messages).tokens
        expect(real, `at ${ratio}`).toBeLessThanOrEqual(limit)
        expect(real, `at ${ratio}`).toBeGreaterThan(least * limit)
      }
    }
  })

  it("of images goes below what was sent, then to one", async () => {
    const { memory, sent } = await after()
    const one = (await memory.recover(says({ kind: "image-count" }), history))!
    expect(figures(one.messages).images).toBeLessThanOrEqual(Math.floor(0.75 * sent.images))
    const two = (await memory.recover(says({ kind: "image-count" }), history))!
    expect(figures(two.messages).images).toBe(1)
    // The current one.
    expect(two.messages.at(-1)).toBe(history.at(-1))
  })

  it("of images with a limit holds it, for the rest of the session", async () => {
    const store = memoryStore()
    const { memory } = await after({ store })
    const answer = (await memory.recover(
      says({ kind: "image-count", limit: 12, actual: 30 }),
      history
    ))!
    expect(figures(answer.messages).images).toBeLessThanOrEqual(12)
    const next = await memory.prepare([...history, user("go on")])
    expect(next.report.limits.images).toBe(12)
    await memory.close()
    const again = memoryOf({ store })
    const restored = await again.prepare(session(40))
    expect(restored.report.limits.images).toBe(12)
    expect(figures(restored.messages).images).toBeLessThanOrEqual(12)
  })

  it("of bytes goes below what was sent", async () => {
    const { memory, sent } = await after()
    const answer = (await memory.recover(says({ kind: "bytes" }), history))!
    expect(Buffer.byteLength(JSON.stringify(answer.messages))).toBeLessThan(
      0.76 * sent.requestBytes
    )
  })

  it("of one image's size is answered by edges or bytes, as the provider says", async () => {
    const big = [
      task,
      assistant("a"),
      result("a", [image(3000, 200, 1, 4000)]),
      assistant("b"),
      result("b", [image(900, 200, 2, 40_000)]),
      assistant("c"),
      result("c", [image(400, 200, 3)]),
      assistant("so it is"),
      user("go on")
    ]
    for (const [overflow, left] of [
      [{ kind: "image-size" }, 2],
      [{ kind: "image-size", limit: 800, unit: "px" }, 1],
      [{ kind: "image-size", limit: 5000, unit: "bytes" }, 2]
    ] as const) {
      const memory = memoryOf()
      await memory.prepare(big)
      const answer = (await memory.recover(says(overflow), big))!
      expect(figures(answer.messages).images).toBe(left)
    }
  })

  it("a second time goes further, a third time is the caller's", async () => {
    const { memory, sent } = await after()
    const error = says({ kind: "tokens" })
    const one = (await memory.recover(error, history))!
    const two = (await memory.recover(error, history))!
    const share = (p: { readonly messages: ReadonlyArray<Message> }) =>
      figures(p.messages).tokens / sent.tokens
    expect(share(two)).toBeLessThan(0.5 * share(one))
    expect(await memory.recover(error, history)).toBeUndefined()
    // The next request of the run begins anew.
    const grown = [...history, ...session(31).slice(-2)]
    await memory.prepare(grown)
    expect(await memory.recover(error, grown)).toBeDefined()
  })

  it("squeezes the one request and not the rest of the run, where no limit was stated", async () => {
    const { memory } = await after()
    const before = (await memory.prepare(history)).report.limits
    await memory.recover(says({ kind: "tokens" }), history)
    expect((await memory.prepare([...history, user("go on")])).report.limits).toEqual(before)
  })

  it("is answered with edits that stay in force: the next request doesn't overflow again", async () => {
    const { memory } = await after()
    const { messages } = (await memory.recover(says({ kind: "tokens" }), history))!
    const next = await memory.prepare([...history, user("go on")])
    expect(next.messages.slice(0, messages.length)).toEqual(messages)
    expect(memory.explain().every((e) => e.state === "in force")).toBe(true)
  })
})

describe("what is no overflow", () => {
  it("is the caller's: another error, nothing sent yet, a profile that knows no errors", async () => {
    const { memory } = await after()
    for (const error of [new Error("rate limit"), null, undefined, "400", { overflow: undefined }])
      expect(await memory.recover(error, history)).toBeUndefined()
    expect((await memory.prepare(history)).messages).toBe(history)
    expect(await memoryOf().recover(says({ kind: "tokens" }), history)).toBeUndefined()
    const plain = createMemory({})
    await plain.prepare(history)
    expect(await plain.recover(says({ kind: "tokens" }), history)).toBeUndefined()
  })

  it("is a classifier that gives nonsense, or a promise that fails: the provider's error stays the caller's", async () => {
    for (const given of [7, "tokens", {}, { kind: "money" }, Promise.reject(new Error("late"))]) {
      const { memory } = await after({ profile: { ...profile, classify: () => given as never } })
      expect(await memory.recover(new Error("400"), history)).toBeUndefined()
    }
    await new Promise((resolve) => setImmediate(resolve))
  })

  it("is a classifier that throws: the provider's error stays the caller's", async () => {
    const throwing = {
      ...profile,
      classify: () => {
        throw new Error("odd")
      }
    }
    const { memory } = await after({ profile: throwing })
    expect(await memory.recover(new Error("400"), history)).toBeUndefined()
  })
})

describe("what can't be made smaller", () => {
  it("is a typed error", async () => {
    const alone = [user(words(300))]
    const memory = memoryOf()
    await memory.prepare(alone)
    const error: unknown = await memory
      .recover(says({ kind: "tokens" }), alone)
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ContextOverflow)
  })

  it("is a typed error for the caller too where the pipeline has no guard", async () => {
    const memory = memoryOf({ pipeline: [] })
    const { report } = await memory.prepare(history)
    expect(report.unguarded).toBe(true)
    const error: unknown = await memory
      .recover(says({ kind: "tokens" }), history)
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ContextOverflow)
    expect((error as ContextOverflow).needed).toBeGreaterThan((error as ContextOverflow).limit)
    expect((await memory.prepare(history)).messages).toBe(history)
  })
})

it.each([
  { kind: "tokens", limit: 1_000_000 },
  { kind: "image-count", limit: 100 }
] as const)("a learned limit is never wider than the budget: %j", async (overflow) => {
  const memory = memoryOf({ budget: { tokens: 50_000, images: 5 }, pipeline: [hardLimit()] })
  await memory.prepare(history)
  // Nothing has to be taken out for this; then the request would be the same, and the error is the caller's.
  await memory.recover(says(overflow), history).catch(() => {})
  const { report } = await memory.prepare([...history, user("go on")])
  expect(report.limits).toEqual({ tokens: 50_000, images: 5 })
})

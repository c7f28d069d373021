import { deepFreeze } from "@varve/testkit/Freeze"
import { pngBase64 } from "@varve/testkit/Png"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import type { Counter } from "../src/Counter.ts"
import { estimateImage, makeCounter } from "../src/Counter.ts"
import { createMemory } from "../src/createMemory.ts"
import * as Edit from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { Saved } from "../src/Ledger.ts"
import type { MemoryOptions } from "../src/Memory.ts"
import type { Message } from "../src/Message.ts"
import { memoryStore } from "../src/Store.ts"
import { strategy } from "../src/Strategy.ts"

/** A counter of one token a word that counts characters until it is loaded. */
const loading = (isLoaded = false): { counter: Counter; load: () => void } => {
  let open = isLoaded
  let load = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    load = () => {
      open = true
      resolve()
    }
  })
  const counter = makeCounter({
    name: "words",
    text: (s) => (open ? s.split(" ").length : Math.ceil(s.length / 3)),
    image: estimateImage,
    settled: () => open,
    ready: Effect.suspend(() => (open ? Effect.void : Effect.promise(() => opened)))
  })
  return { counter, load }
}

/** All that can go on without the counter has gone on. */
const others = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}

const call = (i: number): Message => ({
  role: "assistant",
  content: [{ type: "toolCall", id: `c${i}`, name: "look", arguments: { at: i } }]
})

const result = (i: number, words = 40): Message => ({
  role: "toolResult",
  toolCallId: `c${i}`,
  toolName: "look",
  content: [
    { type: "text", text: `line ${i} ` + "of what was seen ".repeat(words) },
    { type: "image", data: pngBase64(640, 480, i), mimeType: "image/png" }
  ],
  isError: false
})

const steps = (n: number, words?: number): ReadonlyArray<Message> =>
  deepFreeze([
    { role: "user", content: "Look at all of them." } as Message,
    ...Array.from({ length: n }, (_, i) => [call(i), result(i, words)]).flat()
  ])

/** A session that ended behind the answer to its last request. */
const session = async (options: Partial<MemoryOptions>, n: number) => {
  const store = memoryStore()
  const words = loading(true).counter
  const given: MemoryOptions = { pipeline: [hardLimit()], ...options, store }
  const memory = createMemory({ ...given, counter: loading(true).counter })
  const history = steps(n)
  for (let length = 1; length < history.length; length += 2) {
    const { messages } = await memory.prepare(history.slice(0, length))
    const counted = messages.reduce((sum, m) => sum + words.message(m), 0)
    memory.usage({ input: 2000 + Math.round(1.1 * counted) })
  }
  await memory.prepare(history.slice(0, -1))
  await memory.close()
  return { history, given }
}

const dropOld = strategy("dropOld", (view) =>
  view.results.slice(0, -2).map((r) => Edit.replace(r.block, "[old]"))
)

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false
  void promise.then(() => (done = true))
  await others()
  return done
}

describe("a counter that is loaded when first needed", () => {
  it("is waited for where the provider has said nothing yet", async () => {
    const { counter, load } = loading()
    const memory = createMemory({ counter })
    const first = memory.prepare(steps(3))
    expect(await settled(first)).toBe(false)
    load()
    expect((await first).report.after.source).toBe("counted")
  })

  it("does not hold up a session that goes on: the provider's last figure answers for it", async () => {
    const { given, history } = await session({}, 6)
    const { counter, load } = loading()
    const memory = createMemory({ ...given, counter })
    const known = createMemory({ ...given, counter: loading(true).counter })
    const early = await memory.prepare(history)
    const right = await known.prepare(history)
    expect(early.report.after.source).toBe("usage")
    expect(early.messages).toEqual(right.messages)
    // Only the last result is an estimate.
    const [tail] = [result(5)].map((m) => loading().counter.message(m))
    const off = Math.abs(early.report.after.tokens - right.report.after.tokens)
    expect(off).toBeLessThan(tail! * 3)
    expect(off / right.report.after.tokens).toBeLessThan(0.06)

    load()
    await others()
    const late = await memory.prepare(history)
    expect(late.report.after).toEqual(right.report.after)
    expect(late.messages).toEqual(right.messages)
    await Promise.all([memory.close(), known.close()])
  })

  it("what is reported in between is learned in the counter's own tokens", async () => {
    const { given, history } = await session({}, 6)
    const after = deepFreeze([...history, call(6)])
    const figures = await Promise.all(
      [false, true].map(async (isLoaded) => {
        const { counter, load } = loading(isLoaded)
        const store = memoryStore()
        await Effect.runPromise(
          Effect.flatMap(given.store!.load("agent/session"), ({ entries }) =>
            store.append("agent/session", entries)
          )
        )
        const next = createMemory({ ...given, store, counter })
        await next.prepare(history)
        next.usage({ input: 9000, output: 20 })
        load()
        await others()
        const { report } = await next.prepare(after)
        await next.close()
        const { entries } = await Effect.runPromise(store.load("agent/session"))
        return {
          after: report.after,
          learned: (entries as ReadonlyArray<Saved>).filter((e) => e.t === "calibration").at(-1)
        }
      })
    )
    expect(figures[0]).toEqual(figures[1])
  })

  it("is waited for where edits came into force since then", async () => {
    const store = memoryStore()
    const given: MemoryOptions = {
      pipeline: [dropOld, hardLimit()],
      commit: Commit.immediate,
      store
    }
    const first = createMemory({ ...given, counter: loading(true).counter })
    const history = steps(6)
    await first.prepare(history.slice(0, 3))
    first.usage({ input: 900 })
    await first.prepare(history)
    await first.close()
    const { counter, load } = loading()
    const memory = createMemory({ ...given, counter })
    const next = memory.prepare(history)
    expect(await settled(next)).toBe(false)
    load()
    await next
  })

  it("is waited for where the figure says that a limit is near", async () => {
    const { given, history } = await session({}, 6)
    const more = deepFreeze([...history, ...steps(3, 4000).slice(1)])
    const { counter, load } = loading()
    const memory = createMemory({ ...given, budget: { tokens: 16_000 }, counter })
    const next = memory.prepare(more)
    expect(await settled(next)).toBe(false)
    load()
    await next
  })

  it("is waited for where the host went back behind the figure", async () => {
    const { given, history } = await session({}, 6)
    const { counter, load } = loading()
    const memory = createMemory({ ...given, counter })
    const next = memory.prepare(history.slice(0, 3))
    expect(await settled(next)).toBe(false)
    load()
    await next
  })

  it("that can't be loaded counts as it can", async () => {
    const counter = makeCounter({
      name: "broken",
      text: (s) => s.length,
      image: estimateImage,
      ready: Effect.die("no such file")
    })
    const { messages } = await createMemory({ counter }).prepare(steps(2))
    expect(messages).toHaveLength(5)
  })

  it("an abort while it loads leaves the loading to the next request", async () => {
    const { counter, load } = loading()
    const memory = createMemory({ counter })
    const abort = new AbortController()
    const first = memory.prepare(steps(2), { signal: abort.signal })
    await others()
    abort.abort()
    await expect(first).rejects.toBeDefined()
    load()
    expect((await memory.prepare(steps(2))).report.after.source).toBe("counted")
  })

  it("gives the same requests whether it was there or came later", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 9000, max: 40_000 }),
        async (n, late, tokens) => {
          const { given, history } = await session({ budget: { tokens } }, n)
          const { counter, load } = loading()
          const memory = createMemory({ ...given, counter })
          const known = createMemory({ ...given, counter: loading(true).counter })
          for (let i = 0; i < 5; i++) {
            const more = [...history, ...steps(n + i).slice(history.length)]
            if (i === late) {
              load()
              await others()
            }
            const pending = memory.transformContext([...more])
            // A request that has to wait for the counter gets it.
            if (!(await settled(pending))) load()
            expect(await pending).toEqual(await known.transformContext([...more]))
          }
        }
      ),
      { numRuns: 60, seed: 1 }
    )
  })
})

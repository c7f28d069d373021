import { Commit, createMemory, hardLimit, memoryStore } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import { deepFreeze } from "@varve/testkit/Freeze"
import { growths } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import type { Violation } from "@varve/testkit/Invariants"
import {
  checkDeterministic,
  checkGrowth,
  checkPrepared,
  checkSame,
  explain
} from "@varve/testkit/Invariants"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ScreenshotsOptions } from "../src/index.ts"
import { screenshots } from "../src/index.ts"
import type { TestBlock } from "./pictures.ts"
import { historyOf, image, screen, touched } from "./pictures.ts"

/** A few real screens: small ones, large ones, ones that are nearly equal, one that can't be read. */
const pool = [
  image(await screen(400, 300, 1)),
  image(await screen(400, 300, 2)),
  image(await touched(3, 6, 20, 400, 300)),
  image(await touched(3, 6, 26, 400, 300)),
  image(await screen(300, 500, 4)),
  image(await screen(60, 40, 5)),
  image((await screen(400, 300, 6)).slice(0, 9000))
]

const options = fc.record<ScreenshotsOptions>({
  keep: fc.constantFrom<number | "all">(0, 1, 2, 3, "all"),
  thumbnails: fc.constantFrom<NonNullable<ScreenshotsOptions["thumbnails"]>>(
    false,
    { edge: 64 },
    { edge: 64, count: 2 }
  ),
  duplicates: fc.constantFrom<NonNullable<ScreenshotsOptions["duplicates"]>>(
    false,
    "exact",
    "near"
  ),
  placeholder: fc.constantFrom("card", "classic")
})

const sessions = fc.record({
  options,
  steps: fc.array(fc.array(fc.nat(pool.length - 1), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 9
  }),
  commit: fc.constantFrom("immediate", "batched", "whenItPays"),
  images: fc.constantFrom(undefined, 2, 5)
})

const rules = {
  immediate: Commit.immediate,
  batched: Commit.batched({ size: 3 }),
  whenItPays: Commit.whenItPays()
}

const counter = estimateCounter()

const holds = async <A>(
  arbitrary: fc.Arbitrary<A>,
  numRuns: number,
  find: (a: A) => Promise<ReadonlyArray<Violation>>
) => {
  const { counterexample, failed } = await fc.check(
    fc.asyncProperty(arbitrary, async (input) => (await find(input)).length === 0),
    { numRuns }
  )
  if (!failed) return
  const [input] = counterexample!
  expect.fail(`${explain(await find(input))}\n${JSON.stringify(input).slice(0, 2000)}`)
}

describe("over random histories of images", () => {
  it("the invariants hold, and a memory made anew at every request gives the same bytes", async () => {
    let thumbnails = 0
    let cards = 0
    await holds(sessions, 120, async ({ commit, images, options, steps }) => {
      const found: Array<Violation> = []
      const start = (store = memoryStore()) =>
        createMemory({
          pipeline: [screenshots(options), hardLimit()],
          budget: images === undefined ? {} : { images },
          commit: rules[commit],
          store
        })
      const all = deepFreeze(historyOf(steps.map((list) => list.map((i): TestBlock => pool[i]!))))
      const memory = start()
      const store = memoryStore()
      let previous: Parameters<typeof checkGrowth>[0] | undefined
      for (let at = 3; at <= all.length; at += 2) {
        const input = all.slice(0, at) as unknown as ReadonlyArray<Message>
        const { messages, report } = await memory.prepare<unknown>(input)
        await memory.flush()
        const output = messages as ReadonlyArray<Message>
        const limits = images === undefined || images > 2 ? report.over : []
        const prepared = {
          input,
          output,
          counter,
          unguarded: report.guarded === 0 && images === undefined
        }
        found.push(...checkPrepared(prepared))
        if (limits.length > 0) found.push({ rule: "I10", at: -1, what: limits.join() })
        const again = await memory.prepare<unknown>(input)
        found.push(...checkSame(output, again.messages as ReadonlyArray<Message>))
        const committed = report.commit.committed > 0 || report.guarded > 0
        if (previous !== undefined) found.push(...checkGrowth(previous, prepared, { committed }))
        previous = prepared
        const other = start(store)
        const twin = await other.prepare<unknown>(input)
        await other.prepare<unknown>(input)
        await other.close()
        found.push(...checkDeterministic(output, twin.messages as ReadonlyArray<Message>))
        for (const reason of Object.keys(report.strategies[0]?.reasons ?? {})) {
          if (reason.startsWith("thumbnail")) thumbnails++
          else cards++
        }
      }
      await memory.close()
      return found
    })
    expect(thumbnails).toBeGreaterThan(20)
    expect(cards).toBeGreaterThan(50)
  }, 120_000)

  it("so many stay, so many are thumbnails, and none of the rest", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(4),
        fc.nat(3),
        fc.array(fc.nat(4), { minLength: 1, maxLength: 8 }),
        async (keep, count, list) => {
          const memory = createMemory({
            pipeline: [
              screenshots({
                keep,
                thumbnails: count === 0 ? false : { count, edge: 64 },
                duplicates: false
              })
            ],
            commit: Commit.immediate
          })
          const history = historyOf(list.map((i) => [pool[i]!]))
          const { messages } = await memory.prepare<unknown>(history)
          const kinds = (messages as typeof history)
            .filter(({ role }) => role === "toolResult")
            .map(({ content }) => content[1] as TestBlock)
            .map(({ mimeType, type }) =>
              type === "text" ? "card" : mimeType === "image/webp" ? "small" : "full"
            )
          const full = Math.min(list.length, Math.max(1, keep))
          const small = Math.min(list.length - full, Math.max(0, keep + count - full))
          expect(kinds).toEqual([
            ...Array.from({ length: list.length - full - small }, () => "card"),
            ...Array.from({ length: small }, () => "small"),
            ...Array.from({ length: full }, () => "full")
          ])
        }
      ),
      { numRuns: 60 }
    )
  }, 60_000)

  it("prefixes change at most once a batch, whatever the ladder is", async () => {
    await fc.assert(
      fc.asyncProperty(options, fc.integer({ min: 2, max: 9 }), async (options, size) => {
        const memory = createMemory({
          pipeline: [screenshots(options)],
          commit: Commit.batched({ size })
        })
        const all = historyOf(Array.from({ length: 50 }, (_, i) => [pool[i % 5]!]))
        let changes = 0
        let last: ReadonlyArray<unknown> = []
        for (let at = 3; at <= all.length; at += 2) {
          const { messages } = await memory.prepare<unknown>(all.slice(0, at))
          if (last.some((m, i) => m !== messages[i])) changes++
          last = messages
        }
        expect(changes).toBeLessThanOrEqual(Math.ceil(50 / size))
      }),
      { numRuns: 25 }
    )
  }, 60_000)

  it("any history comes out valid, whatever else stands in it", async () => {
    await holds(
      fc.tuple(growths(histories({ turns: 2, steps: 4, text: 200 }), { requests: 4 }), options),
      100,
      async ([{ kind, requests }, options]) => {
        const memory = createMemory({ pipeline: [screenshots(options)], commit: Commit.immediate })
        const found: Array<Violation> = []
        for (const head of requests) {
          const input = deepFreeze(head)
          const { messages } = await memory.prepare<unknown>(input)
          const output = messages as ReadonlyArray<Message>
          const all = checkPrepared({ input, output, counter, unguarded: true })
          found.push(...(kind === "trimmed" ? all.filter(({ rule }) => rule !== "I3") : all))
          const again = await memory.prepare<unknown>(input)
          found.push(...checkSame(output, again.messages as ReadonlyArray<Message>))
        }
        await memory.close()
        return found
      }
    )
  }, 120_000)
})

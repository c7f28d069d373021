import { assert, it as effectIt } from "@effect/vitest"
import type { Staged } from "@varve/core/Commit"
import * as Commit from "@varve/core/Commit"
import { conversationSummary } from "@varve/core/ConversationSummary"
import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import * as Memory from "@varve/core/Memory"
import type { Message } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import type { Report } from "@varve/core/Report"
import { stepMemory } from "@varve/core/StepMemory"
import { strategy } from "@varve/core/Strategy"
import type { ImageRef, ItemRef } from "@varve/core/View"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { handView } from "./fixtures/handView.ts"
import {
  assistant,
  call,
  read,
  result,
  session,
  step,
  task,
  text,
  thinking,
  user
} from "./fixtures/history.ts"

const staged = (position: number, saved: number, parts: Partial<Staged> = {}): Staged => ({
  edit: Edit.replace(`m${position}/0`, "card"),
  strategy: "s",
  position,
  saved,
  age: 0,
  span: 0,
  firstMemo: false,
  ...parts
})
/** A view of so many items of one message and so many tokens each. */
const viewOf = (items: number, tokens: number, cacheCold = false) => ({
  ...handView({
    items: Array.from({ length: items }, (_, i): ItemRef => ({
      id: `g${i}`,
      kind: "group",
      members: [`m${i}`],
      messages: [],
      first: i,
      tokens,
      closed: true
    }))
  }),
  cacheCold
})
// Reads at a tenth, writes at the price of the input, and nothing is too small to be cached.
const profile = {
  ...defaultProfile,
  cache: { ...defaultProfile.cache, minimum: 1 },
  prices: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1 }
}
const memo = (position: number, firstMemo: boolean) =>
  staged(position, -50, { edit: Edit.memo("k", "text", { cap: 99 }), firstMemo })

describe("Commit.immediate", () => {
  it("takes everything that is staged, and waits for nothing where nothing is", () => {
    const all = [staged(4, 10), staged(2, 10), staged(9, 10)]
    expect(Commit.immediate(all, viewOf(10, 100), profile).cut).toBe(2)
    expect(Commit.immediate([], viewOf(10, 100), profile).cut).toBeNull()
  })
})

describe("Commit.batched", () => {
  const rule = Commit.batched({ size: 3 })
  const cut = (all: ReadonlyArray<Staged>, view = viewOf(10, 100)) => rule(all, view, profile).cut

  it("waits until a batch is full, then takes it whole", () => {
    expect(cut([])).toBeNull()
    expect(cut([staged(2, 9), staged(5, 9)])).toBeNull()
    expect(cut([staged(2, 9), staged(5, 9), staged(7, 9)])).toBe(2)
    expect(cut([staged(7, 9), staged(5, 9), staged(3, 9), staged(1, 9)])).toBe(1)
  })

  it("counts no memo but takes it along, and the first one of its key at once", () => {
    expect(cut([memo(0.5, false), staged(2, 9), staged(5, 9)])).toBeNull()
    expect(cut([memo(0.5, false), staged(2, 9), staged(5, 9), staged(7, 9)])).toBe(0.5)
    expect(cut([staged(2, 9), memo(0.5, true)])).toBe(0.5)
  })

  it("counts a block once, and not again on its way down", () => {
    const two = [staged(2, 9), staged(2, 9), staged(5, 9), staged(5, 9)]
    expect(cut(two)).toBeNull()
    const smaller = { block: "m5/0", rank: 1 } as ImageRef
    const view = { ...viewOf(10, 100), images: [smaller] }
    expect(cut([staged(2, 9), staged(5, 9), staged(7, 9)], view as never)).toBeNull()
    const folds = [1, 2, 3].map((i) => staged(i, 9, { edit: Edit.fold([`g${i}`], null, "m9") }))
    expect(cut(folds)).toBe(1)
  })
})

describe("Commit.whenItPays", () => {
  const rule = Commit.whenItPays()
  /** Of a run that has made so many requests, and is taken to make half as many more. */
  const after = (requests: number, view = viewOf(10, 100)) => ({ ...view, requests })
  const cut = (
    all: ReadonlyArray<Staged>,
    view = after(1000),
    p: typeof defaultProfile = profile
  ) => rule(all, view, p).cut

  it("waits until what was paid for waiting reaches what the re-write costs", () => {
    // At 4 stand 600 tokens, 60 of which would go: (600 - 60) x 0.9 = 486 against 60 x 0.1 = 6 a request.
    for (const [age, at] of [
      [1, null],
      [80, null],
      [81, 4],
      [200, 4]
    ] as const) {
      expect(cut([staged(4, 60, { age })])).toBe(at)
    }
  })

  it("takes a fold at once that took longer to come in than its re-write takes to pay back", () => {
    const cut = (span: number): number | null => {
      const fold = staged(1, 400, { edit: Edit.fold(["g1"], "sum", "m1"), span })
      return rule([fold], after(1000), profile).cut
    }
    // 500 of 900 tokens are written anew at 0.9; each request saves 400 at 0.1: paid back in 12.
    expect(cut(0)).toBeNull()
    expect(cut(11)).toBeNull()
    expect(cut(12)).toBe(1)
  })

  it("of a fold that a model has yet to write asks for the price of the call as well", () => {
    const view = { ...viewOf(100, 100), requests: 60 }
    const fold = (call?: Staged["call"]): Staged =>
      staged(10, 4000, { age: 24, ...(call === undefined ? {} : { call }) })
    const cutWith = (call?: Staged["call"]) => rule([fold(call)], view, profile).cut
    expect(cutWith()).toBe(10)
    // 4 000 tokens x 0.1 x 24 requests were paid for waiting: 9 600. (9 000 - 4 000) x 0.9 are the re-write: 4 500.
    expect(cutWith({ input: 5100, output: 0 })).toBe(10)
    expect(cutWith({ input: 5101, output: 0 })).toBe(null)
    expect(cutWith({ input: 0, output: 1020 })).toBe(10)
    expect(cutWith({ input: 0, output: 1021 })).toBe(null)
  })

  it("near the end pays sooner than at the front, and what lies before the cut waits", () => {
    const near = staged(9, 80, { age: 4 })
    const far = staged(1, 80, { age: 4 })
    expect(cut([near])).toBe(9)
    expect(cut([far])).toBeNull()
    expect(cut([far, near], after(100))).toBe(9)
    expect(cut([far, staged(2, 80, { age: 4 })])).toBeNull()
  })

  it("of text that is written anew once, whenever that is, asks no waiting for", () => {
    // Behind 8 stand 200 tokens, which every commit writes; what lies between 4 and 8 is written once.
    const all = [staged(4, 60, { age: 20 }), staged(8, 60, { age: 1 })]
    // (200 - 60) x 0.9 = 126 are due in every commit, and 20 x 6 + 1 x 6 have been paid for waiting.
    expect(cut(all)).toBe(4)
    expect(cut([staged(4, 60, { age: 19 }), all[1]!])).toBeNull()
  })

  it("of a run of unknown length makes no edit that half as many requests more can't pay back", () => {
    // 486 of re-writing against 6 a request: 81 requests.
    const old = [staged(4, 60, { age: 200 })]
    expect([cut(old, after(161)), cut(old, after(162))]).toEqual([null, 4])
  })

  it("of a run of unknown length makes a summary that as many requests more pay back", () => {
    // (900 - 400) x 0.9 = 450 of re-writing, against 40 a request: 12 of them.
    const fold = (span: number, age: number) =>
      staged(1, 400, { edit: Edit.fold(["g1"], "sum", "m1"), span, age })
    const of = (span: number, age: number, requests: number) =>
      cut([fold(span, age)], after(requests))
    expect([of(20, 0, 11), of(20, 0, 12)]).toEqual([null, 1])
    expect([of(0, 20, 22), of(0, 20, 23)]).toEqual([null, 1])
  })

  it("takes an earlier edit along where that re-writes hardly more", () => {
    // Behind 20 stand 2 000 tokens, behind the memo 2 100.
    const late = staged(20, 60, { age: 330 })
    expect(cut([late, memo(19.5, false)], after(4000, viewOf(40, 100)))).toBe(19.5)
    expect(cut([late, memo(12.5, false)], after(4000, viewOf(40, 100)))).toBe(20)
  })

  it("without marks writes all of the history anew, and this request counts as waiting", () => {
    const marked = { ...profile, cache: { ...profile.cache, kind: "marks" as const } }
    // All 1 000 tokens but 60, x 0.9 = 846, against 6 a request: 141 of them.
    const of = (age: number, marks: boolean) =>
      Commit.whenItPays({ marks })([staged(4, 60, { age })], after(1000), marked).cut
    expect([of(139, false), of(140, false), of(80, true), of(81, true)]).toEqual([null, 4, null, 4])
  })

  it("behind the end of an earlier request that the provider has marked, writes no more than what stands there", () => {
    const cache = { ...profile.cache, kind: "marks" as const, lookback: 5 }
    const of = (implicit: boolean, stable: number, position: number, age: number) =>
      rule(
        [staged(position, 60, { age })],
        { ...after(1000), stable },
        {
          ...profile,
          cache: { ...cache, implicit }
        }
      ).cut
    // Behind 6 stand 4 groups of 100 tokens: (400 - 60) x 0.9 = 306 against 6 a request; of all of it 846.
    expect([of(true, 4, 6, 50), of(true, 4, 6, 51)]).toEqual([null, 6])
    // The end of the request before that is gone: something in front of it has changed since.
    expect([of(true, 3, 6, 139), of(true, 3, 6, 140)]).toEqual([null, 6])
    expect([of(false, 9, 6, 139), of(false, 9, 6, 140)]).toEqual([null, 6])
    // The provider looks no further back than that.
    expect([of(true, 9, 5, 65), of(true, 9, 5, 66)]).toEqual([null, 5])
    expect([of(true, 9, 4, 139), of(true, 9, 4, 140)]).toEqual([null, 4])
    const withTokens = (tokens: number) => {
      const view = after(1000)
      return { ...view, usage: { ...view.usage, tokens } }
    }
    // Nobody has marked the system text either: where all is written anew, its 100 tokens are as well.
    const withSystem = (age: number) =>
      rule([staged(4, 60, { age })], withTokens(1100), {
        ...profile,
        cache: { ...cache, implicit: true }
      }).cut
    expect([withSystem(154), withSystem(155)]).toEqual([null, 4])
  })

  it("waits where what is left would be too small to be cached", () => {
    const of = (minimum: number, saved = 900) => {
      const view = after(1000)
      const small = { ...profile, cache: { ...profile.cache, minimum } }
      return cut(
        [staged(0, saved, { age: 500 })],
        { ...view, usage: { ...view.usage, tokens: 1200 } },
        small
      )
    }
    // 300 are left: uncached they cost 300 in each request, and all 1 200 read from the cache 120.
    expect([of(300), of(301)]).toEqual([0, null])
    // 100 are left, which cost less than that.
    expect(of(301, 1100)).toBe(0)
  })

  it("counts on what the host said before any answer, where folds leave little behind it", () => {
    const cache = { ...profile.cache, kind: "marks" as const, implicit: true, lookback: 5 }
    const view = (stable: number, opening: ItemRef["kind"], empty: boolean) => {
      const { items, ...rest } = after(1000, viewOf(16, 100))
      const said = items.map((item, i): ItemRef =>
        i === 0
          ? { ...item, kind: opening, messages: opening === "fold" && empty ? [] : [user("task")] }
          : { ...item, messages: [assistant(text("done"))] }
      )
      return { ...rest, items: said, stable, usage: { ...rest.usage, tokens: 1600 } }
    }
    const of = (
      age: number,
      taken: number,
      stable = 5,
      opening: ItemRef["kind"] = "group",
      empty = false
    ) => {
      const edit = Edit.fold(
        Array.from({ length: taken }, (_, i) => `g${i + 1}`),
        "x",
        "m15"
      )
      return rule([staged(1, 60, { age, edit })], view(stable, opening, empty), {
        ...profile,
        cache
      }).cut
    }
    // A fold of 11 groups leaves 5 items: (1 500 - 60) x 0.9 = 1 296 against 6 a request. Of all of it: 1 386.
    expect([of(215, 11), of(216, 11)]).toEqual([null, 1])
    expect([of(229, 10), of(230, 10)]).toEqual([null, 1])
    // Too long ago, or no end of a request.
    expect([of(229, 11, 6), of(230, 11, 6)]).toEqual([null, 1])
    expect([of(229, 11, 5, "fold"), of(230, 11, 5, "fold")]).toEqual([null, 1])
    expect([of(215, 11, 5, "fold", true), of(216, 11, 5, "fold", true)]).toEqual([null, 1])
  })

  it("with a known length of the run, makes no edit that the requests to come can't pay back", () => {
    const of = (expectedRequests: number, age = 100) =>
      Commit.whenItPays({ expectedRequests })([staged(4, 60, { age })], viewOf(10, 100), profile)
        .cut
    // One request was made: 81 more bring in 81 x 6, as much as the re-write costs.
    expect([of(0), of(81), of(82), of(5000)]).toEqual([null, null, 4, 4])
    expect(of(5000, 80)).toBeNull()
  })

  it("with a known length, takes what no request had yet for written in any case", () => {
    const newest = { role: "assistant" as const, content: "said" }
    const view = viewOf(10, 100)
    const withNewest = {
      ...view,
      items: view.items.map((item, i) => (i === 9 ? { ...item, messages: [newest] } : item))
    }
    const of = (expectedRequests: number | undefined, age: number) =>
      Commit.whenItPays(expectedRequests === undefined ? {} : { expectedRequests })(
        [staged(4, 60, { age })],
        after(1000, withNewest),
        profile
      ).cut
    // (600 - 60 - 100) x 0.9 = 396 against 6 a request: 66 of them; with the newest 81.
    expect([of(9000, 60), of(9000, 70)]).toEqual([null, 4])
    expect([of(undefined, 70), of(undefined, 81)]).toEqual([null, 4])
  })

  it("with a known length, shares the run out about as well as anybody could", () => {
    /** One edit of 10 tokens comes in with each request; a commit re-writes so many tokens. */
    const spent = (requests: number, written: number): number => {
      const rule = Commit.whenItPays({ expectedRequests: requests })
      let sum = 0
      let waiting = 0
      for (let t = 1; t <= requests; t++) {
        waiting++
        const all = Array.from({ length: waiting }, (_, age) => staged(4, 10, { age }))
        const view = { ...viewOf(10, (written + 10 * waiting) / 6), requests: t }
        if (rule(all, view, profile).cut === null) sum += waiting
        else [sum, waiting] = [sum + 0.9 * written, 0]
      }
      return sum
    }
    const best = (requests: number, written: number): number => {
      /** From a request on, with nothing waiting. */
      const from = [0]
      for (let left = 1; left <= requests; left++) {
        let least = (left * (left + 1)) / 2
        for (let n = 0; n < left; n++)
          least = Math.min(least, (n * (n + 1)) / 2 + 0.9 * written + from[left - n - 1]!)
        from.push(least)
      }
      return from.at(-1)!
    }
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 150 }),
        fc.integer({ min: 100, max: 1000 }),
        (requests, written) => {
          expect(spent(requests, written)).toBeLessThanOrEqual(1.06 * best(requests, written))
        }
      )
    )
  })

  it("of a run that goes on for longer than expected, goes by its requests so far", () => {
    const all = [staged(4, 60, { age: 200 })]
    const of = (requests: number, expectedRequests?: number) =>
      Commit.whenItPays(expectedRequests === undefined ? {} : { expectedRequests })(
        all,
        after(requests),
        profile
      ).cut
    expect([of(400, 400), of(401, 400), of(401)]).toEqual([null, 4, 4])
    expect([of(100, 99), of(100)]).toEqual([null, null])
  })

  it("of a run that never ends, shares it out as of a very long one", () => {
    const of = (expectedRequests: number, age: number) =>
      Commit.whenItPays({ expectedRequests })([staged(4, 60, { age })], after(1), profile).cut
    for (const expected of [1e9, 1e160, Number.MAX_VALUE])
      expect([of(expected, 80), of(expected, 81)]).toEqual([null, 4])
  })

  it("counts what a request costs more above the size from which a dearer price holds", () => {
    const dear = { above: 900, input: 10, output: 50, cacheRead: 1 }
    const tiered = { ...profile, prices: { ...profile.prices, tiers: [dear] } }
    const of = (saved: number, age: number, p: typeof defaultProfile) =>
      cut([staged(4, saved, { age })], after(1000), p)
    // Of 1 000 tokens 100 go: then all of it is read for 0.9 less a token, 900 a request, and the re-write costs 450.
    expect([of(100, 1, profile), of(100, 0, tiered)]).toEqual([null, 4])
    // With 99 it is still above: 1 a token that goes, 9 a token that is written, which has no price of its own.
    expect([of(99, 45, tiered), of(99, 46, tiered)]).toEqual([null, 4])
    // The dearest tier that it is above holds, in whatever order they are.
    const free = { above: 100, input: 1, output: 1, cacheRead: 1 }
    for (const tiers of [
      [free, dear],
      [dear, free]
    ])
      expect(of(99, 45, { ...tiered, prices: { ...profile.prices, tiers } })).toBeNull()
  })

  it("sees the size of a request as the model counts it", () => {
    const dear = { above: 1900, input: 10, output: 50, cacheRead: 1 }
    const tiered = { ...profile, prices: { ...profile.prices, tiers: [dear] } }
    const view = after(1000)
    const twice = { ...view, usage: { ...view.usage, tokens: 2000 }, scale: 2 }
    expect(cut([staged(4, 49)], twice, tiered)).toBeNull()
    const { cut: at, reason } = rule([staged(4, 50)], twice, tiered)
    expect(at).toBe(4)
    // (600 - 50) x 0.9 tokens of the counter, each two of the model.
    expect(reason).toMatch(/^0\.00099 USD of re-writing/)
  })

  it("counts the newest answer's reasoning for thought again where an edit has it dropped", () => {
    const thought = (words: number): Message => ({
      role: "assistant",
      content: [{ type: "thinking", thinking: "plan ".repeat(words) }, text("said")]
    })
    const view = (words: number) => {
      const plain = after(1000)
      const items = plain.items.map((item, i) =>
        i === 9 ? { ...item, messages: [thought(words)] } : item
      )
      return { ...plain, items }
    }
    const drop = { ...profile, reasoning: "drop" as const }
    const of = (words: number, age: number, p: typeof defaultProfile) =>
      cut([staged(4, 60, { age })], view(words), p)
    expect([of(20, 81, profile), of(20, 81, drop), of(20, 120, drop)]).toEqual([4, null, 4])
    // With more of it there is more to think again.
    expect([of(100, 120, profile), of(100, 120, drop)]).toEqual([4, null])
  })

  it("of a cold cache, or of none, costs nothing", () => {
    const all = [staged(7, 1), staged(1, 1)]
    expect(cut(all)).toBeNull()
    expect(cut(all, viewOf(10, 100, true))).toBe(1)
    const none = { ...profile, cache: { ...profile.cache, kind: "none" as const } }
    expect(cut(all, after(1), none)).toBe(1)
  })

  it("of a cold cache, or of none, has to earn the price of a call all the same", () => {
    const none = { ...profile, cache: { ...profile.cache, kind: "none" as const } }
    const fold = (input: number) => [staged(1, 400, { call: { input, output: 0 } })]
    const cold = { ...viewOf(10, 100, true), requests: 20 }
    // 400 tokens x 10 requests, half of those made, at the price of a read; without a cache at that of the input.
    expect(cut(fold(400), cold)).toBe(1)
    expect(cut(fold(401), cold)).toBeNull()
    expect(cut(fold(4000), cold, none)).toBe(1)
    expect(cut(fold(4001), cold, none)).toBeNull()
    const over = Commit.whenItPays({ expectedRequests: 20 })
    expect(over(fold(1), cold, none).cut).toBeNull()
  })

  it("follows the prices: where reading costs as much as writing, everything pays at once", () => {
    const flat = { ...profile, prices: { ...profile.prices, cacheRead: 1 } }
    expect(cut([staged(1, 1, { age: 1 })], after(1), flat)).toBe(1)
    const dear = { ...profile, prices: { ...profile.prices, cacheWrite: 1.25 } }
    expect(cut([staged(4, 60, { age: 81 })], after(1000), dear)).toBeNull()
  })

  it("never for what saves nothing; the first memo of a key at once", () => {
    expect(cut([memo(0.5, false)])).toBeNull()
    expect(cut([staged(3, 0, { age: 1000 })])).toBeNull()
    expect(cut([memo(0.5, true)])).toBe(0.5)
    expect(cut([])).toBeNull()
  })
})

/** Keeps the newest three images; older ones become cards. */
const keep3 = strategy("keep3", (view) =>
  view.images.slice(0, -3).map((i) => Edit.replace(i.block, `[image ${i.ordinal}]`))
)

/** Runs a GUI agent's session request by request. */
const run = async (
  steps: number,
  commit: Commit.CommitRule,
  options: Partial<Memory.MemoryOptions> = {}
) => {
  const memory = createMemory({ pipeline: [keep3], commit, profile, ...options })
  const history = session(steps)
  const reports: Array<Report> = []
  const sent: Array<ReadonlyArray<Message>> = []
  for (let i = 1; i <= steps; i++) {
    const { messages, report } = await memory.prepare(history.slice(0, 1 + 2 * i))
    reports.push(report)
    sent.push(messages)
  }
  const { cacheRead, cacheWrite } = profile.prices
  return {
    reports,
    sent,
    commits: reports.filter((r) => r.commit.committed > 0).length,
    /** What all requests cost, in USD for a million. */
    cost: reports.reduce(
      (sum, { kept, after }) =>
        sum + kept.tokens * cacheRead + (after.tokens - kept.tokens) * cacheWrite,
      0
    )
  }
}

describe("a GUI agent's run", () => {
  it("commits in batches by itself, and costs less than sliding and than doing nothing", async () => {
    const never: Commit.CommitRule = () => ({ cut: null, reason: "never" })
    const [pays, slides, nothing] = await Promise.all([
      run(80, Commit.whenItPays()),
      run(80, Commit.immediate),
      run(80, never)
    ])
    expect(slides.commits).toBe(77)
    expect(pays.commits).toBeGreaterThan(3)
    expect(pays.commits).toBeLessThan(25)
    expect(pays.cost).toBeLessThan(slides.cost)
    expect(pays.cost).toBeLessThan(nothing.cost * 0.6)
  })

  it("in batches of a size changes its prefix once a batch, and is the same in between", async () => {
    const { commits, reports, sent } = await run(33, Commit.batched({ size: 5 }))
    expect(commits).toBe(6)
    for (let i = 1; i < sent.length; i++) {
      const before = sent[i - 1]!
      if (reports[i]!.commit.committed > 0) {
        expect(reports[i]!.kept.share).toBeLessThan(1)
        continue
      }
      expect(sent[i]!.slice(0, before.length).every((m, k) => m === before[k])).toBe(true)
      expect(reports[i]!.kept.share).toBe(1)
    }
    // Three are kept, and up to four more wait.
    for (const { after } of reports.slice(8)) {
      expect(after.images).toBeGreaterThanOrEqual(3)
      expect(after.images).toBeLessThanOrEqual(7)
    }
  })

  it("that is short pays for nothing", async () => {
    const { commits, sent } = await run(5, Commit.whenItPays())
    expect(commits).toBe(0)
    expect(JSON.stringify(sent.at(-1))).not.toContain("[image ")
  })

  it("with a limit commits what the limit takes, and says so", async () => {
    const { reports } = await run(30, Commit.whenItPays(), { budget: { images: 8 } })
    const forced = reports.filter((r) => r.commit.forced)
    expect(forced.length).toBeGreaterThan(2)
    expect(forced[0]!.commit.reason).toBe("9 images are over the limit of 8")
    for (const { after } of reports) expect(after.images).toBeLessThanOrEqual(8)
    // Down to a low-water mark, so that the next requests are free.
    expect(forced[0]!.after.images).toBeLessThanOrEqual(0.7 * 8)
    const at = reports.indexOf(forced[0]!)
    expect(reports[at + 1]!.commit.committed).toBe(0)
  })

  it("whose commit rule fails tells the host, once", async () => {
    const events: Array<string> = []
    const failing = () => {
      throw new Error("no idea")
    }
    await run(6, failing, { onEvent: (event) => void events.push(JSON.stringify(event)) })
    const warnings = events.filter((event) => event.includes('"warning"'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain("the commit rule failed: Error: no idea")
  })

  it("whose commit rule fails sends what it sent before, and says why", async () => {
    const { reports, sent } = await run(6, () => {
      throw new Error("odd prices")
    })
    expect(reports.at(-1)!.commit).toEqual({
      committed: 0,
      waiting: 3,
      forced: false,
      reason: "the commit rule failed: Error: odd prices"
    })
    expect(JSON.stringify(sent.at(-1))).not.toContain("[image ")
  })

  it("whose commit rule gives nonsense goes on", async () => {
    for (const nonsense of [undefined, null, 7, {}, { cut: "all" }, { cut: NaN }]) {
      const { commits } = await run(6, () => nonsense as never)
      expect(commits).toBe(0)
    }
  })
})

describe("edits wait", () => {
  effectIt.effect("while the cache is warm, and all come into force once it is cold", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.make({ pipeline: [keep3], profile })
      const at = (n: number) => memory.prepare(session(n))
      yield* at(5)
      yield* TestClock.adjust(profile.cache.lifetime)
      const warm = yield* at(6)
      assert.deepStrictEqual([warm.report.commit.committed, warm.report.commit.waiting], [0, 3])
      yield* TestClock.adjust(profile.cache.lifetime + 1)
      const cold = yield* at(7)
      assert.deepStrictEqual([cold.report.commit.committed, cold.report.commit.waiting], [4, 0])
      assert.strictEqual(cold.report.commit.reason, "the cache is cold")
    })
  )

  it("for nothing where nothing is cached", async () => {
    const none = { ...profile, cache: { ...profile.cache, kind: "none" as const } }
    const { reports } = await run(10, Commit.whenItPays(), { profile: none })
    expect(reports.map((r) => r.commit.committed)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
  })

  it("not with the first memo: the next request has it; later ones ride with another edit", async () => {
    const notes = strategy("notes", (view) => [
      Edit.memo("notes", `[${view.requests} so far]`, { cap: 100 })
    ])
    const memory = createMemory({ pipeline: [notes], profile })
    const texts: Array<string> = []
    for (let n = 1; n <= 4; n++) {
      const { messages } = await memory.prepare(session(n))
      texts.push(JSON.stringify(messages[1]))
    }
    expect(texts.every((t) => t.includes("[1 so far]"))).toBe(true)
    // The newest is known all the same.
    expect(memory.compose()).toBe("[4 so far]")
  })

  it("a fold takes the memo along: what leaves with it is told of in the same request", async () => {
    for (const [pipeline, tokens] of [
      [[conversationSummary(), stepMemory(), hardLimit()], 8000],
      [[conversationSummary(), stepMemory(), hardLimit()], 20_000],
      [[stepMemory(), hardLimit()], 8000]
    ] as const) {
      const memory = createMemory({ pipeline: [...pipeline], budget: { tokens } })
      const history: Array<Message> = [task]
      let folded = 0
      for (let n = 1; n <= 120; n++) {
        const { messages } = await memory.prepare(history.slice())
        const sent = read(messages)
        const told = Number(/up to step (\d+)/.exec(sent)?.[1] ?? 0)
        if (!sent.includes('"c1"')) folded++
        for (let k = told + 1; k < n; k++) expect(sent, `step ${k} at ${n}`).toContain(`"c${k}"`)
        memory.steps.begin({ id: `c${n}`, callId: `c${n}`, goal: `open order ${n}`, tool: "open" })
        memory.steps.finish({ id: `c${n}`, callId: `c${n}`, outcome: "success" })
        history.push(
          assistant(call(`c${n}`, "open", { n })),
          result(`c${n}`, [text(`Order ${n}. ${"All is well here. ".repeat(40)}`)])
        )
      }
      expect(folded).toBeGreaterThan(20)
      await memory.close()
    }
  })

  it("for the end of a turn where reasoning is bound to what stands before it", async () => {
    const bound = { ...profile, reasoning: "error" as const }
    const memory = createMemory({ pipeline: [keep3], profile: bound, commit: Commit.immediate })
    const history: Array<Message> = [task]
    for (let i = 1; i <= 6; i++) {
      history.push(...step(i, { thinking: true }))
      const { report } = await memory.prepare(history.slice())
      expect(report.commit.committed).toBe(0)
      if (i > 3) expect(report.commit.reason).toContain("inside a turn")
    }
    history.push(assistant(thinking("done", "sig"), "that is it"), user("and now the next"))
    const { report } = await memory.prepare(history.slice())
    expect(report.commit.committed).toBe(3)
    expect(report.reasoning.removed).toBeGreaterThan(0)
  })
})

it("a view knows for how many requests nothing has changed that had been sent before", async () => {
  const seen: Array<number> = []
  const spy = strategy("spy", (view) => {
    seen.push(view.stable)
    return []
  })
  const memory = createMemory({ pipeline: [spy, keep3], commit: Commit.batched({ size: 3 }) })
  for (let n = 1; n <= 8; n++) await memory.prepare(session(n))
  // The sixth brings the third edit, which comes into force with it.
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 1, 2])
  const changed = session(9).map((m, i) => (i === 3 ? { ...m, content: [text("others")] } : m))
  await memory.prepare(changed)
  await memory.prepare([...changed, ...session(10).slice(-2)])
  expect(seen.slice(8)).toEqual([3, 1])
})

it("a view tells the model's tokens from the counter's, whatever stands beside the messages unseen", async () => {
  const scales: Array<number> = []
  const spy = strategy("spy", (view) => {
    scales.push(view.scale)
    return []
  })
  const memory = createMemory({ pipeline: [spy] })
  for (let n = 1; n <= 6; n++) {
    const { report } = await memory.prepare(session(n, { images: 0, words: 400 }))
    const counted = report.before.source === "usage" ? 0 : report.before.tokens
    // 40 000 tokens that nobody counts stand in each request.
    memory.usage({ input: 40_000 + (counted > 0 ? counted : 600 * n) })
  }
  expect(scales.every((scale) => scale >= 0.5 && scale <= 3)).toBe(true)
  expect(scales[1]).toBe(1)
})

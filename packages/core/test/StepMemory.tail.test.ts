import { growths } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import { deepFreeze } from "@varve/testkit/Freeze"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { CommitRule } from "../src/Commit.ts"
import * as Commit from "../src/Commit.ts"
import { estimateCounter } from "../src/Counter.ts"
import { createMemory } from "../src/createMemory.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import * as Edit from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { MemoryOptions } from "../src/Memory.ts"
import type { Message } from "../src/Message.ts"
import { blocksOf, textOf, withoutRoom } from "../src/Message.ts"
import { defaultProfile } from "../src/Profile.ts"
import { stepMemory } from "../src/StepMemory.ts"
import { memoryStore } from "../src/Store.ts"
import { strategy } from "../src/Strategy.ts"
import { checkValidity } from "../src/Validity.ts"
import { assistant, image, result, session, step, system, task, user } from "./fixtures/history.ts"

const marks = { ...defaultProfile.cache, kind: "marks" as const }

const make = (options: Partial<MemoryOptions> = {}) =>
  createMemory({ pipeline: [stepMemory({ place: "tail" }), hardLimit()], ...options })

type Memory = ReturnType<typeof createMemory>

const done = (memory: Memory, i: number, outcome: "success" | "failed" = "success") => {
  memory.steps.begin({ id: `s${i}`, goal: `goal ${i}`, callId: `c${i}` })
  memory.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome })
}

const isMemo = (text: string | undefined) =>
  /^(?:\[Memo, made anew for each request:\]\n)?\[Step memory/.test(text ?? "")
/** The text of ours at the end of a message, and the message without it. */
const parted = (message: Message): { readonly memo: string; readonly rest: Message } => {
  const blocks = blocksOf(message)
  const last = blocks.at(-1)
  return last?.type === "text" && isMemo(last.text)
    ? { memo: last.text, rest: { ...message, content: blocks.slice(0, -1) } }
    : { memo: "", rest: message }
}
const holders = (messages: ReadonlyArray<Message>) =>
  messages.flatMap((m, i) => (parted(m).memo === "" ? [] : [i]))

describe("a step memory at the tail", () => {
  it("stands in the newest result of each request, always the newest, and all before it stays", async () => {
    const memory = make()
    let before: ReadonlyArray<Message> = []
    for (let i = 1; i <= 30; i++) {
      done(memory, i)
      const history = deepFreeze(session(i))
      const { messages, report } = await memory.prepare(history)
      expect(holders(messages)).toEqual([2 * i])
      const { memo, rest } = parted(messages.at(-1)!)
      expect(memo).toContain(`step ${i}: success`)
      expect(rest).toEqual(history.at(-1))
      messages.slice(0, -1).forEach((m, k) => expect(m).toBe(history[k]))
      expect(messages.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1))
      expect(checkValidity(messages)).toEqual([])
      expect(report.tail?.at).toBe(2 * i)
      expect(report.kept.messages).toBe(i === 1 ? 0 : 2 * i - 2)
      before = messages
    }
    await memory.close()
  })

  it("is counted to the token", async () => {
    const memory = make({ overhead: () => ({ system: "You work a screen." }) })
    const counter = estimateCounter()
    for (let i = 1; i <= 10; i++) {
      done(memory, i)
      const { messages, report } = await memory.prepare(session(i))
      const { tokens } = counter.request({ system: "You work a screen.", messages })
      expect(report.after.tokens).toBe(tokens)
      expect(report.after.messages).toBe(messages.length)
      expect(report.before.tokens + report.tail!.tokens).toBe(tokens)
    }
    await memory.close()
  })

  it("gives the same bytes when asked again, and after a restart", async () => {
    const store = memoryStore()
    const one = make({ store })
    for (let i = 1; i <= 12; i++) done(one, i)
    const { messages } = await one.prepare(session(12))
    expect((await one.prepare(session(12))).messages).toEqual(messages)
    await one.close()
    const two = make({ store })
    expect((await two.prepare(session(12))).messages).toEqual(messages)
    await two.close()
  })

  it.each(["by object", "as JSON", "behind a restart"] as const)(
    "a host that goes on with what was sent gathers no tails: %s",
    async (how) => {
      const store = memoryStore()
      let memory = make({ store })
      let history: ReadonlyArray<Message> = [task]
      for (let i = 1; i <= 8; i++) {
        history = [...history, ...step(i)]
        done(memory, i)
        const { messages } = await memory.prepare(history)
        expect(holders(messages), `request ${i}`).toEqual([messages.length - 1])
        expect(messages.length).toBe(2 * i + 1)
        history = how === "by object" ? messages : JSON.parse(JSON.stringify(messages))
        if (how === "behind a restart") {
          await memory.close()
          memory = make({ store })
        }
      }
      await memory.close()
    }
  )

  it.each(["by object", "as JSON"] as const)(
    "nor does one that trims or prepends, or goes on with an older request: %s",
    async (how) => {
      const memory = make()
      const sent = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
        how === "by object" ? messages : JSON.parse(JSON.stringify(messages))
      let history: ReadonlyArray<Message> = [task, ...step(1)]
      let older: ReadonlyArray<Message> = history
      for (let i = 2; i <= 12; i++) {
        done(memory, i)
        const { messages } = await memory.prepare(history)
        expect(holders(messages), `request ${i}`).toEqual([messages.length - 1])
        const from = i % 4 === 0 ? older : sent(messages)
        older = sent(messages)
        const rest =
          i % 3 === 0 ? [user("one more thing"), ...from] : from.toSpliced(1, i % 2 ? 2 : 0)
        history = [...rest, ...step(i)]
      }
      await memory.close()
    }
  )

  it("of one memo the newest text alone is in force", async () => {
    const memory = make()
    for (let i = 1; i <= 6; i++) {
      done(memory, i)
      await memory.prepare(session(i))
    }
    const states = memory.explain().map(({ state }) => state)
    expect(states.filter((state) => state === "in force")).toHaveLength(1)
    expect(states.at(-1)).toBe("in force")
    await memory.close()
  })

  it("stands in no error, no empty result and no system text, and never in a host's own list", async () => {
    const error = result("c2", "no such button", { isError: true })
    const cases: ReadonlyArray<readonly [ReadonlyArray<Message>, number | undefined]> = [
      [[task], 0],
      [[task, assistant("a look", "c1"), result("c1", "ok")], 2],
      [[task, assistant("a look", "c1"), result("c1", [image()])], 2],
      [[task, assistant("c1", "c2"), result("c1", "ok"), error], 2],
      [[task, assistant("c1"), result("c1", ""), assistant("c2"), error], 0],
      [[task, assistant("c1"), result("c1"), user("go on")], 3],
      [[task, assistant("c1"), result("c1"), system("now be brief")], 2],
      [[task, assistant("it is done")], 0],
      [[system("be brief"), assistant("hello there")], undefined]
    ]
    for (const [history, at] of cases) {
      const memory = make()
      done(memory, 1)
      deepFreeze(history)
      const { messages, report } = await memory.prepare(history)
      expect(holders(messages)).toEqual(at === undefined ? [] : [at])
      expect(report.tail?.at).toBe(at)
      expect(messages.map((m) => parted(m).rest.role)).toEqual(history.map((m) => m.role))
      expect(memory.compose()).toContain("goal 1")
      await memory.close()
    }
  })

  it("the marks stand before it", async () => {
    const memory = make({ profile: { ...defaultProfile, cache: marks } })
    const places: Array<ReadonlyArray<number>> = []
    for (let i = 1; i <= 4; i++) {
      done(memory, i)
      places.push((await memory.prepare(session(i, { images: 0 }))).marks)
    }
    expect(places).toEqual([[1], [1, 3], [3, 5], [5, 7]])
    await memory.close()
  })

  it.each(["drop", "error"] as const)(
    "stands behind the task where reasoning is bound to what stands before it: %s",
    async (reasoning) => {
      const warnings: Array<string> = []
      const memory = make({
        profile: { ...defaultProfile, reasoning },
        onEvent: (e) => e.type === "warning" && warnings.push(e.message)
      })
      for (let i = 1; i <= 6; i++) {
        done(memory, i)
        const { messages, report } = await memory.prepare([task, ...session(i).slice(1), user("x")])
        expect(holders(messages)).toEqual([1])
        expect(report.tail).toBeUndefined()
        expect(report.reasoning).toEqual({ lost: 0, removed: 0 })
      }
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain('{ reasoning: "none" }')
      await memory.close()
    }
  )

  it("a session that was saved at the tail goes on behind the task under a profile that binds", async () => {
    const store = memoryStore()
    const one = make({ store })
    done(one, 1)
    await one.prepare(session(2))
    await one.close()
    const two = make({ store, profile: { ...defaultProfile, reasoning: "drop" } })
    const { messages, report } = await two.prepare([...session(2), user("and now?")])
    expect(holders(messages)).toEqual([1])
    expect(report.tail).toBeUndefined()
    await two.close()
  })

  it("where none of the newest messages has room, it stands behind the task, and a warning says so", async () => {
    const screen = (i: number): Message => withoutRoom(result(`c${i}`, [image(i)]))
    const kinds: ReadonlyArray<(i: number) => Message> = [
      screen,
      (i) => result(`c${i}`, ""),
      (i) => result(`c${i}`, "no such button", { isError: true })
    ]
    for (const of of kinds) {
      const warnings: Array<string> = []
      const memory = make({ onEvent: (e) => e.type === "warning" && warnings.push(e.message) })
      let history: ReadonlyArray<Message> = [task]
      let [read, all] = [0, 0]
      for (let i = 1; i <= 30; i++) {
        done(memory, i)
        history = [...history, assistant(`c${i}`), of(i)]
        const { messages, report } = await memory.prepare(deepFreeze(history))
        expect(messages.some((m) => isMemo(textOf(m)) || parted(m).memo !== "")).toBe(true)
        if (i < 12) continue
        expect(report.tail).toBeUndefined()
        expect(holders(messages)).toEqual([1])
        read += report.kept.tokens
        all += report.after.tokens
      }
      expect(read / all).toBeGreaterThan(0.9)
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain("behind the task")
      // Where there is room again, it is the newest at the tail again.
      done(memory, 31)
      const { messages } = await memory.prepare([...history, user("and now?")])
      expect(holders(messages)).toEqual([messages.length - 1])
      expect(parted(messages.at(-1)!).memo).toContain("step 31")
      await memory.close()
    }
  })

  it("is no commit in the report", async () => {
    const memory = make()
    for (let i = 1; i <= 3; i++) {
      done(memory, i)
      const { report } = await memory.prepare(session(i))
      expect(report.commit).toMatchObject({ committed: 0, waiting: 0, reason: "nothing is staged" })
    }
    await memory.close()
  })

  it("has the same bytes in a message of one text as in one of blocks", async () => {
    const bytes = async (content: Message["content"]) => {
      const memory = make()
      done(memory, 1)
      const history = [task, assistant("c1"), { ...result("c1"), content } as Message]
      const { messages, report } = await memory.prepare(history)
      await memory.close()
      return { said: report.after.requestBytes, is: JSON.stringify(messages).length }
    }
    const [text, blocks] = [await bytes("plain"), await bytes([{ type: "text", text: "plain" }])]
    expect(text.is).toBe(blocks.is)
    expect(text.said).toBe(blocks.said)
  })

  it("a strategy of one's own can't put a memo there either", async () => {
    const mine = strategy("mine", () => [
      Edit.proposal("why not", [Edit.memo("m", "[Step memory: mine]", { cap: 40, tail: true })])
    ])
    const sent = async (reasoning: "none" | "drop", commit: CommitRule) => {
      const profile = { ...defaultProfile, reasoning }
      const memory = createMemory({ pipeline: [mine], profile, commit })
      const { messages, report } = await memory.prepare(session(3))
      await memory.close()
      return { at: holders(messages), tail: report.tail?.at }
    }
    const never: CommitRule = () => ({ cut: null, reason: "never" })
    for (const rule of [Commit.immediate, never])
      expect(await sent("none", rule)).toEqual({ at: [6], tail: 6 })
    expect(await sent("drop", Commit.immediate)).toEqual({ at: [1], tail: undefined })
    // There it changes what is sent, and waits like any other.
    expect(await sent("drop", never)).toEqual({ at: [], tail: undefined })
  })

  it("fits within every limit: the guard sees it, and it leaves last of all that may", async () => {
    const growing = growths(histories({ turns: 2, steps: 5, text: 400 }), { requests: 5 })
    const counter = estimateCounter()
    await fc.assert(
      fc.asyncProperty(
        growing,
        fc.integer({ min: 60, max: 2500 }),
        async ({ requests }, tokens) => {
          const memory = make({
            pipeline: [
              stepMemory({ place: "tail" }),
              conversationSummary({ soft: 0.4 }),
              hardLimit()
            ],
            budget: { tokens }
          })
          for (const [i, request] of requests.entries()) {
            done(memory, i)
            const prepared = await memory.prepare(request).catch(() => undefined)
            if (prepared === undefined) continue
            const count = counter.request({ messages: prepared.messages })
            expect(count.tokens).toBeLessThanOrEqual(tokens)
          }
          await memory.close()
        }
      ),
      { numRuns: 150 }
    )
  })

  it("comes from behind the task, and goes back there, with the option", async () => {
    const store = memoryStore()
    const options = { store, commit: Commit.immediate }
    const at: Array<unknown> = []
    for (const [i, place] of (
      ["messages", "tail", "compose", "tail", "messages"] as const
    ).entries()) {
      const memory = createMemory({ ...options, pipeline: [stepMemory({ place }), hardLimit()] })
      done(memory, 1)
      const { messages } = await memory.prepare(session(2 + i))
      at.push(holders(messages))
      expect(memory.compose().match(/\[Step memory/g)).toHaveLength(1)
      await memory.close()
    }
    expect(at).toEqual([[1], [6], [], [10], [1]])
  })

  it("a memory of five hundred steps keeps a handful of old memos", async () => {
    const memory = make()
    for (let i = 1; i <= 500; i++) {
      done(memory, i)
      await memory.prepare(session(3, { images: 0 }))
    }
    expect(memory.explain().length).toBeLessThan(20)
    expect(textOf((await memory.prepare(session(3, { images: 0 }))).messages.at(-1)!)).toContain(
      "step 500"
    )
    await memory.close()
  })

  it("is not taken for a break of the cache", async () => {
    for (const kind of ["marks", "prefix"] as const) {
      const breaks: Array<unknown> = []
      const memory = make({
        pipeline: [stepMemory({ place: "tail", recentTokens: 4000, cap: 6000 }), hardLimit()],
        profile: { ...defaultProfile, cache: { ...marks, kind, minimum: 100 } },
        onEvent: (e) => e.type === "cache-break" && breaks.push(e)
      })
      const counter = estimateCounter()
      for (let i = 1; i <= 40; i++) {
        done(memory, i)
        const { messages, report } = await memory.prepare(session(i))
        // Read is what stands as it did, written what stands before the tail.
        const read = report.kept.tokens
        const before = counter.request({ messages: messages.slice(0, report.tail!.at) }).tokens
        const input = report.after.tokens - before
        memory.usage({ input, cacheRead: read, cacheWrite: before - read })
      }
      expect(breaks, kind).toEqual([])
      await memory.close()
    }
  })
})

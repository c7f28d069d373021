import * as Effect from "effect/Effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { createMemory } from "../src/createMemory.ts"
import * as Edit from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { MemoryOptions } from "../src/Memory.ts"
import type { Message } from "../src/Message.ts"
import { CurrentRedact, redactEscaped } from "../src/Redact.ts"
import { StepLog } from "../src/StepLog.ts"
import { stepMemory } from "../src/StepMemory.ts"
import { memoryStore } from "../src/Store.ts"
import type { Strategy } from "../src/Strategy.ts"
import { make, strategy } from "../src/Strategy.ts"
import type { Summarizer, SummaryRequest } from "../src/Summarizer.ts"
import { SummaryError } from "../src/VarveError.ts"
import type { VarveEvent } from "../src/VarveEvent.ts"
import { assistant, result, task, user, words } from "./fixtures/history.ts"

const SECRET = "hunter2-4711"
const redact = (text: string) => text.replaceAll(SECRET, "[secret]")

/** A memory with all that leaves it or is kept of it. */
const observed = (pipeline: ReadonlyArray<Strategy>, options: Partial<MemoryOptions> = {}) => {
  const store = memoryStore()
  const events: Array<VarveEvent> = []
  const memory = createMemory({
    pipeline,
    store,
    commit: Commit.immediate,
    budget: { tokens: 4000 },
    onEvent: (event) => events.push(event),
    redact,
    ...options
  })
  const saved = async () => (await Effect.runPromise(store.load("agent/session"))).entries
  return { memory, events, saved }
}

/** Steps that hold the secret wherever a host can put it, and results that hold it too. */
const run = async (memory: ReturnType<typeof createMemory>, steps = 40) => {
  const history: Array<Message> = [task, user(`Never tell anyone about ${SECRET}.`)]
  const sent: Array<ReadonlyArray<Message>> = []
  const reports: Array<unknown> = []
  for (let i = 1; i <= steps; i++) {
    memory.steps.begin({
      id: `s${i}`,
      goal: `log in with ${SECRET}`,
      callId: `c${i}`,
      tool: "type",
      args: { text: SECRET, [SECRET]: [{ deep: `${SECRET}!` }] }
    })
    history.push(
      assistant({
        type: "toolCall",
        id: `c${i}`,
        name: "type",
        arguments: { text: `${SECRET} ${words(40, i)}` }
      }),
      result(`c${i}`, `typed ${SECRET} at ${i} ${words(120, i)}`)
    )
    memory.steps.finish({
      id: `s${i}`,
      callId: `c${i}`,
      outcome: "success",
      note: `not ${SECRET}?`
    })
    const { messages, report } = await memory.prepare(history.slice())
    sent.push(messages)
    reports.push(report)
    await memory.flush()
  }
  return { history, sent, reports }
}

/** Texts of ours in what is sent: the host's own messages are its own affair. */
const ours = (history: ReadonlyArray<Message>, sent: ReadonlyArray<ReadonlyArray<Message>>) =>
  sent.flatMap((messages) => messages.filter((m) => !history.includes(m)))

describe("what redact takes out", () => {
  it("is in no store, prompt, report, event or text of ours, wherever the host put it", async () => {
    const requests: Array<SummaryRequest> = []
    const telling: Summarizer = (request) =>
      Effect.promise(() => Promise.resolve(requests.push(request))).pipe(
        // A model may make up what it was not told, and an error may quote it.
        Effect.flatMap((n) =>
          n % 3 === 0
            ? Effect.fail(new SummaryError("failed", `the provider said ${SECRET}`))
            : Effect.succeed({ text: `Logged in with ${SECRET}, part ${n}.`, stopReason: "stop" })
        )
      )
    const failing = strategy("failing", () => {
      throw new TypeError(`can't read ${SECRET}`)
    })
    const { memory, events, saved } = observed([
      conversationSummary({ summarizer: telling }),
      stepMemory({ summarizer: telling, recentTokens: 60 }),
      failing,
      hardLimit()
    ])
    const { history, reports, sent } = await run(memory)
    const all = {
      store: await saved(),
      prompts: requests.map(({ material, previous, keep }) => [material, previous, keep]),
      reports,
      events,
      texts: ours(history, sent),
      memo: memory.compose(),
      explained: memory.explain()
    }
    expect(requests.length).toBeGreaterThan(6)
    for (const [where, what] of Object.entries(all)) {
      expect(JSON.stringify(what), where).not.toContain(SECRET)
      // What was taken out shows that it was there.
      expect(JSON.stringify(what), where).toMatch(/\[secret\]/)
    }
    expect(JSON.stringify(events)).toContain("TypeError: can't read [secret]")
    expect(JSON.stringify(all.prompts)).toContain("arguments: ")
    await memory.close()
  })

  it("is in no clipped result or argument that the guard saves", async () => {
    const { memory, saved } = observed([hardLimit()], { budget: { tokens: 1500 } })
    const long = (n: number) => `${SECRET} ${words(n)} ${SECRET}`
    const asks = {
      type: "toolCall",
      id: "c",
      name: "type",
      arguments: { text: long(600) }
    } as const
    const history = [task, assistant(asks), result("c", long(2500))]
    const { messages, report } = await memory.prepare(history)
    expect(report.guarded).toBeGreaterThan(0)
    const texts = JSON.stringify(ours(history, [messages]))
    expect(texts).not.toContain(SECRET)
    expect(texts).toContain("[secret]")
    expect(JSON.stringify(await saved())).not.toContain(SECRET)
    await memory.close()
  })

  it("stays out after a restart, and the bytes stay the same", async () => {
    const store = memoryStore()
    const options = { store }
    const pipeline = () => [conversationSummary(), stepMemory({ recentTokens: 60 }), hardLimit()]
    const first = observed(pipeline(), options)
    const { history, sent } = await run(first.memory)
    await first.memory.close()
    const second = observed(pipeline(), options)
    const { messages } = await second.memory.prepare(history)
    expect(messages).toEqual(sent.at(-1))
    await second.memory.close()
  })

  it("is taken out of edits of any strategy, but not of images, and nonsense is still refused", async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const odd = strategy("odd", (view) => [
      ...view.results
        .slice(0, 1)
        .map((r) => Edit.replace(r.block, [{ type: "text", text: SECRET }])),
      Edit.memo("m", `memo ${SECRET}`, { cap: 100, data: { [SECRET]: [SECRET, 1, null] } }),
      Edit.memo("n", "cyclic", { cap: 100, data: cyclic }),
      null as never,
      { kind: "replace", block: 1, to: "x" } as never
    ])
    const { memory, saved } = observed([odd], { protectLast: 0 })
    const { report } = await memory.prepare([
      task,
      assistant({ type: "toolCall", id: "c", name: "see", arguments: {} }),
      result("c", words(200)),
      assistant("seen"),
      user("go on")
    ])
    const text = JSON.stringify(await saved())
    expect(text).toContain('"[secret]":["[secret]",1,null]')
    expect(text).toContain("memo [secret]")
    expect(text).not.toContain(SECRET)
    expect(report.strategies[0]!.refused.map((r) => r.why).sort()).toEqual([
      "not an edit",
      "not an edit",
      "not an edit"
    ])
    await memory.close()
  })

  it("takes the text along where it fails or gives no text: nothing is shown rather than all", async () => {
    for (const bad of [
      () => {
        throw new Error(SECRET)
      },
      () => 5 as never
    ]) {
      const told: Array<VarveEvent> = []
      const onEvent = (event: VarveEvent) => void told.push(event)
      const { memory, saved } = observed([stepMemory()], { redact: bad, onEvent })
      memory.steps.begin({ id: "s", goal: `log in with ${SECRET}` })
      await memory.prepare([task])
      expect(JSON.stringify(await saved()) + memory.compose()).not.toContain(SECRET)
      expect(memory.compose()).toBe("[left out: redact failed]")
      // The host is told, once and without the text.
      const warnings = told.filter(({ type }) => type === "warning")
      expect(warnings).toHaveLength(1)
      expect(JSON.stringify(warnings)).toMatch(
        /redact (?:threw Error|gave 5, not a text); where it/
      )
      expect(JSON.stringify(told)).not.toContain(SECRET)
      await memory.close()
    }
  })

  it("is what a strategy reads when it starts; without one, texts stay as they are", async () => {
    const seen: Array<string> = []
    const reading = make(
      "reading",
      Effect.map(CurrentRedact, (clean) => () => {
        seen.push(clean(`the code is ${SECRET}`))
        return Effect.succeed([])
      })
    )
    for (const options of [{ redact }, {}]) {
      const memory = createMemory({ pipeline: [reading], ...options })
      await memory.prepare([task])
      await memory.close()
    }
    expect(seen).toEqual(["the code is [secret]", `the code is ${SECRET}`])
  })

  it("has to be a function", () => {
    expect(() => createMemory({ redact: "x" as never })).toThrow("redact: got ")
  })
})

/** All texts in a value, and each as JSON has it. */
const textsIn = (value: unknown): ReadonlyArray<string> => {
  const texts: Array<string> = [JSON.stringify(value) ?? ""]
  JSON.stringify(value, (key, inner: unknown) => {
    texts.push(key)
    if (typeof inner === "string") texts.push(inner)
    return inner
  })
  return texts
}

describe("a secret of any characters", { timeout: 60_000 }, () => {
  const secrets = fc
    .string({ unit: "binary", minLength: 1, maxLength: 30 })
    .map((inner) => `Zq7 ${inner}\n"\\\t${inner}é K9`)

  it("is in no store line, prompt, report, event or text of ours", async () => {
    await fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const prompts: Array<unknown> = []
        const summarizer: Summarizer = (request) => {
          prompts.push([request.material, request.previous, request.keep])
          if (prompts.length % 3 === 0) throw new Error(`${"x".repeat(285)} ${secret}`)
          const text = `Typed ${secret} into the form of the page, part ${prompts.length}.`
          return Effect.succeed({ text, stopReason: "stop" })
        }
        const { memory, events, saved } = observed(
          [
            conversationSummary({ summarizer }),
            stepMemory({ summarizer, recentTokens: 60 }),
            strategy("failing", () => Promise.reject(`${"y".repeat(36)}${secret}`)),
            hardLimit()
          ],
          { redact: (text) => text.replaceAll(secret, "[secret]"), budget: { tokens: 2000 } }
        )
        const history: Array<Message> = [task]
        const seen: Array<unknown> = []
        for (let i = 1; i <= 14; i++) {
          const args = { text: secret, [secret]: [{ deep: `a ${secret} b` }], n: i }
          memory.steps.begin({
            id: `s${i}`,
            goal: `type ${JSON.stringify(args)}`,
            args,
            tool: "type"
          })
          memory.steps.finish({ id: `s${i}`, outcome: "failed", note: `not ${secret}?` })
          history.push(
            assistant({ type: "toolCall", id: `c${i}`, name: "type", arguments: args }),
            result(`c${i}`, `${words(60, i)} ${JSON.stringify({ typed: secret })} ${words(60, i)}`)
          )
          const { messages, report } = await memory.prepare(history.slice())
          seen.push(report, ours(history, [messages]))
          await memory.flush()
        }
        seen.push(prompts, events, await saved(), memory.compose(), memory.explain())
        await memory.close()
        const escaped = JSON.stringify(secret).slice(1, -1)
        for (const text of textsIn(seen)) {
          expect(text.includes(secret)).toBe(false)
          expect(text.includes(escaped)).toBe(false)
        }
        expect(prompts.length).toBeGreaterThan(3)
        expect(JSON.stringify(prompts)).toContain('"text\\":\\"[secret]')
      }),
      { numRuns: 25 }
    )
  })

  it("is not cut in half before it is looked for", async () => {
    const secret = Array.from({ length: 60 }, (_, i) => `part${i}`).join("-")
    const { memory, saved } = observed([hardLimit()], {
      redact: (text) => text.replaceAll(secret, "[secret]"),
      budget: { tokens: 1200 }
    })
    const asks = { type: "toolCall", id: "c", name: "type", arguments: { key: secret } } as const
    const history = [task]
    for (let i = 0; i < 6; i++)
      history.push(
        assistant({ ...asks, id: `c${i}`, arguments: { key: secret, more: words(300, i) } }),
        result(`c${i}`, `${words(60, i)} ${secret} ${words(300, i)} ${secret}`)
      )
    const { messages } = await memory.prepare(history)
    const texts = JSON.stringify([ours(history, [messages]), await saved()])
    expect(texts).not.toMatch(/part\d/)
    expect(texts).toContain("left out")
    await memory.close()
  })

  it("is found in JSON that stands in JSON, and nothing is unescaped where there is none", () => {
    const redact = redactEscaped((text) => text.replaceAll('a\n"b"', "[key]"))
    const once = JSON.stringify({ use: 'a\n"b"' })
    expect(redact(once)).toBe('{"use":"[key]"}')
    expect(redact(JSON.stringify({ inner: once }))).toContain("[key]")
    const path = String.raw`C:\new\table "x\ny"`
    expect(redact(path)).toBe(path)
  })
})

describe("a step", () => {
  it("is well-formed in the log, whatever the host gave: a half of a character can't be sent", () => {
    const text = fc.string({ unit: "binary" })
    fc.assert(
      fc.property(text, text, fc.jsonValue(), (goal, note, args) => {
        const log = new StepLog()
        log.begin({ id: "a", goal: `${goal}\ud800`, tool: "\udc00x", args: [args, "\ud83d"] })
        log.finish({ id: "a", outcome: "failed", note: `\udfff${note}` })
        const [step] = log.steps
        const texts: Array<string> = [step!.goal, step!.tool!, step!.note!]
        JSON.stringify(step!.args, (key, value: unknown) => {
          texts.push(key)
          if (typeof value === "string") texts.push(value)
          return value
        })
        for (const t of texts) expect(t.isWellFormed()).toBe(true)
      })
    )
  })

  it("shows no escape of a half of a character in the memo, nor in the store", async () => {
    const { memory, saved } = observed([stepMemory()])
    memory.steps.begin({ id: "a", goal: "type \ud83d", tool: "t\ud800" })
    memory.steps.finish({ id: "a", outcome: "success", note: "\udc00!" })
    await memory.prepare([task])
    expect(memory.compose()).toContain('success, "type \ufffd" ("t\ufffd"); note: "\ufffd!"')
    expect(JSON.stringify(await saved())).not.toMatch(/\\u?d[89a-f]/i)
    await memory.close()
  })
})

import { createMemory, hardLimit, stepMemory } from "@varve/core"
import type { MemoryOptions } from "@varve/core/Memory"
import { estimateCounter } from "@varve/core/Counter"
import { profile } from "@varve/profiles"
import * as Effect from "effect/Effect"
import type { LanguageModel } from "ai"
import { wrapLanguageModel } from "ai"
import type { LanguageModel as LanguageModel6 } from "ai-6"
import { wrapLanguageModel as wrapLanguageModel6 } from "ai-6"
import { MockLanguageModelV3 } from "ai-6/test"
import { MockLanguageModelV4 } from "ai/test"
import { describe, expect, it } from "vitest"
import { createMiddleware } from "../src/Middleware.ts"
import type { SdkMemory } from "../src/SdkMemory.ts"
import type { Answer, Host } from "./hosts.ts"
import { answers, calls, click, hosts, said, wireFaults } from "./hosts.ts"
import { spied } from "./spied.ts"

const model = profile("anthropic/claude-opus-5.5")
const tooLong = () => new Error("prompt is too long: 210301 tokens > 200000 maximum")

const options = (more: Partial<MemoryOptions> = {}): MemoryOptions => ({
  pipeline: [stepMemory(), hardLimit()],
  profile: model,
  ...more
})

const history = (rounds: number): ReadonlyArray<unknown> => [
  { role: "user", content: "Read the pages." },
  ...Array.from({ length: rounds }, (_, n) => [
    { role: "assistant", content: `Page ${n}: ${"words and words ".repeat(300)}` },
    { role: "user", content: `Go on with page ${n + 1}.` }
  ]).flat()
]

/** A run whose first requests fail. */
const failing = (host: Host, failures: ReadonlyArray<Answer>, more: object = {}) => {
  const spy = spied(options())
  const sizes: Array<number> = []
  const run = host.run({
    memory: spy.memory,
    messages: history(12),
    answer: (request, n) => {
      sizes.push(estimateCounter().request({ messages: request.messages }).tokens)
      expect(wireFaults(request)).toEqual([])
      return failures[n] ?? { text: "Done." }
    },
    ...more
  })
  return { run, sizes, ...spy }
}

const ways = hosts
  .filter(({ way }) => way === "middleware")
  .map((host) => [host.name, host] as const)

describe.each(ways)("%s", (_, host) => {
  it("an overflow error of the provider is answered with one smaller request, and the run goes on", async () => {
    for (const failure of [{ error: tooLong() }, { errorPart: tooLong() }]) {
      const { run, sizes, usages } = failing(host, [failure])
      const { text, reported } = await run
      expect(text).toBe("Done.")
      expect(sizes).toHaveLength(2)
      expect(sizes[1]!).toBeLessThan(sizes[0]! * 0.8)
      // The usage of the request that was answered, and of no other.
      expect(usages.map(({ input }) => input)).toEqual([reported.at(-1)])
    }
  })

  it("where that fails as well, the error is the caller's", async () => {
    const last = new Error("prompt is too long: 180000 tokens > 150000 maximum")
    for (const failures of [
      [{ error: tooLong() }, { error: last }],
      [{ errorPart: tooLong() }, { error: last }]
    ]) {
      const { run, sizes } = failing(host, failures)
      await expect(run).rejects.toThrow("180000")
      expect(sizes).toHaveLength(2)
    }
  })

  it("an error that is no overflow, or one of a profile that knows none, is the caller's at once", async () => {
    const { run, sizes } = failing(host, [{ error: new Error("The key is wrong.") }])
    await expect(run).rejects.toThrow("The key is wrong.")
    expect(sizes).toHaveLength(1)
    const { run: unknown, sizes: once } = failing(host, [{ error: tooLong() }], {
      memory: createMemory({ pipeline: [hardLimit()] })
    })
    await expect(unknown).rejects.toThrow("too long")
    expect(once).toHaveLength(1)
  })

  it("tools count against the budget, once as long as they stay the same", async () => {
    const tokens = async (count: number) => {
      const { memory, events } = spied()
      const tools = Array.from({ length: count }, (_, n) => ({ ...click, name: `click${n}` }))
      await host.run({
        memory,
        tools,
        answer: answers({ ...calls({ name: "click0" }), tokens: 0 }, { text: "Done.", tokens: 0 })
      })
      return events.flatMap((e) => (e.type === "prepared" ? [e.report.after.tokens] : []))[0]!
    }
    expect((await tokens(41)) - (await tokens(1))).toBeGreaterThan(40 * 20)
  })

  it("every request is a prompt: the memory's own texts are parts", async () => {
    const { memory } = spied()
    const { requests } = await host.run({
      memory,
      tools: [click],
      answer: answers(...Array.from({ length: 5 }, () => calls({ name: "click" })))
    })
    for (const request of requests) expect(wireFaults(request)).toEqual([])
    expect(requests.at(-1)!.prompt[1]!.content[0].type).toBe("text")
  })

  it("an aborted run ends with the abort, and nothing is asked of the memory", async () => {
    const { memory, events } = spied()
    const abort = new AbortController()
    abort.abort(new Error("The user left."))
    const { memory: other, events: none } = spied()
    await host.run({ memory: other, answer: answers(), signal: abort.signal }).catch(() => {})
    expect(none).toEqual([])
    const late = new AbortController()
    await host
      .run({
        memory,
        tools: [{ name: "click", execute: () => late.abort(new Error("The user left.")) }],
        answer: answers(calls({ name: "click" })),
        signal: late.signal
      })
      .catch(() => {})
    expect(events.map(({ type }) => type)).toEqual(["prepared"])
  })

  it("an abort ends the wait for a memory that hangs", async () => {
    const hang = () => Effect.never
    const memory = createMemory({ store: { load: hang, append: hang, replace: hang } })
    const abort = new AbortController()
    let asked = 0
    const run = host.run({
      memory,
      answer: () => ({ text: `${asked++}` }),
      signal: abort.signal
    })
    await new Promise(setImmediate)
    abort.abort(new Error("The user left."))
    await run.catch(() => {})
    expect(asked).toBe(0)
  })
})

describe("createMiddleware", () => {
  /** A wrapped model whose streams are these parts, one list a request, and what a reader gets. */
  const streams = (memory: SdkMemory, lists: ReadonlyArray<ReadonlyArray<object>>) => {
    let asked = 0
    const made: Array<{ pulled: number; left: boolean }> = []
    const mock = new MockLanguageModelV4({
      doStream: async () => {
        const parts = lists[asked++]!
        const state = { pulled: 0, left: false }
        made.push(state)
        const stream = new ReadableStream(
          {
            pull: (controller) => {
              const part = parts[state.pulled++]
              if (part === undefined) controller.close()
              else controller.enqueue(part)
            },
            cancel: () => void (state.left = true)
          },
          { highWaterMark: 0 }
        )
        return { stream }
      }
    })
    const wrapped = wrapLanguageModel({ model: mock, middleware: createMiddleware(memory) })
    const read = async (): Promise<ReadonlyArray<unknown>> => {
      const got: Array<unknown> = []
      const reader = (await wrapped.doStream({ prompt })).stream.getReader()
      for (let r = await reader.read(); !r.done; r = await reader.read()) got.push(r.value)
      return got
    }
    return { made, read, wrapped, asked: () => asked }
  }

  const prompt: any = (history(12) as ReadonlyArray<any>).map(({ content, role }) => ({
    role,
    content: [{ type: "text", text: content }]
  }))
  const begin = { type: "stream-start", warnings: [] }
  const text = [
    { type: "text-start", id: "t" },
    { type: "text-end", id: "t" }
  ]
  const refused = { type: "error", error: tooLong() }

  it("an overflow in the middle of an answer is the caller's: what was said can't be taken back", async () => {
    const parts = [begin, ...text, refused]
    const { asked, read } = streams(createMemory(options()), [parts, [begin]])
    expect(await read()).toEqual(parts)
    expect(asked()).toBe(1)
  })

  it("a stream that is refused at its beginning goes on with the smaller request's, and begins once", async () => {
    const { asked, made, read } = streams(createMemory(options()), [
      [begin, refused, { type: "finish" }],
      [begin, ...text]
    ])
    expect(await read()).toEqual([begin, ...text])
    expect(asked()).toBe(2)
    expect(made[0]!.left).toBe(true)
  })

  it("two refusals are one smaller request, in a stream too", async () => {
    const { asked, read } = streams(createMemory(options()), [
      [begin, refused],
      [begin, refused],
      [begin, ...text]
    ])
    expect(await read()).toEqual([begin, refused])
    expect(asked()).toBe(2)
    const host = hosts.find(({ kind, way }) => way === "middleware" && kind === "stream")!
    const { run, sizes } = failing(host, [{ error: tooLong() }, { errorPart: tooLong() }])
    await expect(run).rejects.toThrow("too long")
    expect(sizes).toHaveLength(2)
  })

  it("a stream that is left is left at the provider too, and is read no faster than it is asked for", async () => {
    const { made, wrapped } = streams(createMemory(options()), [[begin, ...text, ...text]])
    const reader = (await wrapped.doStream({ prompt })).stream.getReader()
    await reader.read()
    await new Promise(setImmediate)
    expect(made[0]!.pulled).toBe(1)
    await reader.cancel()
    expect(made[0]!.left).toBe(true)
  })

  it("takes the usage of the request that was prepared last, and of none that the memory didn't prepare", async () => {
    const { memory, usages } = spied()
    const { transformParams, wrapGenerate } = createMiddleware(memory)
    const call = async () => {
      const params = await transformParams({ params: { prompt } })
      const answer = (total: number) =>
        wrapGenerate({
          doGenerate: async () => ({ usage: { inputTokens: { total } } }),
          params,
          model: { doGenerate: async () => ({ usage: { inputTokens: { total } } }) }
        })
      return answer
    }
    const first = await call()
    const second = await call()
    await first(1)
    await second(2)
    await memory.close()
    const third = await call()
    await third(3)
    expect(usages.map(({ input }) => input)).toEqual([2])
  })

  it("what the caller gave is left as it was, in the call and in its prompt", async () => {
    const { memory } = spied({ budget: { tokens: 1500 } })
    const seen: Array<any> = []
    const middleware = createMiddleware(memory)
    const host = hosts.find(({ way }) => way === "middleware")!
    await host.run({
      memory: createMemory({}),
      messages: history(8),
      answer: answers(),
      around: () => ({
        ...middleware,
        transformParams: async ({ params }: any) => {
          const before = structuredClone(params.prompt)
          const out = await middleware.transformParams({ params: Object.freeze(params) })
          expect(params.prompt).toEqual(before)
          seen.push([params.prompt.length, out.prompt.length])
          expect(out.prompt.some((m: any) => params.prompt.includes(m))).toBe(true)
          return out
        }
      })
    })
    expect(seen).toHaveLength(1)
    expect(seen[0][1]).toBeLessThan(seen[0][0])
  })

  it("what stood in the last prompt is known again, though the SDK makes each prompt anew", async () => {
    const { transformParams } = createMiddleware(createMemory({}))
    const request = async (count: number) =>
      (await transformParams({ params: { prompt: structuredClone(prompt.slice(0, count)) } }))
        .prompt
    const first = await request(5)
    const second = await request(7)
    expect(second.slice(0, 5).every((message: unknown, i: number) => message === first[i])).toBe(
      true
    )
    const other = structuredClone(prompt)
    other[2].content[0].text = "Another."
    const { prompt: third } = await transformParams({ params: { prompt: other } })
    expect(third.slice(0, 2).every((message: unknown, i: number) => message === first[i])).toBe(
      true
    )
    expect(third[2]).toBe(other[2])
  })

  it("fits wrapLanguageModel of both versions by its type", () => {
    const middleware = createMiddleware(createMemory({}))
    const seven: LanguageModel = wrapLanguageModel({ model: new MockLanguageModelV4(), middleware })
    const six: LanguageModel6 = wrapLanguageModel6({ model: new MockLanguageModelV3(), middleware })
    expect([seven, six].map((m) => typeof m)).toEqual(["object", "object"])
    expect(said(undefined)).toBe("")
  })
})

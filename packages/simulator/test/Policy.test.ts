import type { Message } from "@varve/core"
import { Commit, strategy } from "@varve/core"
import { describe, expect, it } from "vitest"
import {
  clipResults,
  codingRun,
  compaction,
  guiRun,
  interval,
  keepImages,
  memoryInSystemPrompt,
  memoryPolicy,
  nothing,
  planned,
  simulate,
  slide,
  syntheticCounter,
  traceOf,
  type CacheKind,
  type Policy,
  type Trace
} from "../src/index.ts"
import { sheets } from "./sheets.ts"

const [opus48] = sheets
const options = { ...opus48!, counter: syntheticCounter(1560) }
const imagesOf = (messages: ReadonlyArray<Message>): number =>
  JSON.stringify(messages).split('"type":"image"').length - 1

/** What a policy sends for each request of a trace. */
const sentBy = async (policy: Policy, trace: Trace) => {
  const running = policy.start({ profile: options.profile, counter: options.counter })
  const sent: Array<ReadonlyArray<Message>> = []
  for (const { history, at } of trace.requests) {
    sent.push((await running.prepare(history, at)).messages)
  }
  await running.close()
  return sent
}

const trace = guiRun({ steps: 30 })

describe("a text at the tail", () => {
  const held = (message: Message, n: number): Message =>
    ({
      ...message,
      content: [
        ...(typeof message.content === "string"
          ? [{ type: "text", text: message.content }]
          : message.content),
        { type: "text", text: `memory ${n} `.padEnd(2800, "word ") }
      ]
    }) as Message
  /** 700 tokens at the end of each request, other ones in each. */
  const tailed = (marks: boolean): Policy => ({
    name: "tailed",
    start: () => ({
      prepare: async (history) => {
        const tail = history.length - 1
        const messages = history.with(tail, held(history[tail]!, tail))
        return { messages, reasoningLost: 0, tail, ...(marks ? { marks: [tail - 1] } : {}) }
      },
      close: async () => {}
    })
  })
  const extra = async (cache: CacheKind, marks: boolean) => {
    const of = { ...options, cache }
    const plain = await simulate(trace, nothing, of)
    const { breaks, cost, requests } = await simulate(trace, tailed(marks), of)
    expect(breaks).toBe(0)
    expect(requests.at(-1)!.tokens).toBe(plain.requests.at(-1)!.tokens + 700)
    return cost - plain.cost
  }
  const { input } = options.profile.prices

  it("costs itself where the longest prefix is read, and its message besides where marks are", async () => {
    const own = (30 * 700 * input) / 1e6
    expect(await extra("none", false)).toBeCloseTo(own, 6)
    expect(await extra("lcp", false)).toBeGreaterThan(own * 0.9)
    expect(await extra("lcp", false)).toBeLessThan(own * 1.6)
    const held = (30 * 1680 * input) / 1e6
    expect(await extra("anthropic", true)).toBeGreaterThan(own)
    expect(await extra("anthropic", true)).toBeLessThan(own + 1.2 * held)
  })

  it("has all of the run written anew in each request where the only mark stands behind it", async () => {
    const { cost } = await simulate(trace, nothing, { ...options, cache: "anthropic" })
    expect(await extra("anthropic", false)).toBeGreaterThan(3 * cost)
  })
})

describe("policies", () => {
  it("that do nothing send the host's own list, and never break the prefix", async () => {
    const sent = await sentBy(nothing, trace)
    sent.forEach((messages, i) => expect(messages).toBe(trace.requests[i]!.history))
    expect(await simulate(trace, nothing, options)).toMatchObject({ breaks: 0, faults: 0 })
  })

  it("that slide keep the newest images in every request, and break the prefix in every one", async () => {
    const sent = await sentBy(slide(3), trace)
    expect(sent.map(imagesOf)).toEqual(sent.map((_, i) => Math.min(i, 3)))
    expect((await simulate(trace, slide(3), options)).breaks).toBe(26)
  })

  it("of an interval break it once an interval", async () => {
    const sent = await sentBy(interval(3, 10), trace)
    for (const messages of sent) expect(imagesOf(messages)).toBeLessThan(3 + 10)
    expect((await simulate(trace, interval(3, 10), options)).breaks).toBe(2)
  })

  it("with a plan commit then and at no other time", async () => {
    const { requests } = await simulate(trace, planned(3, [9, 20]), options)
    expect(requests.flatMap(({ broke }, i) => (broke ? [i] : []))).toEqual([9, 20])
    const sent = await sentBy(planned(3, [9, 20]), trace)
    expect([8, 9, 19, 20].map((i) => imagesOf(sent[i]!))).toEqual([8, 3, 13, 3])
  })

  it("know what system text and tools take, which a trace has as a figure alone", async () => {
    const seen: Array<number> = []
    const spy = strategy("spy", (view) => {
      seen.push(view.usage.tokens)
      return []
    })
    const { requests } = await simulate(trace, memoryPolicy("spy", { pipeline: [spy] }), options)
    expect(seen).toEqual(requests.map(({ tokens }) => tokens))
  })

  it("see the trace's time: after a pause the cache is cold, and a commit is free", async () => {
    const late: Trace = {
      ...trace,
      requests: trace.requests
        .slice(0, 15)
        .map((r, i) => (i < 8 ? r : { ...r, at: r.at + 400_000 }))
    }
    const policy = memoryPolicy("pays", {
      pipeline: [keepImages(3)],
      commit: Commit.whenItPays()
    })
    const { requests } = await simulate(late, policy, options)
    expect(requests.flatMap(({ broke }, i) => (broke ? [i] : []))).toEqual([8])
  })

  it("that clip results keep head and tail of old ones", async () => {
    const sent = (await sentBy(slide(clipResults(2, 50)), codingRun({ steps: 8 }))).at(-1)!
    const texts = sent.flatMap((m) => (m.role === "toolResult" ? [JSON.stringify(m.content)] : []))
    expect(texts.slice(0, -2).some((t) => t.includes("characters removed"))).toBe(true)
    expect(texts.slice(-2).some((t) => t.includes("characters removed"))).toBe(false)
    for (const text of texts.slice(0, -2)) expect(text.length).toBeLessThan(300)
  })
})

describe("baselines", () => {
  it("with a memory in the system prompt read nothing from the cache, ever", async () => {
    const { hitRate, requests } = await simulate(trace, memoryInSystemPrompt(3), options)
    expect(hitRate).toBe(0)
    expect(requests[9]!.tokens).toBe(6000 + 700 + 200 + 9 * 280 + 3 * 1560 + 6 * 5)
  })

  it("with compaction stay below their mark, are valid, and pay for the summary", async () => {
    const long = guiRun({ steps: 60 })
    const { breaks, faults, peakTokens, requests } = await simulate(
      long,
      compaction({ at: 30_000 }),
      options
    )
    expect(faults).toBe(0)
    expect(breaks).toBeGreaterThan(1)
    expect(peakTokens).toBeLessThan(6000 + 30_000)
    const at = requests.findIndex((r) => r.broke)
    const { output, cacheRead, cacheWrite } = options.profile.prices
    const own = (r: (typeof requests)[number]) =>
      (r.read * cacheRead + r.write * cacheWrite + 160 * output) / 1e6
    expect(requests[at]!.cost - own(requests[at]!)).toBeGreaterThan((1500 * output) / 1e6)
    expect(requests[at + 1]!.cost).toBeCloseTo(own(requests[at + 1]!), 10)
  })

  it("with compaction pay for the prefix of its call where the cache has expired", async () => {
    const warm = guiRun({ steps: 60 })
    const gap = options.profile.cache.lifetime + 1
    const cold: Trace = {
      ...warm,
      requests: warm.requests.map((r, i) => ({ ...r, at: i * gap }))
    }
    const policy = compaction({ at: 30_000 })
    const calls: Array<number> = []
    const told: Policy = {
      ...policy,
      start: (given) => {
        const running = policy.start(given)
        return {
          ...running,
          prepare: async (history, at) => {
            const answer = await running.prepare(history, at)
            calls.push(answer.call?.read ?? 0)
            return answer
          }
        }
      }
    }
    const { cacheRead, input, output, cacheWrite } = options.profile.prices
    const { requests } = await simulate(cold, told, options)
    const reads = calls.reduce((a, b) => a + b, 0)
    expect(reads).toBeGreaterThan(60_000)
    const own = (of: typeof requests, price: number): number =>
      of.reduce(
        (sum, r, i) =>
          sum +
          r.cost -
          (r.read * cacheRead + r.write * cacheWrite + r.uncached * input + 160 * output) / 1e6 -
          (calls[i]! * price) / 1e6,
        0
      )
    const rest = own(requests, input)
    calls.length = 0
    const { requests: others } = await simulate(warm, told, options)
    // But for their prefixes the calls are the same.
    expect(own(others, cacheRead)).toBeCloseTo(rest, 10)
  })
})

describe("a trace of a log", () => {
  const messages: ReadonlyArray<Message> = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: [{ type: "text", text: "Hi" }] },
    { role: "user", content: "More" }
  ]
  const at = (...timestamps: ReadonlyArray<number | undefined>) =>
    traceOf({
      name: "log",
      messages,
      requests: timestamps.map((timestamp) => ({ at: 3, timestamp }))
    }).requests.map((request) => request.at)

  it("takes a time that is none as not there: 7 s behind the request before", async () => {
    expect(at(undefined, undefined)).toEqual([7000, 14_000])
    expect(at(50_000, Number.NaN, Infinity, -1, 60_000)).toEqual([
      50_000, 57_000, 64_000, 71_000, 71_000
    ])
    expect(at(Number.NaN, undefined, 1_700_000_000_000)).toEqual([
      1_699_999_986_000, 1_699_999_993_000, 1_700_000_000_000
    ])
    const trace = traceOf({ name: "log", messages, requests: [{ at: 1, timestamp: Number.NaN }] })
    expect((await simulate(trace, slide(3), options)).requests.length).toBe(1)
  })

  it("takes an answer that has no size as none", () => {
    const outputs = [Number.NaN, -5e8, Infinity, 12].map((output) => ({ at: 1, usage: { output } }))
    const trace = traceOf({ name: "log", messages, requests: outputs })
    expect(trace.requests.map(({ output }) => output)).toEqual([0, 0, 0, 12])
  })
})

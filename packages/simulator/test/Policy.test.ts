import type { Message } from "@varve/core"
import { Commit } from "@varve/core"
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

  it("see the trace's time: after a pause the cache is cold, and a commit is free", async () => {
    const late: Trace = {
      ...trace,
      requests: trace.requests.map((r, i) => (i < 8 ? r : { ...r, at: r.at + 400_000 }))
    }
    const policy = memoryPolicy("pays", {
      pipeline: [keepImages(3)],
      commit: Commit.whenItPays({ expectedRequests: 0 })
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
})

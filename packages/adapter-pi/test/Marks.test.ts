import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import { hardLimit } from "@varve/core/HardLimit"
import { profile } from "@varve/profiles"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { pngBase64 } from "@varve/testkit/Png"
import { describe, expect, it } from "vitest"
import { attach } from "@varve/adapter-pi"
import { markedPayload } from "../src/internal/payloadMarks.ts"
import type { Host, Run, Wire } from "./hosts.ts"
import { hosts } from "./hosts.ts"

const STEPS = 45
const MARK = { type: "ephemeral" }

type Part = Readonly<Record<string, unknown>>

const partsOf = ({ messages }: Wire): ReadonlyArray<Part> =>
  messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content
  )

/** Everything that a request has, in the order in which it is cached. */
const blocksOf = (wire: Wire): ReadonlyArray<Part> => [
  ...((wire.tools ?? []) as ReadonlyArray<Part>),
  ...((wire.system ?? []) as unknown as ReadonlyArray<Part>),
  ...partsOf(wire)
]

const isMarked = (part: Part): boolean => part["cache_control"] !== undefined

/**
 * How many blocks each request reads from Anthropic's cache: up to the latest one that was written, no more
 * than 20 before a mark.
 */
const readsOf = (requests: Run["requests"]): ReadonlyArray<number> => {
  const written = new Set<string>()
  return requests.map(({ wire }) => {
    const blocks = blocksOf(wire!)
    let prefix = ""
    const prefixes = blocks.map(
      ({ cache_control: _mark, ...block }) => (prefix += JSON.stringify(block))
    )
    let read = 0
    blocks.forEach((block, i) => {
      if (!isMarked(block)) return
      for (let j = i; j > i - 20 && j >= 0; j--)
        if (written.has(prefixes[j]!)) read = Math.max(read, j + 1)
    })
    blocks.forEach((block, i) => isMarked(block) && written.add(prefixes[i]!))
    return read
  })
}

const play = async (host: Host, marks: boolean, onPayload?: (payload: unknown) => unknown) => {
  let shot = 0
  const memory = createMemory({
    profile: profile("anthropic/claude-sonnet-4-5"),
    pipeline: [screenshots({ keep: 2, thumbnails: 0 }), hardLimit()],
    commit: Commit.batched({ size: 10 })
  })
  const run = host.make({
    answer: (_, n) =>
      n < STEPS
        ? { calls: [0, 1, 2].map((i) => ({ name: "look", args: { at: n * 3 + i } })) }
        : { text: "Done." },
    wire: true,
    tools: [
      {
        name: "look",
        execute: () => [
          { type: "text", text: "A page." },
          { type: "image", data: pngBase64(640, 480, ++shot), mimeType: "image/png" }
        ]
      }
    ]
  })
  if (onPayload !== undefined) run.agent.onPayload = onPayload
  const detach = attach(run.agent, memory, { marks })
  await run.agent.prompt("Look at all of them.")
  detach()
  await memory.close()
  return run
}

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  it("cache marks stand in the request that goes out, never more than four, the newest block among them", async () => {
    const { requests } = await play(host, true)
    expect(requests).toHaveLength(STEPS + 1)
    for (const [n, { wire }] of requests.entries()) {
      const blocks = blocksOf(wire!)
      expect(blocks.filter(isMarked).length, `request ${n}`).toBeLessThanOrEqual(4)
      expect(isMarked(blocks.at(-1)!), `request ${n}`).toBe(true)
      expect((wire!.system as ReadonlyArray<Part>).some(isMarked)).toBe(true)
      expect(wire!.tools!.some((tool) => isMarked(tool as Part))).toBe(false)
    }
    expect(Math.max(...requests.map(({ wire }) => blocksOf(wire!).filter(isMarked).length))).toBe(4)
  })

  it("what stands before an edit is read from the cache; without marks it is written anew", async () => {
    const [marked, plain] = [await play(host, true), await play(host, false)]
    const [with_, without] = [readsOf(marked.requests), readsOf(plain.requests)]
    const blocks = (run: Run) => run.requests.map(({ wire }) => partsOf(wire!).length)
    expect(blocks(marked)).toEqual(blocks(plain))
    const sum = (all: ReadonlyArray<number>) => all.reduce((a, b) => a + b, 0)
    // At a commit, only tools and system are read without marks.
    const dropped = without.flatMap((read, n) => (n > 1 && read < without[n - 1]! ? [n] : []))
    expect(dropped.length).toBeGreaterThan(3)
    for (const n of dropped) expect(without[n]).toBeLessThan(5)
    const late = dropped.filter((n) => n > STEPS / 2)
    for (const n of late) expect(with_[n], `request ${n}`).toBeGreaterThan(without[n]! + 20)
    expect(sum(with_)).toBeGreaterThan(sum(without))
  })

  it("a payload hook of the host's own still runs, first, and is back after detach", async () => {
    const seen: Array<unknown> = []
    const own = (payload: unknown) => {
      seen.push(payload)
      return { ...(payload as object), metadata: { user_id: "u1" } }
    }
    const { agent, requests } = await play(host, true, own)
    expect(seen).toHaveLength(STEPS + 1)
    expect(agent.onPayload).toBe(own)
    for (const { wire } of requests)
      expect((wire as unknown as Part)["metadata"]).toEqual({ user_id: "u1" })
  })
})

describe("the marks of a payload", () => {
  const message = (role: string, text: string) => ({ role, content: [{ type: "text", text }] })
  const view = [message("user", "a"), message("assistant", "b"), message("user", "a")]
  const payloadOf = (messages: ReadonlyArray<unknown>) => ({
    system: [{ type: "text", text: "s", cache_control: MARK }],
    messages
  })
  const marksIn = (payload: unknown) =>
    (payload as Wire).messages.map(({ content }) =>
      typeof content === "string" ? [] : content.map(isMarked)
    )

  it("of two equal messages the one that is meant is marked", () => {
    expect(marksIn(markedPayload(payloadOf(view), view, [0]))).toEqual([[true], [false], [false]])
    expect(marksIn(markedPayload(payloadOf(view), view, [2]))).toEqual([[false], [false], [true]])
  })

  it("a message that is not in the payload gives its mark to the nearest before it", () => {
    const payload = payloadOf([view[0], view[2]])
    expect(marksIn(markedPayload(payload, view, [1]))).toEqual([[true], [false]])
  })

  it("of more than there is room for, the newest stand", () => {
    const many = Array.from({ length: 8 }, (_, i) => message(i % 2 ? "assistant" : "user", `${i}`))
    const marked = markedPayload(payloadOf(many), many, [0, 1, 2, 3, 4, 5, 6])
    expect(marksIn(marked).map(([is]) => is)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((i) => i >= 4 && i < 7)
    )
  })

  it("a bare text becomes a block that can be marked", () => {
    const payload = payloadOf([{ role: "user", content: "a" }])
    expect(markedPayload(payload, view, [0])!["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "a", cache_control: MARK }] }
    ])
  })

  it("reasoning is never marked", () => {
    const thought = {
      role: "assistant",
      content: [
        { type: "text", text: "b" },
        { type: "thinking", thinking: "t", signature: "s" }
      ]
    }
    const payload = payloadOf([view[0], thought])
    expect(marksIn(markedPayload(payload, view, [1]))).toEqual([[false], [true, false]])
  })

  it("another provider's payload, and one that pi doesn't cache, stay as they are", () => {
    for (const payload of [
      null,
      "text",
      { input: [] },
      { messages: view },
      { contents: [], system: [] }
    ]) {
      expect(markedPayload(payload, view, [0])).toBeUndefined()
    }
  })
})

import { stepMemory, hardLimit } from "@varve/core"
import { createMemory } from "@varve/core/createMemory"
import type { Message } from "@varve/core/Message"
import { blocksOf } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { profile } from "@varve/profiles"
import { describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { Run } from "./hosts.ts"
import { hosts, said } from "./hosts.ts"
import { answers, call, calls, click, failing, title } from "./spied.ts"

type Host = (typeof hosts)[number]

const STEPS = 12

const play = async (host: Host, marks: boolean): Promise<Run> => {
  const memory = createMemory({
    profile: profile("anthropic/claude-sonnet-4-5"),
    pipeline: [stepMemory({ place: "tail" }), hardLimit()]
  })
  const run = host.make({
    tools: [click, failing],
    answer: answers(...Array.from({ length: STEPS }, (_, n) => call(n))),
    wire: true
  })
  const detach = attach(run.agent, memory, { marks })
  await run.agent.prompt("Press all of them.")
  detach()
  await memory.close()
  expect(JSON.stringify(run.agent.state.messages)).not.toContain(title)
  return run
}

/** A message without the memory at its end. */
const bare = (message: Message): Message => {
  const blocks = blocksOf(message)
  const last = blocks.at(-1)
  const isOurs = last?.type === "text" && last.text.includes(title)
  return isOurs ? { ...message, content: blocks.slice(0, -1) } : message
}

/** Tokens aside, what of each request Anthropic's cache would read: characters up to the latest mark that was written. */
const reads = (requests: Run["requests"]) => {
  const written = new Set<string>()
  return requests.map(({ wire }) => {
    const blocks = wire!.messages.flatMap(({ content }) =>
      typeof content === "string" ? [{ text: content }] : content
    ) as ReadonlyArray<Record<string, unknown>>
    let prefix = ""
    const ends = blocks.map(({ cache_control: mark, ...block }) => {
      prefix += JSON.stringify(block)
      return { prefix, isMarked: mark !== undefined }
    })
    const read = ends.findLast((end) => written.has(end.prefix))?.prefix.length ?? 0
    for (const { isMarked, prefix: p } of ends) if (isMarked) written.add(p)
    return { read, all: prefix.length, last: ends.at(-1)!.isMarked }
  })
}

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  it("from the second request on the memory is at the end, with the step that was just done", async () => {
    const { requests } = await play(host, false)
    expect(requests).toHaveLength(STEPS + 1)
    expect(requests[0]!.messages.some((m) => said(m).includes(title))).toBe(false)
    let before: ReadonlyArray<Message> = []
    for (const [n, { messages }] of requests.entries()) {
      if (n > 0) {
        const [last] = messages.slice(-1)
        expect(last!.role).toBe("toolResult")
        expect(said(last)).toMatch(
          new RegExp(`^clicked\\n\\[Memo.*\\n\\[Step memory: .* up to step ${n},`)
        )
        expect(said(last)).toContain(`- step ${n}: success, "click(n: ${n - 1})" (click)`)
      }
      expect(checkValidity(messages, { startsWithUser: true })).toEqual([])
      // No earlier message differs from the request before, and the last of that is there without its memory.
      expect(messages.slice(0, before.length)).toEqual(before.map(bare))
      expect(messages.slice(0, -1).some((m) => said(m).includes(title))).toBe(false)
      before = messages
    }
  })

  it("with marks, all but the last step is read from the cache; without, next to nothing", async () => {
    const marked = reads((await play(host, true)).requests).slice(2)
    for (const { all, last, read } of marked) {
      expect(read).toBeGreaterThan(0)
      // The mark that pi sets behind the memory would be written and never read.
      expect(last).toBe(false)
      expect(all - read).toBeLessThan(2500)
    }
    const plain = reads((await play(host, false)).requests).slice(2)
    // The task alone, which the first request had at its end.
    expect(new Set(plain.map(({ read }) => read)).size).toBe(1)
    expect(plain.at(-1)!.read).toBeLessThan(marked.at(-1)!.read / 5)
    expect(plain.every(({ last }) => last)).toBe(true)
  })

  it("behind several results at once, of which some failed, it stands in the last that did not", async () => {
    const memory = createMemory({ pipeline: [stepMemory({ place: "tail" }), hardLimit()] })
    const { agent, requests } = host.make({
      tools: [click, failing],
      answer: answers(
        calls({ name: "click", args: { n: 1 } }, { name: "fill", args: { field: "Name" } }),
        calls({ name: "fill", args: { field: "Name" } })
      )
    })
    attach(agent, memory)
    await agent.prompt("Go.")
    const holders = requests.map(({ messages }) =>
      messages.findIndex((m) =>
        blocksOf(m).some((b) => b.type === "text" && b.text.includes(title))
      )
    )
    const clicked = requests[1]!.messages.findIndex((m) => said(m).startsWith("clicked"))
    expect(holders).toEqual([-1, clicked, clicked])
    for (const { messages } of requests) expect(checkValidity(messages)).toEqual([])
    await memory.close()
  })
})

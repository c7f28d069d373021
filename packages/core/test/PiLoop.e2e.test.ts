import type { AgentTool } from "@mariozechner/pi-agent-core"
import { Agent } from "@mariozechner/pi-agent-core"
import {
  fauxAssistantMessage,
  fauxText,
  fauxToolCall,
  registerFauxProvider
} from "@mariozechner/pi-ai"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { deepFreeze } from "@varve/testkit/Freeze"
import { pngBase64 } from "@varve/testkit/Png"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { estimateCounter } from "../src/Counter.ts"
import type { PlainMemory } from "../src/createMemory.ts"
import { createMemory } from "../src/createMemory.ts"
import * as Edit from "../src/Edit.ts"
import { hardLimit } from "../src/HardLimit.ts"
import type { MemoryOptions } from "../src/Memory.ts"
import type { Block, Message } from "../src/Message.ts"
import { textOf } from "../src/Message.ts"
import { stepMemory } from "../src/StepMemory.ts"
import type { Store } from "../src/Store.ts"
import { memoryStore } from "../src/Store.ts"
import { strategy } from "../src/Strategy.ts"
import { checkValidity } from "../src/Validity.ts"
import type { VarveEvent } from "../src/VarveEvent.ts"

const STEPS = 30
const KEEP = 2
const BATCH = 3
const TOKENS = 8000
const TITLE = "[Step memory:"

const counter = estimateCounter()

const memory = (options: MemoryOptions = {}) => {
  const events: Array<VarveEvent> = []
  return {
    events,
    memory: createMemory({
      pipeline: [screenshots({ keep: KEEP }), stepMemory(), hardLimit()],
      commit: Commit.batched({ size: BATCH }),
      budget: { tokens: TOKENS },
      onEvent: (event) => events.push(event),
      ...options
    })
  }
}

const parameters = { type: "object", properties: {} } as unknown as AgentTool["parameters"]

/** Every third call fails, as a tool of pi does: by throwing. */
const click: AgentTool = {
  name: "click",
  label: "click",
  description: "Clicks, and shows the screen.",
  parameters,
  execute: (id) => {
    const n = Number(id.slice("call-".length))
    if (n % 3 === 2) throw new Error(`nothing to click at ${n}`)
    const data = pngBase64(640, 480, n)
    return Promise.resolve({
      content: [
        { type: "text", text: `clicked ${n}` },
        { type: "image", data, mimeType: "image/png" }
      ],
      details: {}
    })
  }
}

/** Runs pi's own loop with core's hook; gives what the model received, request by request. */
const run = async (
  { steps, transformContext }: PlainMemory,
  prompt = "Click through the wizard.",
  turns = STEPS
) => {
  const requests: Array<ReadonlyArray<Message>> = []
  const faux = registerFauxProvider()
  faux.setResponses(
    Array.from({ length: turns + 1 }, (_, n) => (context) => {
      requests.push(context.messages.slice())
      const call = fauxToolCall("click", { x: n, y: 2 * n }, { id: `call-${n}` })
      return n === turns
        ? fauxAssistantMessage("Done.", { stopReason: "stop" })
        : fauxAssistantMessage([fauxText(`I click at ${n}.`), call], { stopReason: "toolUse" })
    })
  )
  const agent = new Agent({
    initialState: { model: faux.getModel(), tools: [click], systemPrompt: "You work a screen." },
    transformContext
  })
  agent.subscribe((event) => {
    // From here on whoever writes to a message of pi's fails.
    if (event.type === "message_end") deepFreeze(event.message)
    if (event.type === "tool_execution_start") {
      const { toolCallId: id, toolName: tool, args } = event
      steps.begin({ id, callId: id, tool, args, goal: `click at ${args.x}` })
    }
    if (event.type === "tool_execution_end") {
      const { toolCallId: id, isError } = event
      steps.finish({ id, callId: id, outcome: isError ? "failed" : "success" })
    }
  })
  await agent.prompt(prompt)
  faux.unregister()
  const history = agent.state.messages as unknown as ReadonlyArray<Message>
  return { agent, requests, history }
}

const blocksOf = ({ content }: Message): ReadonlyArray<Block> =>
  Array.isArray(content) ? (content as ReadonlyArray<Block>) : []

const imagesIn = (messages: ReadonlyArray<Message>): number =>
  messages.flatMap(blocksOf).filter(({ type }) => type === "image").length

const allTextOf = (messages: ReadonlyArray<Message>): string => messages.map(textOf).join("\n")

const tokensOf = (messages: ReadonlyArray<Message>): number => counter.request({ messages }).tokens

/** The run went to its end, and every request was one that a provider takes. */
const expectWhole = (
  { agent, requests, history }: Awaited<ReturnType<typeof run>>,
  turns = STEPS
) => {
  expect(agent.state.errorMessage).toBeUndefined()
  expect(history.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" })
  expect(history.length).toBe(2 * turns + 2)
  expect(requests.length).toBe(turns + 1)
  for (const request of requests) expect(checkValidity(request)).toEqual([])
}

describe("core in pi's own loop", () => {
  it("the model gets few images, cards for the others, and its steps in every request", async () => {
    const { memory: mine, events } = memory()
    const done = await run(mine)
    expectWhole(done)
    const { requests, history } = done
    const shown = Math.ceil((STEPS * 2) / 3)
    // Between two batches, those that wait are still there.
    expect(Math.max(...requests.map(imagesIn))).toBeLessThan(KEEP + BATCH + 1)
    expect(allTextOf(requests.at(-1)!)).toMatch(
      /\[image 640x480; step 1, succeeded: "click at 0"; .*recall /
    )
    expect(allTextOf(requests.at(-1)!).split("[image ").length - 1).toBe(
      shown - imagesIn(requests.at(-1)!)
    )
    requests.forEach((request, n) => {
      const memos = request.flatMap((m, at) => (textOf(m).startsWith(TITLE) ? [at] : []))
      expect(memos).toEqual(n === 0 ? [] : [1])
    })
    // What is in the memo rides along with the batches; the first one names the first step.
    expect(textOf(requests[1]![1]!)).toContain("click at 0")
    expect(textOf(requests.at(-1)![1]!)).toMatch(/failed, .*click at 2/)
    // pi's own history is whole: no memo, no card, every image.
    expect(imagesIn(history)).toBe(shown)
    expect(allTextOf(history)).not.toMatch(/\[image |\[Step memory/)
    expect(events.filter(({ type }) => type !== "prepared")).toEqual([])
    await mine.close()
  })

  it("a later turn of the same session goes on where the last one stopped", async () => {
    const store = memoryStore()
    const first = memory({ store })
    const { history } = await run(first.memory)
    await first.memory.close()
    const second = memory({ store })
    const next = [...history, { role: "user", content: "Go on.", timestamp: 1 } as Message]
    const sent = await second.memory.transformContext(next)
    expect(textOf(sent[1]!)).toMatch(/failed, .*click at 2/)
    expect(imagesIn(sent)).toBeLessThan(KEEP + BATCH + 1)
    expect(second.events[0]).toMatchObject({ type: "restored", cut: null })
    await second.memory.close()
  })

  it("strategies that throw, hang, talk nonsense or write to what they see change no request", async () => {
    const hostile = [
      strategy("throws", () => {
        throw new Error("no")
      }),
      strategy("rejects", () => Promise.reject(new Error("no"))),
      strategy("dies", () => Effect.die("no")),
      strategy("hangs", () => new Promise(() => {})),
      strategy("nonsense", () => [null, 7, { kind: "fold" }, { edits: [{}] }] as never),
      strategy("no list", () => "nothing" as never),
      strategy("empties lists", (view) => {
        for (const list of [view.messages, view.images, view.groups])
          (list as Array<unknown>).length = 0
        return []
      }),
      strategy("writes", (view) => {
        for (const m of view.messages) (m as { content: unknown }).content = "mine"
        return []
      }),
      strategy("takes the task", (view) =>
        view.groups.map(({ id }) => Edit.fold([id], null, view.newest!))
      ),
      strategy("empties", (view) => view.results.map(({ block }) => Edit.replace(block, [])))
    ]
    const options = { strategyTimeout: 5 }
    const alone = memory({ ...options, pipeline: [stepMemory(), hardLimit()] })
    const beside = memory({
      ...options,
      pipeline: [hostile.slice(0, -2), stepMemory(), hardLimit()]
    })
    const quiet = await run(alone.memory, undefined, 12)
    const done = await run(beside.memory, undefined, 12)
    expectWhole(done, 12)
    const plain = ({ requests }: typeof done) =>
      JSON.stringify(requests).replace(/"(api|timestamp)":[^,}]*/g, "")
    expect(plain(done)).toBe(plain(quiet))
    const failed = beside.events.flatMap((e) => (e.type === "strategy-failed" ? [e.strategy] : []))
    expect([...new Set(failed)].toSorted()).toEqual(
      ["dies", "hangs", "no list", "rejects", "throws", "writes"].toSorted()
    )
    const refused = beside.events.flatMap((e) =>
      e.type === "prepared" ? e.report.strategies.find((r) => r.name === "nonsense")!.refused : []
    )
    expect(refused.map(({ why }) => why)).toContain("not an edit")
    // Those that propose to take away all that they can leave a request that is valid and has the task.
    const greedy = memory({ ...options, pipeline: [hostile.slice(-2), hardLimit()] })
    const less = await run(greedy.memory, undefined, 12)
    expectWhole(less, 12)
    for (const request of less.requests)
      expect(textOf(request[0]!)).toBe("Click through the wizard.")
    for (const m of [alone, beside, greedy]) await m.memory.close()
  })

  it("a store that throws on every write costs nothing but a warning", async () => {
    const broken: Store = {
      ...memoryStore(),
      append: () => {
        throw new Error("the disk is gone")
      }
    }
    const { memory: mine, events } = memory({ store: broken })
    const done = await run(mine)
    expectWhole(done)
    expect(imagesIn(done.requests.at(-1)!)).toBeLessThan(KEEP + BATCH + 1)
    expect(textOf(done.requests.at(-1)![1]!)).toContain(TITLE)
    expect(events).toContainEqual({
      type: "warning",
      message: "not saved yet: Could not write agent/session: Error: the disk is gone"
    })
    await expect(mine.flush()).rejects.toMatchObject({ _tag: "StoreError", reason: "write" })
    await mine.close()
    expect(events.at(-1)).toMatchObject({ message: expect.stringMatching(/^not saved: /) })
  })

  it("a store that can't be read gives a view without what is saved, and says so each time", async () => {
    const broken: Store = {
      ...memoryStore(),
      load: () => {
        throw new Error("the disk is gone")
      }
    }
    const { memory: mine, events } = memory({ store: broken })
    const done = await run(mine, undefined, 3)
    expectWhole(done, 3)
    const calm = memory({})
    expect(done.requests.at(-1)).toEqual(
      await calm.memory.transformContext(done.history.slice(0, -1))
    )
    expect(events.filter(({ type }) => type === "failed")).toEqual(
      done.requests.map(() => ({
        type: "failed",
        error: expect.stringContaining("the disk is gone")
      }))
    )
    await Promise.all([mine.close(), calm.memory.close()])
  })

  it("what can't be cut to fit is sent as small as it gets, with an event", async () => {
    const { memory: mine, events } = memory({ budget: { tokens: 900 } })
    const prompt = "Click through the wizard, and mind every word of this. ".repeat(100)
    const done = await run(mine, prompt)
    expectWhole(done)
    const { requests, history } = done
    for (const request of requests) expect(textOf(request[0]!)).toBe(prompt)
    expect(tokensOf(requests.at(-1)!)).toBeLessThan(tokensOf(history) / 2)
    const overflows = events.filter(({ type }) => type === "overflow")
    expect(overflows.length).toBe(requests.length)
    expect(overflows.at(-1)).toMatchObject({ axis: "tokens", limit: 900 })
    await mine.close()
  })

  it("an aborted request ends at once and gives the history as it came", async () => {
    const hangs = strategy("hangs", () => new Promise(() => {}))
    const { memory: mine, events } = memory({ pipeline: [hangs] })
    const history: Array<Message> = [{ role: "user", content: "Click." }]
    const abort = new AbortController()
    const sent = mine.transformContext(history, abort.signal)
    abort.abort()
    expect(await sent).toBe(history)
    expect(events).toEqual([])
  })
})

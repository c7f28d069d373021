import { AIMessage, HumanMessage } from "@langchain/core/messages"
import { MemorySaver } from "@langchain/langgraph"
import { createMemory, hardLimit, stepMemory, strategy } from "@varve/core"
import type { VarveEvent } from "@varve/core"
import { estimateCounter } from "@varve/core/Counter"
import type { Store } from "@varve/core/Store"
import { checkValidity } from "@varve/core/Validity"
import { StoreError } from "@varve/core/VarveError"
import { profile } from "@varve/profiles"
import { deepFreeze } from "@varve/testkit/Freeze"
import { garbage } from "@varve/testkit/Garbage"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { createMiddleware, modelRetryMiddleware } from "langchain"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { LangChainMemory } from "../src/LangChainAgent.ts"
import { memoryMiddleware } from "../src/MemoryMiddleware.ts"
import type { Answer } from "./host.ts"
import { agentOf, call, click, clicks, hasMemo, read, said } from "./host.ts"

describe("a run goes on to its end", () => {
  const play = async (
    memory: LangChainMemory,
    options: {
      readonly during?: (n: number) => unknown
      readonly text?: string
      readonly task?: string
    } = {}
  ) => {
    let n = 0
    const host = agentOf({
      middleware: [memoryMiddleware(memory)],
      tools: [
        {
          name: "click",
          execute: async () => {
            await options.during?.(n++)
            return "clicked"
          }
        }
      ],
      answer: clicks(6, options.text ?? "I click.")
    })
    const history = await host.run(options.task ?? "Click six times.")
    expect(history).toHaveLength(14)
    expect(history.at(-1)!.text).toBe("Done.")
    const sent = host.requests()
    expect(sent).toHaveLength(7)
    for (const messages of sent) expect(checkValidity(read(messages))).toEqual([])
    return sent
  }

  it("where the memory is closed in the middle of it: the last view stands, with what came since", async () => {
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [stepMemory(), hardLimit()],
      budget: { tokens: 700 },
      onEvent: (event) => events.push(event)
    })
    const sent = await play(memory, {
      text: "words ".repeat(120),
      during: (n) => (n === 4 ? memory.close() : undefined)
    })
    expect(said(sent[4]!).join("\n")).toContain("left out to fit the limit")
    expect(sent[6]!.slice(0, sent[4]!.length)).toEqual(sent[4])
    expect(sent[6]!.length).toBe(sent[4]!.length + 4)
    // The memory tells of each request; of the steps that it can't take, once.
    expect(events.filter(({ type }) => type === "failed")).toHaveLength(2)
    expect(events.filter(({ type }) => type === "warning")).toHaveLength(2)
  })

  it("where it is closed between two turns: a checkpoint's other objects are the same history", async () => {
    const memory = createMemory({ pipeline: [hardLimit()], budget: { tokens: 400 } })
    const host = agentOf({
      checkpointer: new MemorySaver(),
      middleware: [memoryMiddleware(memory)],
      answer: () => ({ text: "words ".repeat(90) })
    })
    const config = { configurable: { thread_id: "a" } }
    for (let n = 0; n < 5; n++) await host.run(`Request ${n}.`, config)
    await memory.close()
    expect(await host.run("Request 5.", config)).toHaveLength(12)
    const last = said(host.requests().at(-1)!)
    expect(last.join("\n")).toContain("left out to fit the limit")
    expect(last.at(-1)).toBe("Request 5.")
    // Twelve of the state, and the system message.
    expect(last.length).toBeLessThan(13)
  })

  it("where it is closed and a message is edited by its id: what is sent is not what it said before", async () => {
    const memory = createMemory({ pipeline: [hardLimit()] })
    const host = agentOf({
      checkpointer: new MemorySaver(),
      middleware: [memoryMiddleware(memory)],
      answer: () => ({ text: "Yes." })
    })
    const config = { configurable: { thread_id: "a" } }
    const ask = (content: string, id: string) =>
      host.agent.invoke({ messages: [new HumanMessage({ id, content })] }, config)
    await ask("The old text.", "h")
    await memory.close()
    await ask("On.", "i")
    await ask("The new text.", "h")
    const [, second, third] = host.requests().map((sent) => said(sent).join("\n"))
    expect(second).toContain("The old text.")
    expect(third).toContain("The new text.")
    expect(third).not.toContain("The old text.")
  })

  it("where the store can't be read or written", async () => {
    const failure = (key: string) => Effect.fail(new StoreError("read", key, "The disk is gone."))
    const broken: Store = { load: failure, append: failure, replace: failure }
    const events: Array<VarveEvent> = []
    await play(createMemory({ store: broken, onEvent: (event) => events.push(event) }))
    expect(events.filter(({ type }) => type === "failed")).toHaveLength(7)
    const throwing = (): never => {
      throw new Error("The store threw.")
    }
    await play(createMemory({ store: { load: throwing, append: throwing, replace: throwing } }))
    const readOnly: Store = {
      load: () => Effect.succeed({ entries: [] }),
      append: failure,
      replace: failure
    }
    const sent = await play(
      createMemory({ store: readOnly, pipeline: [stepMemory(), hardLimit()] })
    )
    expect(hasMemo(sent.at(-1)!)).toBe(true)
  })

  it("where strategies throw, reject, propose nonsense or write to what they see", async () => {
    const hostile = [
      strategy("throws", () => {
        throw new Error("no")
      }),
      strategy("rejects", () => Promise.reject(new Error("no"))),
      strategy("nonsense", () => [{ kind: "replace" }, null, 7] as never),
      strategy("writes", (view) => {
        ;(view.messages as Array<unknown>).length = 0
        return []
      })
    ]
    const sent = await play(createMemory({ pipeline: [...hostile, stepMemory(), hardLimit()] }))
    expect(hasMemo(sent.at(-1)!)).toBe(true)
  })

  it("where a listener throws, and where what stands for a memory breaks every promise", async () => {
    const fail = (): never => {
      throw new Error("broken")
    }
    await play(createMemory({ onEvent: fail }))
    const broken: LangChainMemory = {
      prepare: fail,
      recover: fail,
      transformContext: () => Promise.reject(new Error("broken")),
      steps: { begin: fail, finish: fail },
      usage: fail
    }
    await play({ ...broken, prepare: () => Promise.resolve({ messages: [] }) as never })
    const sent = await play(broken)
    expect(sent.at(-1)!.filter(({ type }) => type === "tool")).toHaveLength(6)
  })

  it("where what can't be cut is over the limit: the smallest valid view, and an overflow event", async () => {
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [hardLimit()],
      budget: { tokens: 60 },
      onEvent: (event) => events.push(event)
    })
    const task = "Click six times. ".repeat(20)
    const sent = await play(memory, { task, text: "words ".repeat(200) })
    expect(events.find(({ type }) => type === "overflow")).toMatchObject({ axis: "tokens" })
    const last = sent.at(-1)!
    expect(last.find(({ type }) => type === "human")!.content).toBe(task)
    const { tokens } = estimateCounter().request({ messages: read(last) })
    expect(tokens).toBeGreaterThan(60)
    // Six turns of 200 words each would be far more.
    expect(tokens).toBeLessThan(400)
  })
})

describe("the hook alone", () => {
  it("never rejects and never writes to what it is given, whatever that is and whatever the strategies", async () => {
    let edited = 0
    await fc.assert(
      fc.asyncProperty(
        garbage(),
        fc.boolean(),
        strategyPlans({ most: 3 }),
        fc.constantFrom(100, 400, 5000),
        async (history, classed, plans, tokens) => {
          const memory = createMemory({
            pipeline: [plans.map(randomStrategy), hardLimit()],
            budget: { tokens }
          })
          const { wrapModelCall } = memoryMiddleware(memory)
          const all = history.map((m: any) =>
            classed ? new AIMessage({ ...m }) : m
          ) as Array<object>
          for (const length of [Math.ceil(all.length / 2), all.length]) {
            const request = deepFreeze({
              messages: all.slice(0, length),
              state: null,
              tools: [null]
            })
            const sent = await wrapModelCall(request as never, ({ messages }) => messages)
            if (sent !== request.messages) edited++
          }
          await memory.close()
        }
      ),
      { numRuns: 100, seed: 1 }
    )
    expect(edited).toBeGreaterThan(50)
  }, 30_000)
})

describe("what hangs", () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Plays with a clock that goes on by itself. */
  const play = async (memory: LangChainMemory) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    let isOver = false
    const wait = () => {
      if (isOver) return
      vi.advanceTimersByTime(30_000)
      setImmediate(wait)
    }
    setImmediate(wait)
    const host = agentOf({
      middleware: [memoryMiddleware(memory)],
      tools: [click],
      answer: clicks(2)
    })
    try {
      expect(await host.run("Click.")).toHaveLength(6)
    } finally {
      isOver = true
    }
    return host.requests()
  }

  it("a strategy is left behind when its time is over", async () => {
    const hanging = strategy("hanging", () => new Promise<never>(() => {}))
    const events: Array<VarveEvent> = []
    const memory = createMemory({
      pipeline: [hanging, stepMemory(), hardLimit()],
      onEvent: (event) => events.push(event)
    })
    expect((await play(memory)).map(hasMemo)).toEqual([false, true, true])
    expect(events.filter(({ type }) => type === "strategy-failed").length).toBeGreaterThan(0)
  })

  it("a memory that gives no answer is left behind, and asked again once it has", async () => {
    const never = () => Effect.never
    const store: Store = { load: never, append: never, replace: never }
    const plain = (sent: Awaited<ReturnType<typeof play>>) => {
      expect(sent.map((messages) => messages.length)).toEqual([2, 4, 6])
      expect(sent.map(hasMemo)).toEqual([false, false, false])
    }
    plain(await play(createMemory({ pipeline: [stepMemory(), hardLimit()], store })))
    vi.useRealTimers()
    let asked = 0
    const hang = () => {
      asked++
      return new Promise<never>(() => {})
    }
    const memory = createMemory({ pipeline: [stepMemory(), hardLimit()] })
    plain(await play({ ...memory, prepare: hang, transformContext: hang }))
    // It is still at work on the first question.
    expect(asked).toBe(1)
    vi.useRealTimers()
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const slow: LangChainMemory = {
      ...memory,
      prepare: (messages, options) => gate.then(() => memory.prepare(messages, options))
    }
    const { wrapModelCall } = memoryMiddleware(slow, { timeout: 1 })
    const request = { messages: [new HumanMessage("Go.")] }
    expect(await wrapModelCall(request, ({ messages }) => messages)).toBe(request.messages)
    open()
    await gate
    await new Promise((resolve) => setImmediate(resolve))
    memory.steps.begin({ id: "a", goal: "look" })
    const seen = await wrapModelCall(request, ({ messages }) => messages)
    expect(hasMemo(seen)).toBe(true)
  })

  it("a strategy or a store is let go of as soon as the run is aborted", async () => {
    for (const kind of ["strategy", "store"]) {
      const control = new AbortController()
      const hang = () => {
        queueMicrotask(() => control.abort())
        return new Promise<never>(() => {})
      }
      const never = () => Effect.promise(hang)
      const memory = createMemory(
        kind === "strategy"
          ? { pipeline: [strategy("hanging", hang), hardLimit()] }
          : { store: { load: never, append: never, replace: never } }
      )
      const host = agentOf({ middleware: [memoryMiddleware(memory)], answer: clicks(0) })
      await expect(host.run("Go.", { signal: control.signal })).rejects.toThrow(/abort/i)
    }
  })

  it("the hook itself gives the request back as soon as it is aborted", async () => {
    const control = new AbortController()
    const hanging = strategy("hanging", () => {
      queueMicrotask(() => control.abort())
      return new Promise<never>(() => {})
    })
    const { wrapModelCall } = memoryMiddleware(createMemory({ pipeline: [hanging, hardLimit()] }))
    const messages = [new HumanMessage("Go.")]
    const request = { messages, runtime: { signal: control.signal } }
    expect(await wrapModelCall(request, (r) => r)).toBe(request)
  })

  it("with an aborted signal the memory isn't asked", async () => {
    let asked = 0
    const fail = () => {
      asked++
      return Promise.reject(new Error("asked"))
    }
    const memory = { ...createMemory({}), prepare: fail, transformContext: fail, recover: fail }
    const { wrapModelCall } = memoryMiddleware(memory)
    const messages = [{ role: "user", content: "Go." }]
    const request = { messages, runtime: { signal: AbortSignal.abort() } }
    expect(await wrapModelCall(request, (r) => r)).toBe(request)
    expect(asked).toBe(0)
  })
})

describe("an overflow that the provider reports", () => {
  const refusal = () =>
    Object.assign(new Error("prompt is too long: 210301 tokens > 200000 maximum"), { status: 400 })

  const play = async (
    errors: ReadonlyArray<Error | undefined>,
    more: { readonly classify?: boolean; readonly outer?: boolean; readonly inner?: boolean } = {}
  ) => {
    const known = profile("anthropic/claude-opus-5.5")
    const { classify: _, ...silent } = known
    const memory = createMemory({
      pipeline: [stepMemory(), hardLimit()],
      profile: more.classify === false ? silent : known
    })
    const plain = createMiddleware({
      name: "plain",
      wrapModelCall: (request, handler) => handler(request)
    })
    let asked = 0
    const host = agentOf({
      middleware: [
        ...(more.outer ? [modelRetryMiddleware({ maxRetries: 1, initialDelayMs: 0 })] : []),
        memoryMiddleware(memory),
        ...(more.inner ? [plain] : [])
      ],
      tools: [{ name: "click", execute: () => "a line of a page. ".repeat(400) }],
      answer: (messages): Answer => {
        const results = messages.filter(({ type }) => type === "tool").length
        const calls = messages.filter(({ type }) => type === "ai").length
        if (calls < 5 && results < 5 && asked === 0) return call(calls)
        return errors[asked++] ?? { text: "Done." }
      }
    })
    const done = await host.run("Click five times.").catch((error: unknown) => error as Error)
    const sizes = host
      .requests()
      .map((m) => estimateCounter().request({ messages: read(m) }).tokens)
    return { done, sizes, sent: host.requests() }
  }

  it.each([{}, { inner: true }])("is answered with one smaller request: %j", async (more) => {
    const { done, sent, sizes } = await play([refusal()], more)
    expect(done).toBeInstanceOf(Array)
    expect((done as unknown as Array<unknown>).length).toBe(12)
    expect(sizes).toHaveLength(7)
    expect(sizes[6]!).toBeLessThan(sizes[5]! * 0.8)
    expect(checkValidity(read(sent[6]!), { startsWithUser: true })).toEqual([])
  })

  it("once: the second refusal is the caller's", async () => {
    const second = Object.assign(refusal(), { message: "prompt is too long: second" })
    const { done, sizes } = await play([refusal(), second])
    expect(done).toBeInstanceOf(Error)
    expect((done as Error).message).toContain("prompt is too long: second")
    expect(sizes).toHaveLength(7)
  })

  it("any other error is the caller's at once, and so is every one without a profile that can tell", async () => {
    const other = await play([new Error("the key is wrong")])
    expect((other.done as Error).message).toContain("the key is wrong")
    expect(other.sizes).toHaveLength(6)
    const blind = await play([refusal()], { classify: false })
    expect((blind.done as Error).message).toContain("prompt is too long")
    expect(blind.sizes).toHaveLength(6)
  })
})

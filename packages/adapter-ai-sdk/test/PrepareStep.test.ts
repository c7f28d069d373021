import { createMemory, hardLimit } from "@varve/core"
import { ConfigError } from "@varve/core/VarveError"
import { deepFreeze } from "@varve/testkit/Freeze"
import {
  experimental_createSteering,
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  ToolLoopAgent
} from "ai"
import type { LanguageModel, ModelMessage } from "ai"
import { generateText as generateText6 } from "ai-6"
import { MockLanguageModelV4 } from "ai/test"
import { describe, expect, it } from "vitest"
import { createMiddleware } from "../src/Middleware.ts"
import { createPrepareStep } from "../src/PrepareStep.ts"
import { answers, calls, click, hosts, said, title } from "./hosts.ts"
import { spied } from "./spied.ts"

const configError = (act: () => unknown): ConfigError => {
  try {
    act()
  } catch (error) {
    if (error instanceof ConfigError) return error
  }
  throw new Error("It should have thrown a ConfigError.")
}

const clicks = (count: number) =>
  answers(...Array.from({ length: count }, (_, n) => calls({ name: "click", args: { n } })))

describe("createPrepareStep", () => {
  it.each(
    hosts.filter(({ way }) => way === "prepareStep").map((host) => [host.name, host] as const)
  )(
    "%s: the memory sees the history whole at every step, whatever the SDK carries on",
    async (_, host) => {
      const lengths: Array<number> = []
      const { memory } = spied({ budget: { tokens: 900 } })
      const watched = {
        ...memory,
        prepare: ((messages, options) => {
          lengths.push(messages.length)
          return memory.prepare(messages, options)
        }) as typeof memory.prepare
      }
      const { requests } = await host.run({
        memory: watched,
        tools: [{ name: "click", execute: () => "words ".repeat(100) }],
        answer: clicks(12)
      })
      expect(lengths).toEqual(Array.from({ length: 13 }, (_, n) => 1 + 2 * n))
      const last = requests.at(-1)!.prompt
      expect(last.length).toBeLessThan(20)
      expect(last.filter((message) => said(message).startsWith(title))).toHaveLength(1)
    }
  )

  it("a prepareStep of the host's own can stand before it, and what it adds or changes stays", async () => {
    const { memory } = spied()
    const host = hosts.find(({ way }) => way === "prepareStep")!
    const { requests } = await host.run({
      memory,
      tools: [{ name: "click", execute: () => "the password is hunter2" }],
      answer: clicks(4),
      around: (hook) => (step: any) =>
        hook({
          ...step,
          // New objects each time, as a host's code makes them.
          messages: JSON.parse(JSON.stringify(step.messages).replaceAll("hunter2", "***"))
        })
    })
    for (const { prompt } of requests) {
      expect(JSON.stringify(prompt)).not.toContain("hunter2")
      expect(prompt.filter((message) => said(message).startsWith(title)).length).toBeLessThan(2)
    }
    expect(JSON.stringify(requests.at(-1)!.prompt).match(/\*\*\*/g)).toHaveLength(4)
  })

  it("two runs of one agent at the same time don't take each other's history", async () => {
    const host = hosts.find(({ way }) => way === "prepareStep")!
    const { memory } = spied()
    const hook = createPrepareStep(memory)
    const run = (label: string) =>
      host.run({
        memory,
        prompt: label,
        tools: [click],
        answer: clicks(5),
        around: () => hook
      })
    const runs = await Promise.all([run("LEFT"), run("RIGHT")])
    runs.forEach(({ requests }, i) => {
      for (const [n, { prompt }] of requests.entries()) {
        expect(said(prompt[0])).toBe(["LEFT", "RIGHT"][i])
        expect(prompt.filter(({ role }) => role === "tool")).toHaveLength(n)
        expect(prompt.filter((message) => said(message).startsWith(title)).length).toBeLessThan(2)
      }
    })
  })

  it("messages that the user sends in the middle of a run stay where they came, once each", async () => {
    const host = hosts.find(({ way }) => way === "prepareStep")!
    const { memory } = spied({ budget: { tokens: 900 } })
    const steering = experimental_createSteering()
    const outcomes: Array<Promise<{ readonly type: string }>> = []
    const { requests } = await host.run({
      memory,
      tools: [
        {
          name: "click",
          execute: ({ n }) => {
            if (n === 2) outcomes.push(steering.steer("Mind the date."))
            return "words ".repeat(100)
          }
        }
      ],
      answer: clicks(10),
      extra: { experimental_steering: steering }
    })
    expect(await outcomes[0]).toMatchObject({ type: "delivered" })
    for (const [n, { prompt }] of requests.entries()) {
      const found = prompt.filter((message) => said(message) === "Mind the date.")
      expect(found, `request ${n}`).toHaveLength(n < 3 ? 0 : 1)
    }
  })

  it("is a prepareStep of generateText, streamText and ToolLoopAgent by its type", async () => {
    const memory = createMemory({})
    const usage = { inputTokens: { total: 9 }, outputTokens: { total: 1 } } as never
    const mock = () =>
      new MockLanguageModelV4({
        doGenerate: {
          content: [{ type: "text", text: "Hello!" }],
          finishReason: { unified: "stop", raw: undefined },
          usage,
          warnings: []
        }
      })
    const tools = {
      look: tool({
        inputSchema: jsonSchema<{ at: string }>({ type: "object" }),
        execute: async ({ at }) => at
      })
    }
    const prepareStep = createPrepareStep(memory)
    const agent = new ToolLoopAgent({ model: mock(), tools, prepareStep, stopWhen: isStepCount(3) })
    expect((await agent.generate({ prompt: "Hello." })).text).toBe("Hello!")
    const model: LanguageModel = mock()
    const { text } = await generateText({ model, tools, prompt: "Hello.", prepareStep })
    expect(text).toBe("Hello!")
    // Types alone.
    void ((): unknown => streamText({ model, tools, prompt: "Hello.", prepareStep }))
    void ((): unknown => generateText6({ model: "none", prompt: "Hello.", prepareStep }))
    const messages: Array<ModelMessage> = [{ role: "user", content: "Hello." }]
    const step: { messages: Array<ModelMessage> } = await prepareStep({
      messages: deepFreeze(messages)
    })
    expect(step.messages[0]).toBe(messages[0])
  })

  it.each(
    hosts.filter(({ way }) => way === "prepareStep").map((host) => [host.name, host] as const)
  )("%s: a message is pinned by the id that the host gave it", async (_, host) => {
    const words = "words ".repeat(80)
    const messages = [
      { role: "user", content: "Go." },
      { role: "assistant", id: "rules", content: `THE RULES ${words}` },
      ...[1, 2, 3, 4, 5].flatMap((n) => [
        { role: "user", content: `On ${n}.` },
        { role: "assistant", content: words }
      ]),
      { role: "user", content: "On." }
    ]
    const sent = async (pin: boolean) => {
      const { memory } = spied({ pipeline: [hardLimit()], budget: { tokens: 400 } })
      if (pin) memory.pin("rules")
      const { requests } = await host.run({ memory, messages, answer: answers() })
      return requests[0]!.prompt.map(said).join()
    }
    expect(await sent(false)).not.toContain("THE RULES")
    expect(await sent(true)).toContain("THE RULES")
  })

  it("refuses what is no memory and no option, and a memory that the middleware has", () => {
    const memory = createMemory({})
    const path = (act: () => unknown) => configError(act).issues[0]!.path
    expect(path(() => createPrepareStep({} as never))).toBe("memory")
    expect(path(() => createPrepareStep(undefined as never))).toBe("memory")
    expect(path(() => createPrepareStep(memory, { goalArgument: 3 } as never))).toBe(
      "createPrepareStep.goalArgument"
    )
    expect(path(() => createPrepareStep(memory, { goal: "x" } as never))).toBe(
      "createPrepareStep.goal"
    )
    expect(path(() => createMiddleware(memory, { timeout: -1 }))).toBe("createMiddleware.timeout")
    // A timer that is set to more goes off at once, and the memory would never be in time.
    const longer = () => createMiddleware(memory, { timeout: 2 ** 31 })
    expect(path(longer)).toBe("createMiddleware.timeout")
    expect(configError(longer).message).toContain("2147483647")
    createMiddleware(createMemory({}), { timeout: 2 ** 31 - 1 })
    createPrepareStep(memory)
    createPrepareStep(memory)
    expect(path(() => createMiddleware(memory))).toBe("memory")
    const other = createMemory({})
    createMiddleware(other)
    createMiddleware(other)
    expect(path(() => createPrepareStep(other))).toBe("memory")
  })
})

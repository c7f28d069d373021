import { Commit, ConfigError, hardLimit, memoryStore, stepMemory, strategy } from "@varve/core"
import type { Summarizer } from "@varve/core"
import type { Message } from "@varve/core/Message"
import type { AnySummarizer } from "@varve/core/Summarizer"
import type { Budget } from "@varve/core/Budget"
import { defaultProfile } from "@varve/core/Profile"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { AgentConfig } from "../src/AgentConfig.ts"
import { defineAgents } from "../src/defineAgents.ts"

const issuesOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).issues
  }
  throw new Error("nothing was wrong")
}
const pathsOf = (run: () => unknown) => issuesOf(run).map(({ path }) => path)

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,5}$/)

const count = fc.integer({ min: 1, max: 1_000_000 })
const budget: fc.Arbitrary<Budget> = fc.record(
  { tokens: count, images: count, maxEdge: count },
  { requiredKeys: [] }
)
const policy: fc.Arbitrary<AgentConfig> = fc.record(
  { budget, protectLast: fc.nat(9), strategyTimeout: count },
  { requiredKeys: [] }
)

const treeOf = (name: fc.Arbitrary<string>) =>
  fc.letrec<{
    agents: Record<string, AgentConfig>
  }>((tie) => ({
    agents: fc.dictionary(
      name,
      fc
        .tuple(policy, fc.option(tie("agents"), { nil: undefined, depthSize: "small" }))
        .map(([own, subagents]) => (subagents === undefined ? own : { ...own, subagents })),
      { maxKeys: 4 }
    )
  })).agents
const tree = treeOf(name)

const merged = (layers: ReadonlyArray<AgentConfig>) => {
  const all: AgentConfig = Object.assign({}, ...layers)
  const { protectLast, strategyTimeout } = all
  const budgets = layers.flatMap((layer) => (layer.budget === undefined ? [] : [layer.budget]))
  return {
    ...(protectLast === undefined ? {} : { protectLast }),
    ...(strategyTimeout === undefined ? {} : { strategyTimeout }),
    ...(budgets.length === 0 ? {} : { budget: Object.assign({}, ...budgets) })
  }
}

describe("laws", () => {
  it("each agent has what it inherits, with its own over it, and budgets field by field", () => {
    fc.assert(
      fc.property(tree, policy, (agents, defaults) => {
        const defined = defineAgents(agents, { defaults })
        const check = (
          list: Readonly<Record<string, AgentConfig>>,
          prefix: string,
          above: ReadonlyArray<AgentConfig>
        ): number =>
          Object.entries(list).reduce((sum, [key, config]) => {
            const layers = [...above, config]
            const full = prefix + key
            const options = defined.options(full, { session: "s" })
            expect(options).toEqual({
              ...merged(layers),
              session: "s",
              agent: full.replaceAll("/", ".")
            })
            return sum + 1 + check(config.subagents ?? {}, `${full}/`, layers)
          }, 0)
        expect(defined.names).toHaveLength(check(agents, "", [defaults]))
      })
    )
  })

  it("no two agents have one key in a store, whatever their sessions are named", () => {
    fc.assert(
      fc.property(
        treeOf(fc.constantFrom("a", "b", "c")),
        fc.array(fc.constantFrom("a", "a/b", "b", "./a", "a.b")),
        (agents, given) => {
          const defined = defineAgents(agents)
          const sessions = [...new Set(given)]
          const keys = defined.names.flatMap((agent) =>
            sessions.map((session) => {
              const options = defined.options(agent, { session })
              return `${options.agent}/${options.session}`
            })
          )
          expect(new Set(keys).size).toBe(keys.length)
        }
      )
    )
  })

  it("a wrong option is named by its whole path, wherever it stands", () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const wrong: AgentConfig = { pipeline: () => [stepMemory({ recentTokens: 0 })] }
        const agents = names
          .slice(1)
          .reduceRight<Record<string, AgentConfig>>(
            (inner, key) => ({ [key]: { subagents: inner } }),
            { [names[0]!]: wrong }
          )
        const order = [...names.slice(1), names[0]!]
        expect(pathsOf(() => defineAgents(agents))).toEqual([
          `agents.${order.join(".subagents.")}.pipeline.stepMemory.recentTokens`
        ])
      })
    )
  })
})

describe("what is shared", () => {
  const settings = () => {
    const made: Array<Summarizer> = []
    const given: Array<AnySummarizer | undefined> = []
    const summarizer = () => {
      const own: Summarizer = () => {
        throw new Error("not asked")
      }
      made.push(own)
      return own
    }
    const pipeline: NonNullable<AgentConfig["pipeline"]> = (parts) => {
      given.push(parts.summarizer)
      return [stepMemory(), hardLimit()]
    }
    return { made, given, defaults: { summarizer, pipeline } }
  }

  it("two memories of one agent share nothing that a default made", async () => {
    const { made, given, defaults } = settings()
    const agents = defineAgents({ browser: {} }, { defaults })
    const one = agents.memory("browser", { session: "one" })
    const two = agents.memory("browser", { session: "two" })
    expect(new Set(made).size).toBe(3)
    expect(given).toEqual(made)
    one.steps.begin({ id: "s1", goal: "open the menu", tool: "click" })
    one.steps.finish({ id: "s1", outcome: "success" })
    const messages = [{ role: "user", content: "Change the language." }]
    for (const memory of [one, two]) await memory.prepare(messages)
    expect(one.compose()).toContain("open the menu")
    expect(two.compose()).toBe("")
    await Promise.all([one.close(), two.close()])
  })

  it("what the host changes later in a budget changes no agent", () => {
    const config = { budget: { tokens: 1000 } }
    const agents = defineAgents({ browser: config }, { defaults: config })
    config.budget.tokens = 1
    expect(agents.options("browser", { session: "s" }).budget).toEqual({ tokens: 1000 })
  })

  it("a summarizer of the agent reaches the pipeline of the defaults", () => {
    const { given, defaults } = settings()
    const own: Summarizer = () => {
      throw new Error("not asked")
    }
    defineAgents({ browser: { summarizer: () => own } }, { defaults })
    expect(given).toEqual([own])
  })

  it("a plain function may summarise, as in core", async () => {
    const asked: Array<number> = []
    const agents = defineAgents({
      browser: {
        summarizer: () => async (request) => {
          asked.push(request.material.length)
          return { text: "Six menus were opened, one after the other.", stopReason: "stop" }
        },
        pipeline: ({ summarizer }) => [stepMemory({ summarizer, recentTokens: 20 }), hardLimit()]
      }
    })
    const memory = agents.memory("browser", { session: "s" })
    for (let i = 0; i < 9; i++) {
      memory.steps.begin({ id: `s${i}`, goal: `open menu ${i} of the window`, tool: "click" })
      memory.steps.finish({ id: `s${i}`, outcome: "success" })
    }
    const history: Array<Message> = [{ role: "user", content: "Open all menus." }]
    await memory.prepare(history)
    await memory.flush()
    // It stands in a later request: the same one would have the same answer.
    await memory.prepare([...history, { role: "user", content: "Go on." }])
    expect(asked).toHaveLength(1)
    expect(memory.compose()).toContain("Six menus were opened")
    await memory.close()
  })

  it("what nobody may see is the session's, whatever the agent", async () => {
    const agents = defineAgents({ one: { pipeline: () => [stepMemory()] } })
    const redact = (text: string) => text.replace("4711", "[code]")
    const memory = agents.memory("one", { session: "s", redact })
    memory.steps.begin({ id: "a", goal: "type 4711" })
    await memory.prepare([{ role: "user", content: "Log in." }])
    expect(memory.compose()).toContain('"type [code]"')
    await memory.close()
  })

  it("a store that each call gives again is one for all, and sessions of sub-agents are their own", async () => {
    const store = memoryStore()
    const agents = defineAgents(
      { browser: { subagents: { reader: {} } } },
      { defaults: { store: () => store } }
    )
    const memory = agents.memory("browser/reader", { session: "s" })
    expect(agents.options("browser", { session: "s" }).store).toBe(store)
    expect(agents.options("browser/reader", { session: "s" }).agent).toBe("browser.reader")
    await memory.close()
  })
})

describe("presets", () => {
  const mine = (title: string) => strategy(title, () => [])
  const preset = () => ({
    pipeline: [mine("preset")],
    commit: Commit.immediate,
    budget: { tokens: 7, images: 2 }
  })
  const namesOf = (pipeline: unknown) =>
    (pipeline as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)

  it("go over what is inherited and under the fields beside them", () => {
    const agents = defineAgents(
      { one: { preset, budget: { tokens: 9 } }, two: { preset, pipeline: () => [mine("own")] } },
      { defaults: { pipeline: () => [mine("default")], budget: { maxEdge: 5 } } }
    )
    const one = agents.options("one", { session: "s" })
    expect(namesOf(one.pipeline)).toEqual(["preset"])
    expect(one.budget).toEqual({ maxEdge: 5, tokens: 9, images: 2 })
    expect(one.commit).toBe(Commit.immediate)
    expect(namesOf(agents.options("two", { session: "s" }).pipeline)).toEqual(["own"])
  })

  it("what a preset may not give is named", () => {
    const wrong = () => ({ pipelines: [] }) as never
    expect(pathsOf(() => defineAgents({ one: { preset: wrong } }))).toEqual([
      "agents.one.preset.pipelines"
    ])
  })
})

describe("profiles", () => {
  it("a name is looked up; without `profiles` the error says how to get them", () => {
    const named = { one: { profile: "acme/model" } }
    const profiles = (model: string) => ({ ...defaultProfile, model })
    const agents = defineAgents(named, { profiles })
    expect(agents.options("one", { session: "s" }).profile?.model).toBe("acme/model")
    expect(issuesOf(() => defineAgents(named))[0]).toMatchObject({
      path: "agents.one.profile",
      allowed: expect.stringContaining("npm install @varve/profiles")
    })
  })

  it("a wrong fact in a profile has its path", () => {
    const profile = { ...defaultProfile, contextWindow: -1 }
    expect(pathsOf(() => defineAgents({ one: { profile } }))).toEqual([
      "agents.one.profile.contextWindow"
    ])
  })
})

describe("errors", () => {
  it("lists all that is wrong at once", () => {
    const agents = {
      "a/b": {},
      one: { pipeline: [hardLimit()], protectLast: -1, nonsense: 1 },
      two: { budget: { tokens: 0 }, strategyTimeout: 0, subagents: { three: null } }
    }
    expect(pathsOf(() => defineAgents(agents as never))).toEqual([
      "agents.a/b",
      "agents.one.pipeline",
      "agents.one.nonsense",
      "agents.one.protectLast",
      "agents.two.strategyTimeout",
      "agents.two.budget.tokens",
      "agents.two.subagents.three"
    ])
  })

  it("what is wrong in the defaults is named once, there", () => {
    const defaults = { pipeline: () => [stepMemory({ recentTokens: 0 })] }
    expect(pathsOf(() => defineAgents({ one: {}, two: {} }, { defaults }))).toEqual([
      "defaults.pipeline.stepMemory.recentTokens"
    ])
  })

  it("two strategies of one name have their places", () => {
    const pipeline = () => [hardLimit(), hardLimit()]
    expect(pathsOf(() => defineAgents({ one: { pipeline } }))).toEqual(["agents.one.pipeline[1]"])
  })

  it("a factory that gives something else is named", () => {
    const wrong = (() => 3) as never
    const agents = {
      a: { counter: wrong },
      b: { commit: wrong },
      c: { store: wrong },
      d: { summarizer: wrong },
      e: { pipeline: wrong }
    }
    expect(pathsOf(() => defineAgents(agents))).toEqual([
      "agents.a.counter",
      "agents.b.commit",
      "agents.c.store",
      "agents.d.summarizer",
      "agents.e.pipeline"
    ])
  })

  it("an unknown agent and a missing session are errors", () => {
    const agents = defineAgents({ one: {} })
    expect(issuesOf(() => agents.memory("two" as never, { session: "s" }))[0]!.allowed).toBe(
      "one of one"
    )
    expect(pathsOf(() => agents.memory("constructor" as never, { session: "s" }))).toEqual([
      "agents"
    ])
    expect(pathsOf(() => agents.memory("one", {} as never))).toEqual(["session"])
    const more = { session: "s", budget: {} }
    expect(pathsOf(() => agents.memory("one", more))).toEqual(["budget"])
  })
})

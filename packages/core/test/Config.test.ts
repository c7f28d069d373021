import * as Commit from "@varve/core/Commit"
import { conversationSummary } from "@varve/core/ConversationSummary"
import { createMemory } from "@varve/core/createMemory"
import { fileStore } from "@varve/core/FileStore"
import { hardLimit } from "@varve/core/HardLimit"
import { lift } from "@varve/core/Lift"
import * as Memory from "@varve/core/Memory"
import { pipeline } from "@varve/core/Pipeline"
import * as Policy from "@varve/core/Policy"
import { defaultProfile } from "@varve/core/Profile"
import { stepMemory } from "@varve/core/StepMemory"
import { strategy } from "@varve/core/Strategy"
import * as Trigger from "@varve/core/Trigger"
import type { ConfigIssue } from "@varve/core/VarveError"
import { ConfigError, isVarveError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

const issuesOf = (make: () => unknown): ReadonlyArray<ConfigIssue> => {
  try {
    make()
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}
const memory = (options: unknown) => issuesOf(() => createMemory(options as never))
const none = strategy("none", () => [])

describe("a memory's options", () => {
  it.each<readonly [string, unknown, ConfigIssue]>([
    [
      "no object",
      null,
      { path: "options", given: "null", allowed: "an object, as in { pipeline: [hardLimit()] }" }
    ],
    [
      "an unknown one",
      { pipelines: [] },
      {
        path: "pipelines",
        given: "a list of 0",
        allowed: expect.stringContaining("one of the options pipeline, budget") as string
      }
    ],
    [
      "a pipeline that is none",
      { pipeline: "all" },
      {
        path: "pipeline",
        given: '"all"',
        allowed: "a list of strategies; spread a preset: createMemory({ ...guiAgent() })"
      }
    ],
    [
      "an unknown budget",
      { budget: { token: 5 } },
      {
        path: "budget.token",
        given: "5",
        allowed: expect.stringContaining("one of the options tokens, images") as string
      }
    ],
    [
      "a budget of 0 tokens",
      { budget: { tokens: 0 } },
      { path: "budget.tokens", given: "0", allowed: "a value greater than 0" }
    ],
    [
      "a budget of half an image",
      { budget: { images: 0.5 } },
      { path: "budget.images", given: "0.5", allowed: expect.any(String) as string }
    ],
    [
      "a rule without an edge",
      { budget: { manyImages: { over: 20 } } },
      {
        path: "budget.manyImages.maxEdge",
        given: "undefined",
        allowed: "a value: this option is required"
      }
    ],
    [
      "a reserve for the answer that leaves no room for a request",
      { budget: { reserveOutput: 98_000 }, profile: { ...defaultProfile, contextWindow: 100_000 } },
      {
        path: "budget.reserveOutput",
        given: "98000",
        allowed: "less than the window of unknown, which is 100000, less a margin of a fiftieth"
      }
    ],
    [
      "a commit rule that is none",
      { commit: "immediate" },
      { path: "commit", given: '"immediate"', allowed: "a commit rule, as in Commit.whenItPays()" }
    ],
    ...[Commit.whenItPays, Commit.batched].map((maker): readonly [string, unknown, ConfigIssue] => [
      `${maker.name} itself, where a commit rule that it makes is wanted`,
      { commit: maker },
      { path: "commit", given: "a function", allowed: "a commit rule, as in Commit.whenItPays()" }
    ]),
    [
      "a counter that is none",
      { counter: {} },
      {
        path: "counter",
        given: "an object with no keys",
        allowed: "a counter, as in tiktokenCounter()"
      }
    ],
    [
      "a counter that is a text",
      { counter: "tiktoken" },
      { path: "counter", given: '"tiktoken"', allowed: "a counter, as in tiktokenCounter()" }
    ],
    [
      "a counter that is nothing",
      { counter: null },
      { path: "counter", given: "null", allowed: "a counter, as in tiktokenCounter()" }
    ],
    [
      "a store that is a path",
      { store: "./memory" },
      { path: "store", given: '"./memory"', allowed: 'a store, as in fileStore("./memory")' }
    ],
    [
      "a store that is nothing",
      { store: null },
      { path: "store", given: "null", allowed: 'a store, as in fileStore("./memory")' }
    ],
    [
      "a store that can't be written anew",
      { store: { load: () => 1, append: () => 1 } },
      {
        path: "store",
        given: "an object with load, append",
        allowed: 'a store, as in fileStore("./memory")'
      }
    ],
    [
      "a blank agent",
      { agent: " " },
      { path: "agent", given: '" "', allowed: expect.any(String) as string }
    ],
    [
      "a session that is a number",
      { session: 7 },
      { path: "session", given: "7", allowed: "string" }
    ],
    [
      "no function",
      { onEvent: [] },
      { path: "onEvent", given: "a list of 0", allowed: "a function" }
    ],
    [
      "no function",
      { overhead: {} },
      { path: "overhead", given: "an object with no keys", allowed: "a function" }
    ],
    [
      "half a group",
      { protectLast: 1.5 },
      { path: "protectLast", given: "1.5", allowed: "a whole number of at least 0" }
    ],
    [
      "no time",
      { strategyTimeout: 0 },
      { path: "strategyTimeout", given: "0", allowed: "a number of ms above 0" }
    ],
    [
      "a time that is no number",
      { strategyTimeout: "90s" },
      { path: "strategyTimeout", given: '"90s"', allowed: "a number of ms above 0" }
    ],
    [
      "a profile without a window",
      { profile: { ...defaultProfile, contextWindow: "big" } },
      { path: "profile.contextWindow", given: '"big"', allowed: expect.any(String) as string }
    ],
    [
      "a profile that is a name",
      { profile: "anthropic/claude" },
      { path: "profile", given: '"anthropic/claude"', allowed: expect.any(String) as string }
    ],
    [
      "a profile that is nothing",
      { profile: null },
      { path: "profile", given: "null", allowed: expect.any(String) as string }
    ],
    [
      "a profile whose classifier is none",
      { profile: { ...defaultProfile, classify: "yes" } },
      { path: "profile.classify", given: '"yes"', allowed: "a function" }
    ]
  ])("refuse %s, with path, what was given and what is allowed", (_, options, issue) => {
    expect(memory(options)).toEqual([issue])
  })

  it("are all checked at once, and the message names each", () => {
    const make = () =>
      createMemory({
        pipeline: [none, none, 5],
        budget: { tokens: -1, images: "few" },
        commit: 1,
        session: "",
        nonsense: true
      } as never)
    expect(
      issuesOf(make)
        .map((i) => i.path)
        .toSorted()
    ).toEqual([
      "budget.images",
      "budget.tokens",
      "commit",
      "nonsense",
      "pipeline[1]",
      "pipeline[2]",
      "session"
    ])
    try {
      make()
    } catch (error) {
      expect(isVarveError(error)).toBe(true)
      const { message } = error as ConfigError
      expect(message).toContain("budget.tokens: got -1, allowed is a value greater than 0")
      expect(message.split("; ").length).toBe(7)
    }
  })

  it("may leave a window one token, or have none", () => {
    const profile = { ...defaultProfile, contextWindow: 100_000 }
    expect(memory({ budget: { reserveOutput: 97_999 }, profile })).toEqual([])
    expect(
      memory({ budget: { reserveOutput: 97_999 }, profile: { ...profile, contextWindow: 0 } })
    ).toEqual([])
  })

  it("may each be left out", () => {
    expect(memory({})).toEqual([])
    expect(
      memory({ pipeline: [], budget: undefined, store: undefined, counter: undefined })
    ).toEqual([])
  })

  it("fail an Effect with the same error", async () => {
    const error = await Effect.runPromise(
      Effect.flip(Effect.scoped(Memory.make({ protectLast: -1 })))
    )
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.issues[0]?.path).toBe("protectLast")
  })

  it("never quote a secret or base64", () => {
    const secret = "sk-" + "x".repeat(400)
    const [issue] = memory({ session: { apiKey: secret } })
    expect(JSON.stringify(issue)).not.toContain(secret.slice(0, 20))
    expect(JSON.stringify(memory({ commit: secret }))).not.toContain("x".repeat(41))
  })
})

describe("what a memory is made of", () => {
  it.each<readonly [string, () => unknown, string]>([
    ["hardLimit", () => hardLimit({ lowWater: 0 }), "hardLimit.lowWater"],
    ["hardLimit", () => hardLimit({ lowwater: 0.5 } as never), "hardLimit.lowwater"],
    ["Commit.batched", () => Commit.batched({ size: 0 }), "Commit.batched.size"],
    ["Commit.batched", () => Commit.batched({ size: 1.5 }), "Commit.batched.size"],
    [
      "Commit.whenItPays",
      () => Commit.whenItPays({ expectedRequests: -1 }),
      "Commit.whenItPays.expectedRequests"
    ],
    [
      "Commit.whenItPays",
      () => Commit.whenItPays({ expectedRequests: NaN }),
      "Commit.whenItPays.expectedRequests"
    ],
    ["Policy.timeout", () => Policy.timeout(none, 0), "timeout.ms"],
    ["Policy.timeout", () => Policy.timeout(none, NaN), "timeout.ms"],
    ["Policy.timeout", () => Policy.timeout(none, "1s" as never), "timeout.ms"],
    ["Policy.timeout", () => Policy.timeout(undefined as never, 5), "timeout.strategy"],
    ["Policy.inOrder", () => Policy.inOrder("all"), "inOrder"],
    ["Policy.inOrder", () => Policy.inOrder("all", none, hardLimit as never), "inOrder\\[1\\]"],
    ["Policy.when", () => Policy.when(0.7 as never, none), "when.trigger"],
    ["Policy.when", () => Policy.when(Trigger.cacheCold, "mask" as never), "when.strategy"],
    ["Policy.until", () => Policy.until("all", true as never, none), "until.target"],
    ["Policy.until", () => Policy.until("all", Trigger.cacheCold), "until"],
    ["Policy.fallback", () => Policy.fallback(null as never), "fallback\\[0\\]"],
    ["Policy.fallback", () => Policy.fallback(none, {} as never), "fallback\\[1\\]"],
    ["Policy.background", () => Policy.background([none] as never), "background.strategy"],
    ["Policy.breaker", () => Policy.breaker({ name: "mine" } as never), "breaker.strategy"],
    ["Policy.breaker", () => Policy.breaker(none, { failures: 1.5 }), "breaker.failures"],
    ["Policy.breaker", () => Policy.breaker(none, { failure: 2 } as never), "breaker.failure"],
    ["lift", () => lift("newest", 5 as never), "lift.change"],
    ["lift", () => lift("", (messages) => messages), "strategy.name"],
    ["Trigger.tokens", () => Trigger.tokens(NaN), "Trigger.tokens"],
    ["Trigger.images", () => Trigger.images(-1), "Trigger.images"],
    ["Trigger.bytes", () => Trigger.bytes("4 MB" as never), "Trigger.bytes"],
    ["Trigger.messages", () => Trigger.messages(undefined as never), "Trigger.messages"],
    ["Trigger.groups", () => Trigger.groups(-1), "Trigger.groups"],
    ["Trigger.turns", () => Trigger.turns(NaN), "Trigger.turns"],
    ["Trigger.steps", () => Trigger.steps(null as never), "Trigger.steps"],
    ["Trigger.share", () => Trigger.share(0), "Trigger.share"],
    ["Trigger.share", () => Trigger.share(70), "Trigger.share"],
    ["Trigger.and", () => Trigger.and(Trigger.cacheCold, 5 as never), "Trigger.and\\[1\\]"],
    ["Trigger.or", () => Trigger.or(Trigger.share as never, "x" as never), "Trigger.or\\[1\\]"],
    ["Trigger.not", () => Trigger.not(false as never), "Trigger.not"],
    ["Policy.breaker", () => Policy.breaker(none, { failures: 0 }), "breaker.failures"],
    ["Policy.breaker", () => Policy.breaker(none, { cooldown: NaN }), "breaker.cooldown"],
    ["stepMemory", () => stepMemory({ recentTokens: 0 }), "stepMemory.recentTokens"],
    ["stepMemory", () => stepMemory({ timeout: 0 }), "stepMemory.timeout"],
    ["conversationSummary", () => conversationSummary({ soft: 0 }), "conversationSummary.soft"],
    [
      "conversationSummary",
      () => conversationSummary({ targetTokens: 0 }),
      "conversationSummary.targetTokens"
    ],
    ["fileStore", () => fileStore(""), "fileStore"]
  ])("checks its own options when it is made: %s", (_, make, path) => {
    expect(issuesOf(make)[0]?.path).toMatch(new RegExp(`^${path}`))
  })

  it("names every wrong one of a list at once", () => {
    const issues = issuesOf(() => Policy.inOrder("all", 5 as never, none, undefined as never))
    expect(issues).toEqual([
      { path: "inOrder[0]", given: "5", allowed: "a strategy, as in hardLimit()" },
      { path: "inOrder[2]", given: "undefined", allowed: "a strategy, as in hardLimit()" }
    ])
  })

  it("may be a pipeline without a strategy, which proposes nothing", async () => {
    const memory = createMemory({ pipeline: [pipeline("optional", false)] })
    const { report } = await memory.prepare([{ role: "user", content: "Go." }])
    expect(report.strategies).toMatchObject([{ name: "optional", proposed: 0 }])
  })
})

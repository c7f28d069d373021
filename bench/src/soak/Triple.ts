import { Commit, conversationSummary, hardLimit, Policy, stepMemory, Trigger } from "@varve/core"
import type { Strategy } from "@varve/core"
import type { Budget } from "@varve/core/Budget"
import { clipSummarizer } from "@varve/core/ClipSummarizer"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Profile } from "@varve/core/Profile"
import { defaultProfile } from "@varve/core/Profile"
import type { Summarizer } from "@varve/core/Summarizer"
import { modelNames, profile } from "@varve/profiles"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { modelSummarizer } from "@varve/strategy-llm-summary"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { maskToolResults } from "@varve/strategy-tool-result-mask"
import type { Growth } from "@varve/testkit/Growth"
import { growths } from "@varve/testkit/Growth"
import { histories } from "@varve/testkit/Histories"
import { measure } from "@varve/testkit/Measure"
import type { SummaryOutcome } from "@varve/testkit/ScriptedSummarizer"
import { scriptedSummarizer } from "@varve/testkit/ScriptedSummarizer"
import type { Trial } from "@varve/testkit/Trial"
import { estimateCounter } from "@varve/core/Counter"
import * as fc from "fast-check"

/** Who summarises: one of the summarizers, or one that answers by a script. */
type Script = SummaryOutcome | "clip" | "extractive" | "model"

/** A first-party strategy with its options, as plain data, so that a failing triple prints. */
type Part =
  | {
      readonly of: "maskToolResults"
      readonly options: NonNullable<Parameters<typeof maskToolResults>[0]>
    }
  | { readonly of: "screenshots"; readonly options: Parameters<typeof screenshots>[0] }
  | {
      readonly of: "stepMemory"
      readonly options: Parameters<typeof stepMemory>[0]
      readonly script: Script | undefined
    }
  | {
      readonly of: "conversationSummary"
      readonly options: Parameters<typeof conversationSummary>[0]
      readonly script: Script | undefined
    }

type Wrap = "none" | "when" | "background" | "breaker" | "fallback"

/** A history as it grows, a pipeline and a profile. */
export interface Triple {
  readonly growth: Growth
  readonly pipeline: ReadonlyArray<{ readonly part: Part; readonly wrap: Wrap }>
  readonly profile: Omit<Profile, "classify">
  /** The token limit as a share of what the whole history takes, in percent; nothing: the profile's alone. */
  readonly share: number | undefined
  readonly budget: Omit<Budget, "tokens">
  readonly commit: "whenItPays" | "immediate" | "batched"
  readonly protectLast: number
  /** Host ids of messages whose position is this, modulo 5, are pinned; none for -1. */
  readonly pin: number
  readonly system: string | undefined
  readonly lowWater: number
  readonly restarts: boolean
}

const scripts = fc.constantFrom<Script | undefined>(
  undefined,
  "clip",
  "extractive",
  "model",
  "good",
  "good",
  "failing",
  "truncated",
  "empty",
  "too-long",
  "degenerate",
  "echo",
  "garbage",
  "throwing"
)

const some = { requiredKeys: [] as [] }

const parts: Readonly<Record<Part["of"], fc.Arbitrary<Part>>> = {
  screenshots: fc
    .record(
      {
        keep: fc.constantFrom(0, 1, 2, 3, "all" as const),
        duplicates: fc.constantFrom(false as const, "exact" as const),
        placeholder: fc.constantFrom("card" as const, "classic" as const),
        // Thumbnails cost what an image library costs: now and then.
        thumbnails: fc.nat(24).map((n) => (n === 0 ? 2 : false))
      },
      some
    )
    .map((options): Part => ({ of: "screenshots", options })),
  maskToolResults: fc
    .record(
      {
        keep: fc.constantFrom(0, 1, 3, 10),
        tokens: fc.constantFrom(1, 10, 40, 120),
        except: fc.constantFrom([], ["click"]),
        keepErrors: fc.boolean()
      },
      some
    )
    .map((options): Part => ({ of: "maskToolResults", options })),
  stepMemory: fc
    .tuple(
      fc.record(
        {
          recentTokens: fc.constantFrom(1, 20, 100, 400),
          summaryTokens: fc.constantFrom(1, 30, 200),
          cap: fc.constantFrom(100, 300, 2000),
          place: fc.constantFrom("messages" as const, "tail" as const, "compose" as const)
        },
        some
      ),
      scripts
    )
    .map(([options, script]): Part => ({ of: "stepMemory", options, script })),
  conversationSummary: fc
    .tuple(
      fc.record(
        {
          soft: fc.constantFrom(0.1, 0.3, 0.6, 1),
          keep: fc.constantFrom(0.1, 0.5, 1),
          keepGroups: fc.nat(3),
          targetTokens: fc.constantFrom(1, 50, 500),
          registryTokens: fc.constantFrom(0, 50, 500)
        },
        some
      ),
      scripts
    )
    .map(([options, script]): Part => ({ of: "conversationSummary", options, script }))
}

const wraps = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Wrap>("none") },
  { weight: 1, arbitrary: fc.constantFrom<Wrap>("when", "background", "breaker", "fallback") }
)

const pipelines = fc
  .shuffledSubarray(Object.keys(parts) as ReadonlyArray<Part["of"]> as Array<Part["of"]>)
  .chain((names) => fc.tuple(...names.map((of) => fc.record({ part: parts[of], wrap: wraps }))))

const names = modelNames()

/** Odd figures that a host may give all the same. */
const own: fc.Arbitrary<Partial<Profile>> = fc.record(
  {
    contextWindow: fc.constantFrom(1, 500, 4_000, 32_000, 128_000),
    reserveOutput: fc.constantFrom(0, 100, 8_192, 1_000_000),
    reasoning: fc.constantFrom("none" as const, "drop" as const, "error" as const),
    startsWithUser: fc.boolean(),
    alternates: fc.boolean(),
    vision: fc.nat(6).map((n) => n > 0),
    cache: fc.record({
      kind: fc.constantFrom("marks" as const, "prefix" as const, "none" as const),
      minimum: fc.constantFrom(0, 1024),
      lifetime: fc.constant(300_000)
    }),
    limits: fc.record(
      {
        images: fc.nat(6),
        imagesPerMessage: fc.integer({ min: 1, max: 3 }),
        bytesPerImage: fc.constantFrom(500, 5_000, 1_000_000),
        requestBytes: fc.constantFrom(4_000, 20_000, 1_000_000),
        maxEdge: fc.constantFrom(300, 1_000, 2_000),
        manyImages: fc.constantFrom({ over: 1, maxEdge: 700 }, { over: 3, maxEdge: 1_300 }),
        messages: fc.constantFrom(3, 8, 30)
      },
      some
    )
  },
  some
)

const profiles: fc.Arbitrary<Triple["profile"]> = fc.oneof(
  fc.constantFrom(...names).map((name) => {
    const { classify: _, ...data } = profile(name)
    return data
  }),
  fc.tuple(fc.constantFrom(undefined, ...names), own).map(([name, figures]) => {
    const { classify: _, ...data } = name === undefined ? defaultProfile : profile(name)
    return { ...data, ...figures }
  })
)

const all = growths(histories({ turns: 2, steps: 5, text: 400 }), { requests: 6 })
const sessions = fc.oneof(
  { weight: 5, arbitrary: all.filter((g) => g.requests.length > 2) },
  { weight: 1, arbitrary: all }
)

export const triples: fc.Arbitrary<Triple> = fc.record({
  growth: sessions,
  pipeline: fc.oneof(
    { weight: 9, arbitrary: pipelines.filter((p) => p.length > 0) },
    { weight: 1, arbitrary: fc.constant([]) }
  ) as fc.Arbitrary<Triple["pipeline"]>,
  profile: profiles,
  share: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 5, max: 130 }) },
    { weight: 1, arbitrary: fc.constant(undefined) }
  ),
  budget: fc.record(
    {
      images: fc.nat(4),
      imageBytes: fc.integer({ min: 300, max: 30_000 }),
      maxEdge: fc.constantFrom(700, 2000)
    },
    some
  ),
  commit: fc.constantFrom("whenItPays", "immediate", "immediate", "batched"),
  protectLast: fc.nat(3),
  pin: fc.oneof({ weight: 4, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(4) }),
  system: fc.constantFrom(undefined, "You are a careful agent."),
  lowWater: fc.constantFrom(0.7, 0.7, 0.5, 1),
  restarts: fc.nat(3).map((n) => n === 0)
})

const complete = ({ prompt }: { readonly prompt: string }) =>
  Promise.resolve({
    text: `${prompt.length} characters were summarised: what the user said, calls of tools, results and steps.`,
    stopReason: "stop"
  })

const summarizers = {
  clip: clipSummarizer,
  extractive: extractiveSummarizer,
  model: () => modelSummarizer({ complete })
}

const isOwn = (script: Script): script is keyof typeof summarizers => script in summarizers

const summarizerOf = (script: Script | undefined): { summarizer?: Summarizer } => {
  if (script === undefined) return {}
  return {
    summarizer: isOwn(script) ? summarizers[script]() : scriptedSummarizer([script]).summarizer
  }
}

const strategyOf = (part: Part): Strategy => {
  switch (part.of) {
    case "screenshots":
      return screenshots(part.options)
    case "maskToolResults":
      return maskToolResults(part.options)
    case "stepMemory":
      return stepMemory({ ...part.options, ...summarizerOf(part.script) })
    case "conversationSummary":
      return conversationSummary({ ...part.options, ...summarizerOf(part.script) })
  }
}

const wrapped = (strategy: Strategy, wrap: Wrap): Strategy => {
  switch (wrap) {
    case "none":
      return strategy
    case "when":
      return Policy.when(Trigger.share(0.5), strategy)
    case "background":
      return Policy.background(strategy)
    case "breaker":
      return Policy.breaker(strategy)
    case "fallback":
      return Policy.fallback(strategy, hardLimitless)
  }
}

/** What a fallback ends in: proposes nothing. */
const hardLimitless = Policy.when(() => false, screenshots())

const rules = {
  whenItPays: Commit.whenItPays(),
  immediate: Commit.immediate,
  batched: Commit.batched({ size: 3 })
}

const counter = estimateCounter()

const makesThumbnails = (part: Part): boolean =>
  part.of === "screenshots" && typeof part.options?.thumbnails === "number"

/** A summary that takes its time is ready at a later request, or at the same one asked again. */
const summarizesBeside = (part: Part): boolean =>
  (part.of === "stepMemory" || part.of === "conversationSummary") && part.script === "model"

/** False where something works beside the agent: what it has done by the next request is a matter of time. */
const isSettled = ({ pipeline }: Triple): boolean =>
  pipeline.every(
    ({ part, wrap }) => wrap !== "background" && !makesThumbnails(part) && !summarizesBeside(part)
  )

/**
 * False where a restart may change what is said: a script that fails is tried again sooner, a summary that was
 * still being made is asked for anew, and a step memory whose memo the guard has taken away begins its own anew.
 */
const isSteady = (triple: Triple): boolean =>
  isSettled(triple) &&
  triple.pipeline.every(({ part }) => {
    if (part.of === "stepMemory") return part.script === undefined
    if (part.of !== "conversationSummary" || part.script === undefined) return true
    return ["good", "clip", "extractive"].includes(part.script)
  })

/** The session that a triple stands for. */
export const trialOf = (triple: Triple): Trial => {
  const { growth, pin, share, system } = triple
  const longest = growth.requests.reduce<Growth["requests"][number]>(
    (a, b) => (b.length > a.length ? b : a),
    []
  )
  const whole = measure(longest, counter, { system }).tokens
  const ids = longest.flatMap((m, i) => {
    const { id } = m as { readonly id?: unknown }
    return typeof id === "string" && i % 5 === pin ? [id] : []
  })
  const tokens =
    share === undefined ? {} : { tokens: Math.max(40, Math.floor((whole * share) / 100)) }
  return {
    requests: growth.requests,
    grows: growth.kind === "plain" || growth.kind === "cloned",
    options: (): MemoryOptions => ({
      pipeline: [
        triple.pipeline.map(({ part, wrap }) => wrapped(strategyOf(part), wrap)),
        hardLimit({ lowWater: triple.lowWater })
      ],
      budget: { ...triple.budget, ...tokens },
      profile: triple.profile,
      commit: rules[triple.commit],
      protectLast: triple.protectLast
    }),
    system,
    pins: new Set(ids),
    steps: true,
    restarts: triple.restarts && isSteady(triple),
    settled: isSettled(triple)
  }
}

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Budget } from "../Budget.ts"
import type { CommitRule } from "../Commit.ts"
import { batched, whenItPays } from "../Commit.ts"
import type { Counter, CounterMaker, Overhead } from "../Counter.ts"
import { estimateCounter } from "../Counter.ts"
import { hardLimit } from "../HardLimit.ts"
import { decodeOptions } from "../Options.ts"
import { roomIssues, roomWarnings } from "./limits.ts"
import type { PipelineInput } from "../Pipeline.ts"
import { flatten } from "../Pipeline.ts"
import type { ProfileData } from "../Profile.ts"
import { defaultProfile, Profile } from "../Profile.ts"
import type { Redact } from "../Redact.ts"
import type { Store } from "../Store.ts"
import { noStore } from "../Store.ts"
import type { ConfigIssue } from "../VarveError.ts"
import { ConfigError, show } from "../VarveError.ts"
import type { VarveEvent } from "../VarveEvent.ts"
import { safeRedact } from "./redact.ts"
import { tell } from "./tell.ts"

/** What a memory is made of. Only `pipeline` matters to begin with. */
export interface MemoryOptions {
  /** Strategies in order; default: the guard alone. */
  readonly pipeline?: PipelineInput
  readonly budget?: Budget
  /** Facts about the model; default: a window of 128 000 tokens. */
  readonly profile?: import("../Profile.ts").Profile
  /** Default: the estimate of core. */
  readonly counter?: Counter | CounterMaker
  /** When staged edits come into force; default `Commit.whenItPays()`. */
  readonly commit?: CommitRule
  /** Where the session is saved, as in `fileStore("./memory")`; default: nowhere, it ends with the process. */
  readonly store?: Store
  /** Name of the agent, for the store; default `agent`. */
  readonly agent?: string
  /** Name of the session, for the store; default `session`. */
  readonly session?: string
  /** System text and tools, for hosts whose hook doesn't pass them. */
  readonly overhead?: () => Overhead
  readonly onEvent?: (event: VarveEvent) => void
  /**
   * Takes out of a text what nobody may see: steps and the texts of edits, before they are saved and sent, and
   * what summarizers get. The host's own messages are sent as they are. Where it fails, the text is left out.
   */
  readonly redact?: Redact
  /** How many groups at the end are softly protected; default 2. */
  readonly protectLast?: number
  /** Longest that a request waits for one strategy, ms; default 90 000: more than a summary's own time-out. */
  readonly strategyTimeout?: number
}

const known = new Set([
  "pipeline",
  "budget",
  "profile",
  "counter",
  "commit",
  "store",
  "agent",
  "session",
  "overhead",
  "onEvent",
  "redact",
  "protectLast",
  "strategyTimeout"
])

const isCallable = (u: unknown): boolean => typeof u === "function"

const has = (u: unknown, key: string, is: (field: unknown) => boolean = () => true): boolean =>
  typeof u === "object" && u !== null && key in u && is((u as Record<string, unknown>)[key])

const Name = Schema.String.check(Schema.isPattern(/\S/))

/** Checks the options once and fills in the defaults. Throws `ConfigError` with every wrong option. */
export const readOptions = (options: MemoryOptions) => {
  const issues: Array<ConfigIssue> = []
  const check = (ok: boolean, path: string, given: unknown, allowed: string): void => {
    if (!ok) issues.push({ path, given: show(given), allowed })
  }
  const part = <A>(read: () => A): A | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      issues.push(...error.issues)
      return undefined
    }
  }
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ConfigError([
      {
        path: "options",
        given: show(options),
        allowed: "an object, as in { pipeline: [hardLimit()] }"
      }
    ])
  }
  for (const key of Object.keys(options)) {
    check(
      known.has(key),
      key,
      (options as Record<string, unknown>)[key],
      `one of the options ${[...known].join(", ")}`
    )
  }
  const isFunction = (f: unknown): boolean => f === undefined || isCallable(f)
  const {
    commit,
    counter,
    store,
    overhead,
    onEvent,
    redact,
    protectLast = 2,
    strategyTimeout = 90_000
  } = options
  const makers: ReadonlyArray<unknown> = [batched, whenItPays]
  check(
    isFunction(commit) && !makers.includes(commit),
    "commit",
    commit,
    "a commit rule, as in Commit.whenItPays()"
  )
  check(isFunction(overhead), "overhead", overhead, "a function")
  check(isFunction(onEvent), "onEvent", onEvent, "a function")
  check(isFunction(redact), "redact", redact, "a function of a text")
  check(
    counter === undefined ||
      has(counter, "start", isCallable) ||
      ["text", "image", "message", "request"].every((name) => has(counter, name, isCallable)),
    "counter",
    counter,
    "a counter, as in tiktokenCounter()"
  )
  check(
    store === undefined ||
      ["load", "append", "replace"].every((name) => has(store, name, isCallable)),
    "store",
    store,
    'a store, as in fileStore("./memory")'
  )
  check(
    Number.isInteger(protectLast) && protectLast >= 0,
    "protectLast",
    protectLast,
    "a whole number of at least 0"
  )
  check(
    typeof strategyTimeout === "number" && strategyTimeout > 0,
    "strategyTimeout",
    strategyTimeout,
    "a number of ms above 0"
  )
  check(
    (options.pipeline as unknown) !== null,
    "pipeline",
    options.pipeline,
    "a list of strategies, as in [hardLimit()]"
  )
  const strategies = part(() => flatten(options.pipeline ?? [hardLimit()])) ?? []
  const budget = part(() => decodeOptions(Budget, options.budget, "budget")) ?? {}
  const { profile = defaultProfile } = options
  part(() => {
    if (typeof profile !== "object" || profile === null)
      return check(
        false,
        "profile",
        profile,
        "a profile, as profile(name) of @varve/profiles gives"
      )
    const { classify, warning: _, ...data } = profile
    check(isFunction(classify), "profile.classify", classify, "a function")
    return decodeOptions(Profile, data satisfies ProfileData, "profile")
  })
  const name = (key: "agent" | "session") =>
    part(() => decodeOptions(Name, options[key] === undefined ? key : options[key], key))
  const [agent, session] = [name("agent"), name("session")]
  if (issues.length === 0) issues.push(...roomIssues(budget, profile))
  if (issues.length > 0) throw new ConfigError(issues)
  return {
    strategies,
    budget,
    profile: frozenCopy(profile),
    warnings: [
      ...(typeof profile.warning === "string" ? [profile.warning] : []),
      ...roomWarnings(budget, profile)
    ],
    counter: counter ?? estimateCounter(),
    commit: commit ?? whenItPays(),
    store: store ?? noStore,
    key: `${agent}/${session}`,
    overhead,
    onEvent,
    redact:
      redact === undefined
        ? undefined
        : safeRedact(redact, (message) => tell(onEvent, { type: "warning", message })),
    protectLast,
    strategyTimeout
  }
}

/** Refuses what is no history: a fault of the code that calls. */
export const isList = (messages: unknown): Effect.Effect<void> =>
  Array.isArray(messages)
    ? Effect.void
    : Effect.die(
        new ConfigError([
          { path: "messages", given: show(messages), allowed: "the list of all messages" }
        ])
      )

/** A copy that nobody can write to: strategies see it, and memories share what they were given. */
const frozenCopy = <A>(value: A): A => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as A
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozenCopy(item)]))
  ) as A
}

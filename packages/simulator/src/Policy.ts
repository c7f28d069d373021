import type { Message } from "@varve/core"
import { Commit, Memory } from "@varve/core"
import type { CommitRule } from "@varve/core/Commit"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Strategy } from "@varve/core/Strategy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { PlannedCommit } from "./Optimum.ts"
import { keepImages } from "./Retention.ts"

/** What a policy gives for one request. */
export interface Answer {
  readonly messages: ReadonlyArray<Message>
  /** Reasoning blocks that the provider drops because of this request's edits. */
  readonly reasoningLost: number
  /** Messages behind which the host sets a cache mark; without them, the last one alone. */
  readonly marks?: ReadonlyArray<number>
  /** The message whose last block need not stand in the next request, as in `Report.tail`. */
  readonly tail?: number | undefined
  /** Text that the policy puts into the system prompt: what it says, and its tokens. */
  readonly system?: { readonly text: string; readonly tokens: number }
  /** A call of a model for the policy's own ends, in tokens. `read` is a prefix that the cache has. */
  readonly call?: { readonly read: number; readonly input: number; readonly output: number }
}

/** A way to keep the context of one run small. Made anew for each run. */
export interface Policy {
  readonly name: string
  readonly start: (options: Pick<MemoryOptions, "profile" | "counter">) => {
    /** `at` is the time of the request in ms. */
    readonly prepare: (history: ReadonlyArray<Message>, at: number) => Promise<Answer>
    readonly close: () => Promise<void>
  }
}

/** Sends the whole history. */
export const nothing: Policy = {
  name: "nothing",
  start: () => ({
    prepare: async (messages) => ({ messages, reasoningLost: 0 }),
    close: async () => {}
  })
}

const system = Effect.runSync(Clock.clockWith(Effect.succeed))

/** A clock that stands where the trace is; what sleeps, sleeps for real. */
const clockAt = (at: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => at,
  currentTimeMillis: Effect.succeed(at),
  currentTimeNanosUnsafe: () => BigInt(Math.round(at)) * 1_000_000n,
  currentTimeNanos: Effect.succeed(BigInt(Math.round(at)) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => BigInt(Math.round(at)) * 1_000_000n,
  monotonicTimeNanos: Effect.succeed(BigInt(Math.round(at)) * 1_000_000n),
  sleep: (duration) => system.sleep(duration)
})

/** What a policy may have besides. */
export interface PolicyOptions {
  /** True where the host sets the cache marks that `prepare` proposes; default false. */
  readonly marks?: boolean | undefined
}

/**
 * A memory as a policy: its clock is the trace's. With `marks` the host sets the cache marks that `prepare`
 * proposes; a commit rule that counts on them has to be told by itself.
 */
export const memoryPolicy = (
  name: string,
  options: MemoryOptions,
  { marks = false }: PolicyOptions = {}
): Policy => ({
  name: marks ? `${name} + marks` : name,
  start: (given) => {
    const scope = Scope.makeUnsafe()
    const memory = Effect.runSync(
      Memory.make({ ...given, ...options }).pipe(Effect.provideService(Scope.Scope, scope))
    )
    return {
      prepare: async (history, at) => {
        const prepared = await Effect.runPromise(
          Effect.andThen(memory.prepare(history), (p) => Effect.as(memory.flush, p)).pipe(
            Effect.provideService(Clock.Clock, clockAt(at))
          )
        )
        const { messages, report } = prepared
        const answer = { messages, reasoningLost: report.reasoning.lost, tail: report.tail?.at }
        return marks ? { ...answer, marks: prepared.marks } : answer
      },
      close: () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
})

/** What is kept: a strategy, or how many of the newest images. */
export type Keep = number | Strategy

const strategyOf = (keep: Keep): Strategy => (typeof keep === "number" ? keepImages(keep) : keep)

const nameOf = (keep: Keep): string => (typeof keep === "number" ? `${keep}` : keep.name)

/** Edits come into force at once: of images, a window that slides by one in every step. */
export const slide = (keep: Keep, options?: PolicyOptions): Policy =>
  memoryPolicy(
    `slide ${nameOf(keep)}`,
    { pipeline: [strategyOf(keep)], commit: Commit.immediate },
    options
  )

/** Edits come into force `size` at a time. */
export const interval = (keep: Keep, size: number, options?: PolicyOptions): Policy =>
  memoryPolicy(
    `interval ${nameOf(keep)}/${size}`,
    { pipeline: [strategyOf(keep)], commit: Commit.batched({ size }) },
    options
  )

/** Edits come into force when that pays. `expectedRequests` is the length of the run, where it is known. */
export const whenItPays = (
  keep: Keep,
  options: PolicyOptions & { readonly expectedRequests?: number } = {}
): Policy => {
  const { marks = false, expectedRequests } = options
  const commit = Commit.whenItPays(
    expectedRequests === undefined ? { marks } : { marks, expectedRequests }
  )
  const name = expectedRequests === undefined ? "when it pays" : "when it pays, length known"
  return memoryPolicy(`${name} ${nameOf(keep)}`, { pipeline: [strategyOf(keep)], commit }, options)
}

/**
 * Edits come into force at these requests, counted from 0: all of them, or those behind a cut. The schedule
 * that `optimum` gives, say.
 */
export const planned = (
  keep: Keep,
  commits: ReadonlyArray<number | PlannedCommit>,
  options?: PolicyOptions
): Policy => {
  /** For each request the positions of its cuts; the one furthest up takes the others along. */
  const cuts = new Map<number, number>()
  for (const one of commits) {
    const { request, from } = typeof one === "number" ? { request: one, from: 0 } : one
    cuts.set(request, Math.min(from, cuts.get(request) ?? Infinity))
  }
  return {
    ...memoryPolicy(`planned ${nameOf(keep)}`, {}, options),
    start: (given) => {
      let request = -1
      const commit: CommitRule = (staged) => {
        const cut = cuts.get(request)
        return cut === undefined || !staged.some(({ position }) => position >= cut)
          ? { cut: null, reason: "not planned for this request" }
          : { cut, reason: "planned" }
      }
      const running = memoryPolicy(
        "planned",
        { pipeline: [strategyOf(keep)], commit },
        options
      ).start(given)
      return {
        ...running,
        prepare: (history, at) => {
          request++
          return running.prepare(history, at)
        }
      }
    }
  }
}

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { beside } from "./Beside.ts"
import type { Proposal } from "./Edit.ts"
import { makeBreaker } from "./internal/breaker.ts"
import { areStrategies, isAbove0, isOneStrategy, isTrigger } from "./internal/checks.ts"
import { decodeOptions, Positive } from "./Options.ts"
import type { Propose, Strategy } from "./Strategy.ts"
import { make } from "./Strategy.ts"
import type { Trigger } from "./Trigger.ts"

/**
 * Combinators: each takes strategies and gives a strategy. Where an argument is wrong it throws `ConfigError`
 * when it is called: what is no strategy or no trigger, an empty list, a time that is not above 0.
 */

const NOTHING: ReadonlyArray<Proposal> = []
const nothing = Effect.succeed(NOTHING)

const flags = (strategies: ReadonlyArray<Strategy>): { readonly guard?: boolean } =>
  strategies.some((s) => s.guard === true) ? { guard: true } : {}

/** Runs strategies one after the other, each on the view as those before it left it. */
export const inOrder = (name: string, ...strategies: ReadonlyArray<Strategy>): Strategy => {
  areStrategies("inOrder", strategies)
  return make(
    name,
    Effect.map(Effect.all(strategies.map((s) => s.start)), (all): Propose<unknown> =>
      Effect.fnUntraced(function* (view) {
        const proposals: Array<Proposal> = []
        let now = view
        for (const propose of all) {
          const more = yield* propose(now)
          if (more.length === 0) continue
          proposals.push(...more)
          now = now.after(more)
        }
        return proposals
      })
    ),
    flags(strategies)
  )
}

/**
 * Runs a strategy only while a trigger holds.
 *
 * @example
 * ```ts
 * import { conversationSummary } from "@varve/core/ConversationSummary"
 * import * as Policy from "@varve/core/Policy"
 * import * as Trigger from "@varve/core/Trigger"
 *
 * console.log(Policy.when(Trigger.share(0.8), conversationSummary()).name) // => conversationSummary
 * ```
 */
export const when = (trigger: Trigger, strategy: Strategy): Strategy => {
  isTrigger("when.trigger", trigger)
  isOneStrategy("when.strategy", strategy)
  return make(
    strategy.name,
    Effect.map(
      strategy.start,
      (propose): Propose<unknown> =>
        (view) =>
          Effect.suspend(() => (trigger(view) ? propose(view) : nothing))
    ),
    flags([strategy])
  )
}

/** Runs strategies one after the other until a target is met. */
export const until = (
  name: string,
  target: Trigger,
  ...strategies: ReadonlyArray<Strategy>
): Strategy => {
  isTrigger("until.target", target)
  areStrategies("until", strategies)
  return inOrder(name, ...strategies.map((s) => when((view) => !target(view), s)))
}

/** Runs the first strategy; where it fails, the next. Its failure is then nobody's. */
export const fallback = (first: Strategy, ...others: ReadonlyArray<Strategy>): Strategy => {
  const strategies = [first, ...others]
  areStrategies("fallback", strategies)
  return make(
    first.name,
    Effect.map(Effect.all(strategies.map((s) => s.start)), (all): Propose<unknown> => (view) => {
      const [head, ...rest] = all
      return rest.reduce((effect, next) => Effect.catchCause(effect, () => next(view)), head!(view))
    }),
    flags(strategies)
  )
}

/** Fails a strategy that takes longer than `ms`. */
export const timeout = (strategy: Strategy, ms: number): Strategy => {
  isOneStrategy("timeout.strategy", strategy)
  isAbove0("timeout.ms", ms)
  return make(
    strategy.name,
    Effect.map(
      strategy.start,
      (propose): Propose<unknown> =>
        (view) =>
          Effect.timeout(propose(view), ms)
    ),
    flags([strategy])
  )
}

const AboveZero = Schema.Finite.check(Schema.isGreaterThan(0))

const Breaker = Schema.Struct({
  /** Failures in a row that open it; default 3. */
  failures: Schema.optionalKey(Positive),
  /** ms that it stays open the first time; default 60 000. Doubles with each failed try. */
  cooldown: Schema.optionalKey(AboveZero),
  /** Longest cooldown in ms; default 600 000. */
  maxCooldown: Schema.optionalKey(AboveZero)
})

/** When a breaker opens, and for how long. */
export type BreakerOptions = typeof Breaker.Type

/**
 * Leaves a strategy alone after failures in a row: for a cooldown nothing is tried, then one try decides
 * whether it closes or stays open for twice as long.
 */
export const breaker = (strategy: Strategy, options: BreakerOptions = {}): Strategy => {
  isOneStrategy("breaker.strategy", strategy)
  decodeOptions(Breaker, options, "breaker")
  return make(
    strategy.name,
    Effect.map(strategy.start, (propose): Propose<unknown> => {
      const state = makeBreaker(options)
      return (view) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (!state.allows(now)) return nothing
          return Effect.onExit(propose(view), (exit) =>
            Effect.map(Clock.currentTimeMillis, (end) => state.settle(exit._tag === "Success", end))
          )
        })
    }),
    flags([strategy])
  )
}

/**
 * Runs a strategy beside the agent: a run starts from the view of one request, and what it proposes is
 * handed in at a later one. The pipeline takes what still stands by then. One run at a time; `flush()` of the
 * memory waits for it.
 */
export const background = (strategy: Strategy): Strategy => {
  isOneStrategy("background.strategy", strategy)
  return make(
    strategy.name,
    Effect.gen(function* () {
      const propose = yield* strategy.start
      const fork = yield* beside
      let running: Fiber.Fiber<ReadonlyArray<Proposal>, unknown> | undefined
      const step: Propose<unknown> = (view) =>
        Effect.suspend(() => {
          if (running === undefined) return start(view)
          const exit = running.pollUnsafe()
          if (exit === undefined) return nothing
          running = undefined
          return exit
        })
      const start: Propose<unknown> = (view) =>
        Effect.map(fork(propose(view)), (fiber) => {
          running = fiber
          return NOTHING
        })
      return step
    }),
    flags([strategy])
  )
}

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import type { Counter } from "../Counter.ts"
import { Ledger } from "../Ledger.ts"
import type { Saved } from "../Ledger.ts"
import type { Memory, PrepareOptions, Prepared } from "../Memory.ts"
import { StepLog } from "../StepLog.ts"
import { Transcript } from "../Transcript.ts"
import type { ContextOverflow, StoreError } from "../VarveError.ts"
import { MemoryClosed } from "../VarveError.ts"
import type { VarveEvent } from "../VarveEvent.ts"
import type { Started } from "./box.ts"
import { CacheWatch } from "./CacheWatch.ts"
import { CounterLoad } from "./CounterLoad.ts"
import { explainEdits } from "./explain.ts"
import { Journal, restoring } from "./Journal.ts"
import { allOf, finished } from "./Background.ts"
import { cacheMarks } from "./marks.ts"
import type { readOptions } from "./memoryOptions.ts"
import { isList } from "./memoryOptions.ts"
import { hostOverhead, Meter } from "./Meter.ts"
import { outputOf } from "./output.ts"
import { recallFrom } from "./recall.ts"
import type { Attempt } from "./recovery.ts"
import { ATTEMPTS, classified, failure, learned, merge, squeeze } from "./recovery.ts"
import { onceEach, safeCounter } from "./safeCounter.ts"
import { stepCalls } from "./stepCalls.ts"
import { parting, wholeOf } from "./parting.ts"
import { faultsIn, tell } from "./tell.ts"
import { Session } from "./Session.ts"
import type { ViewContext } from "./ViewState.ts"
import { overflowOf, walk } from "./walk.ts"
import type { Walked } from "./walk.ts"

type Given = ReturnType<typeof readOptions>

/** A memory behind its interface: one session, its journal and its calibration; calls one after the other. */
export class MemoryImpl implements Memory {
  readonly #given: Given
  readonly #strategies: ReadonlyArray<Started>
  readonly #counter: Counter
  #meter: Meter
  readonly #load: CounterLoad
  readonly #background: Set<Fiber.Fiber<unknown, unknown>>
  readonly #one = Semaphore.makeUnsafe(1)
  readonly #journal: Journal
  readonly #seed: ReadonlyArray<Saved> | undefined
  #session: Session
  /** The last walk and what it depended on. */
  #settled: { readonly inputs: ReadonlyArray<unknown>; readonly walked: Walked } | undefined
  #attempt: Attempt = { at: undefined, count: 0 }
  #cache = new CacheWatch()
  #loaded = false
  #closed = false
  #replay = true
  /** Steps and pins that came before the session was loaded. */
  #early: Array<() => void> = []
  constructor(
    given: Given,
    strategies: ReadonlyArray<Started>,
    counter: Counter,
    background: Set<Fiber.Fiber<unknown, unknown>>,
    seed: ReadonlyArray<Saved> | undefined
  ) {
    this.#given = given
    this.#strategies = strategies
    this.#counter = safeCounter(counter, (message) => this.#warn(message), given.redact)
    this.#background = background
    this.#seed = seed
    this.#journal = new Journal(given.store, given.key)
    this.#meter = new Meter(this.#counter, given, this.warnOnce)
    this.#load = new CounterLoad(counter)
    this.#session = this.#fresh()
  }

  #fresh(): Session {
    return new Session(
      new Transcript(this.#counter, this.#given.profile.startsWithUser),
      new StepLog(this.#given.redact),
      new Ledger()
    )
  }

  readonly warnOnce = onceEach((message) => this.#warn(this.#given.redact?.(message) ?? message))

  #tell(event: VarveEvent): void {
    tell(this.#given.onEvent, event)
  }

  readonly prepare: Memory["prepare"] = (messages, options) =>
    Effect.flatMap(this.prepareAnyway(messages, options), (prepared) =>
      prepared.overflow === undefined ? Effect.succeed(prepared) : Effect.fail(prepared.overflow)
    )

  readonly prepareAnyway: Memory["prepareAnyway"] = (messages, options = {}) =>
    this.#one.withPermit(this.#prepare(messages, options))

  #prepare<M>(
    messages: ReadonlyArray<M>,
    options: PrepareOptions
  ): Effect.Effect<Prepared<M>, StoreError | MemoryClosed> {
    const self = this
    return Effect.gen(function* () {
      yield* isList(messages)
      if (self.#closed) return yield* Effect.fail(new MemoryClosed())
      if (!self.#loaded) yield* self.#restore
      if (!self.#load.isDone) yield* self.#counted(options, messages)
      const clock = yield* Clock.Clock
      const now = clock.currentTimeMillisUnsafe()
      const session = self.#session
      const keep = session.update(messages)
      if (!self.#load.isProvisional) self.#meter.learn(session)
      const context = self.#context(options, now)
      const fresh = self.#replay
      self.#replay = false
      const sent = session.follow(context, keep, fresh)
      const dryRun = options.dryRun === true
      const inputs = self.#inputs(context)
      const settled = self.#settled
      const isRepeat =
        !dryRun && !fresh && settled?.inputs.every((input, i) => input === inputs[i]) === true
      // A host that clones gets its own objects back; a view that was made for one request has none of them.
      const isOwn = settled?.walked.overflow === undefined
      if (isRepeat && (isOwn || keep === session.transcript.groups.length)) {
        const { walked } = settled
        return self.#result(messages, isOwn ? { ...walked, view: sent } : walked)
      }
      const acting = dryRun ? session.rehearsal() : session
      const walked = yield* walk(acting, sent, session.work!, {
        strategies: self.#strategies,
        commit: self.#given.commit,
        strategyTimeout: self.#given.strategyTimeout,
        dryRun,
        now: () => clock.currentTimeMillisUnsafe(),
        warn: self.warnOnce
      })
      if (!dryRun) {
        self.#settled = { inputs, walked }
        session.remember(walked.view, now, self.#meter.overheads.last)
        for (const { futile, name } of walked.report.strategies)
          if (futile === true) self.#tell({ type: "futile", strategy: name })
        yield* self.#store
      }
      return self.#result(messages, walked)
    })
  }

  /** Has the counter loaded, unless the request for these messages can be answered without it. */
  #counted(options: PrepareOptions, messages?: ReadonlyArray<unknown>): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#load.isDone) return Effect.void
      this.#replay = true
      this.#settled = undefined
      const [session, meter] = [this.#session, this.#meter]
      const context = () => this.#context(options, 0)
      return this.#load.until(messages, { session, meter, context })
    })
  }

  /** All that a walk depends on: the same inputs give the same result, without asking anybody again. */
  #inputs(context: ViewContext): ReadonlyArray<unknown> {
    return [
      this.#session,
      context.transcript.revision,
      context.steps.steps,
      ...this.#meter.state,
      context.cacheCold,
      finished(this.#background)
    ]
  }

  #result<M>(messages: ReadonlyArray<M>, { view, report, overflow }: Walked): Prepared<M> {
    for (const event of faultsIn(report, overflow)) this.#tell(event)
    this.#tell({ type: "prepared", report })
    const out = outputOf(messages, view, this.#session)
    return {
      messages: out as ReadonlyArray<M>,
      report,
      marks: cacheMarks(this.#session, view, report.kept.messages),
      ...(overflow === undefined ? {} : { overflow })
    }
  }

  #context(options: PrepareOptions, now: number): ViewContext {
    const given = hostOverhead(this.#given.overhead, (m) => this.#warn(m))
    const beside = this.#meter.overheads.of(
      options.system ?? given?.system,
      options.tools ?? given?.tools
    )
    const { changedAt, transcript, steps, ledger } = this.#session
    const last = this.#session.requestedAt(now)
    return {
      transcript,
      counter: this.#counter,
      profile: this.#given.profile,
      limits: this.#meter.limits,
      steps,
      pins: ledger.pins,
      protectLast: this.#given.protectLast,
      redact: this.#given.redact,
      overheadTokens: beside.tokens,
      overheadBytes: beside.bytes,
      overheadFixed: beside.fixed,
      calibrate: this.#meter.calibrate,
      changedAt,
      cacheCold: this.#cache.isCold(this.#given.profile.cache, last, now)
    }
  }

  get #restore(): Effect.Effect<void, StoreError> {
    const self = this
    return Effect.gen(function* () {
      const { key } = self.#given
      const { entries, cut } =
        self.#seed === undefined
          ? yield* self.#journal.load
          : { entries: self.#seed, cut: undefined }
      const session = self.#fresh()
      const restored = yield* restoring(key, entries, session.steps)
      session.ledger = restored.ledger
      if (entries.length > 0) session.resumed = { at: restored.requestAt }
      self.#session = session
      self.#meter.restore(restored)
      self.#loaded = true
      for (const warning of self.#given.warnings) self.#warn(warning)
      if (self.#seed !== undefined) yield* self.#journal.begin(self.#seed)
      if (entries.length > 0 || cut !== undefined) {
        const edits = restored.ledger.records.length
        self.#tell({ type: "restored", edits, steps: session.steps.steps.length, cut: cut ?? null })
      }
      for (const act of self.#early.splice(0)) act()
    })
  }

  /** Puts what is new into the store. What can't be stored is kept and tried again; the run goes on. */
  get #store(): Effect.Effect<void> {
    return Effect.catch(this.#write, (error) =>
      Effect.sync(() => this.#warn(`not saved yet: ${error.message}`))
    )
  }

  get #write(): Effect.Effect<void, StoreError> {
    return Effect.suspend(() => {
      if (!this.#loaded) return Effect.void
      const lines = this.#session.journal.splice(0)
      const { ledger, steps } = this.#session
      return this.#journal.write(lines, this.#whole, ledger.records.length + 2 * steps.steps.length)
    })
  }

  readonly #whole = (): ReadonlyArray<Saved> => wholeOf(this.#session, this.#meter)

  /** Does something to a session that is loaded, or as soon as it is. */
  #when(act: () => void): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#closed) {
        this.#warn("a call after close(); left out")
        return Effect.void
      }
      if (!this.#loaded) {
        this.#early.push(act)
        return Effect.void
      }
      act()
      return this.#store
    })
  }

  readonly steps: Memory["steps"] = stepCalls(
    () => this.#session,
    (act) => this.#when(act),
    (message) => this.#warn(message)
  )

  readonly usage: Memory["usage"] = (usage) =>
    Effect.sync(() => {
      const { last } = this.#session
      if (!this.#meter.report(usage, this.#session) || last === undefined) return
      const broke = this.#cache.take(last, usage, this.#given.profile)
      if (broke === undefined) return
      if (broke.cause === "tools" || broke.cause === "system") this.#meter.overheads.forget()
      this.#tell({ type: "cache-break", ...broke })
    })

  readonly recover: Memory["recover"] = (error, messages, options = {}) =>
    this.#one.withPermit(
      Effect.andThen(Effect.andThen(isList(messages), this.#counted(options)), () =>
        this.#recover(error, messages, options)
      )
    )

  #recover<M>(
    error: unknown,
    messages: ReadonlyArray<M>,
    options: PrepareOptions
  ): Effect.Effect<Prepared<M> | undefined, ContextOverflow | StoreError | MemoryClosed> {
    const overflow = classified(this.#given.profile, error)
    const { last, sent, transcript, journal } = this.#session
    if (overflow === undefined || last === undefined || sent === undefined) {
      return Effect.succeed(undefined)
    }
    const at = transcript.newest?.id
    const { count: attempt, futile } = this.#attempt.at === at ? this.#attempt : { count: 0 }
    if (attempt >= ATTEMPTS) return Effect.succeed(undefined)
    // What could not be made smaller can't be now.
    if (futile?.kind === overflow.kind) return Effect.fail(futile.error)
    this.#attempt = { at, count: attempt + 1 }
    const meter = this.#meter
    if (overflow.kind === "tokens" && overflow.actual !== undefined) {
      meter.refused(this.#session, overflow.actual, last)
    }
    const before = { ...sent.usage, tokens: meter.calibrate(last.estimate, last.fixed).tokens }
    const limits = learned(overflow)
    if (Object.keys(limits).length > 0) {
      meter.learned = merge(meter.learned, limits)
      journal.push({ t: "limits", limits: meter.learned })
    }
    meter.squeeze(squeeze(overflow, before, attempt))
    return this.#prepare(messages, options).pipe(
      Effect.ensuring(Effect.sync(() => meter.release())),
      Effect.flatMap((prepared) => {
        // Without a guard nothing was made smaller: then the overflow is the caller's too.
        const left = prepared.overflow ?? overflowOf(this.#session.sent!)
        const failed = failure(overflow, left, prepared.report.after, before)
        if (failed === undefined) return Effect.succeed(prepared)
        this.#attempt = { ...this.#attempt, futile: { kind: overflow.kind, error: failed } }
        return Effect.fail(failed)
      })
    )
  }

  readonly compose: Memory["compose"] = Effect.sync(() =>
    [...((this.#session.work ?? this.#session.sent)?.memos ?? [])].map((m) => m.text).join("\n\n")
  )

  readonly recall: Memory["recall"] = (id) => Effect.suspend(() => recallFrom(this.#session, id))

  readonly explain: Memory["explain"] = (id) => Effect.sync(() => explainEdits(this.#session, id))

  readonly pin: Memory["pin"] = (id) => this.#when(() => this.#pinned("pin", id))

  readonly unpin: Memory["unpin"] = (id) => this.#when(() => this.#pinned("unpin", id))

  #pinned(t: "pin" | "unpin", id: string): void {
    if (!this.#session.pin(t, id)) return this.#warn(`${t} takes the id of a message; left out`)
    this.#replay = true
  }

  #warn(message: string): void {
    this.#tell({ type: "warning", message })
  }

  get snapshot(): Memory["snapshot"] {
    return this.#one.withPermit(
      Effect.suspend((): Effect.Effect<void, StoreError | MemoryClosed> => {
        if (this.#closed) return Effect.fail(new MemoryClosed())
        return this.#loaded ? Effect.void : this.#restore
      }).pipe(Effect.map(this.#whole))
    )
  }

  get reset(): Memory["reset"] {
    return this.#one.withPermit(
      Effect.suspend((): Effect.Effect<void, StoreError | MemoryClosed> => {
        if (this.#closed) return Effect.fail(new MemoryClosed())
        this.#session = this.#fresh()
        this.#meter = new Meter(this.#counter, this.#given, this.warnOnce)
        this.#cache = new CacheWatch()
        this.#early = []
        this.#loaded = true
        this.#replay = true
        return this.#journal.replace(this.#whole())
      })
    )
  }

  get flush(): Memory["flush"] {
    const self = this
    return Effect.gen(function* () {
      // No longer than for a strategy: one that hangs must not hold up what is to be saved.
      yield* Effect.timeoutOption(allOf(self.#background), self.#given.strategyTimeout)
      if (!self.#loaded) yield* self.#one.withPermit(self.#restore)
      parting(self.#session, self.#meter)
      yield* self.#write
    })
  }

  get close(): Effect.Effect<void, StoreError> {
    return Effect.suspend(() => (this.#closed ? Effect.void : this.flush)).pipe(
      Effect.tapError((error) => Effect.sync(() => this.#warn(`not saved: ${error.message}`))),
      Effect.ensuring(Effect.sync(() => void (this.#closed = true)))
    )
  }
}

import * as Schema from "effect/Schema"

const Source = Schema.Literals(["usage", "counted", "estimated"])

/** What a view costs, in a report. */
export const UsageReport = Schema.Struct({
  tokens: Schema.Finite,
  source: Source,
  images: Schema.Finite,
  imageBytes: Schema.Finite,
  requestBytes: Schema.Finite,
  messages: Schema.Finite
})

/** An edit that was not accepted, and why. */
export const Refused = Schema.Struct({ edit: Schema.String, why: Schema.String })
export type Refused = typeof Refused.Type

/** What one strategy saw and did. */
export const StrategyReport = Schema.Struct({
  name: Schema.String,
  /** Tokens of the view that it saw. */
  saw: Schema.Finite,
  proposed: Schema.Finite,
  accepted: Schema.Finite,
  refused: Schema.Array(Refused),
  /** How many accepted edits were made for which reason; 0 where it says what was begun or failed beside the agent. */
  reasons: Schema.Record(Schema.String, Schema.Finite),
  /** Tokens that its accepted edits took away. */
  saved: Schema.Finite,
  /** True for a guard that left all that is over a limit as it was: nothing can be made smaller. */
  futile: Schema.optionalKey(Schema.Boolean),
  /** Why it was skipped, where it was. */
  error: Schema.optionalKey(Schema.String),
  ms: Schema.Finite
})
export type StrategyReport = typeof StrategyReport.Type

/** What the commit rule decided. */
export const CommitReport = Schema.Struct({
  /** Edits that came into force. */
  committed: Schema.Finite,
  /** Edits that stay staged. */
  waiting: Schema.Finite,
  /** True where a limit forced it. */
  forced: Schema.Boolean,
  reason: Schema.String
})

/** A fault of the host's history that was mended in what is sent. */
export const RepairReport = Schema.Struct({
  /** Position in the host's history. */
  at: Schema.Finite,
  what: Schema.String
})

/** What one `prepare` saw, did and left alone. Figures are tokens, bytes and ms. */
export const Report = Schema.Struct({
  model: Schema.String,
  before: UsageReport,
  after: UsageReport,
  limits: Schema.Struct({
    tokens: Schema.NullOr(Schema.Finite),
    images: Schema.NullOr(Schema.Finite)
  }),
  strategies: Schema.Array(StrategyReport),
  commit: CommitReport,
  /** Edits that the guard made in this request. */
  guarded: Schema.Finite,
  /** True where the pipeline has no guard. */
  unguarded: Schema.Boolean,
  /** What still is over a limit; empty where all fits. */
  over: Schema.Array(Schema.String),
  /** Of the previous request's messages and tokens, how many stand unchanged at the front of this one. */
  kept: Schema.Struct({ messages: Schema.Finite, tokens: Schema.Finite, share: Schema.Finite }),
  /** The message whose last block is a text of ours that the next request need not have, and what it costs. */
  tail: Schema.optionalKey(Schema.Struct({ at: Schema.Finite, tokens: Schema.Finite })),
  /** Reasoning blocks that the provider will drop, or that were taken along, because of this request's edits. */
  reasoning: Schema.Struct({ lost: Schema.Finite, removed: Schema.Finite }),
  repairs: Schema.Array(RepairReport),
  /** Faults that the validity check found; the edits that caused them were dropped. */
  faults: Schema.Array(Schema.String),
  dryRun: Schema.Boolean,
  ms: Schema.Finite
})
export type Report = typeof Report.Type

/** One edit with its story. */
export const Explanation = Schema.Struct({
  /** The block or the fold, an id for `recall`; or the key of a memo. */
  id: Schema.String,
  kind: Schema.Literals(["replace", "fold", "memo"]),
  strategy: Schema.String,
  reason: Schema.String,
  state: Schema.Literals(["staged", "in force", "dormant"]),
  /** Tokens of what it stands for, and of what stands there now. */
  before: Schema.Finite,
  after: Schema.Finite
})
export type Explanation = typeof Explanation.Type

import { Budget } from "@varve/core/Budget"
import { Positive } from "@varve/core/Options"
import { Profile } from "@varve/core/Profile"
import * as Schema from "effect/Schema"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const PART = "[A-Za-z0-9][A-Za-z0-9._-]*"

/**
 * A package by its name, as in `@varve/preset-gui`, a path in one, or a file of the host's, as in
 * `./strategies/mine.js`. `#summarizer` stands for the agent's own summarizer.
 */
const Specifier = Schema.String.check(
  Schema.isPattern(new RegExp(`^(#summarizer|\\.\\.?/.+|(@${PART}/)?${PART}(/.+)?)$`, "u"), {
    expected: "the name of a package, or ./ and the path of a file"
  })
)

/** A plugin: what to import, which export to call, and with what. */
export const Use = Schema.Struct({
  use: Specifier,
  /** The export to call, with dots into a namespace; default: the package's own. */
  export: Schema.optionalKey(Schema.NonEmptyString),
  /** Its options; a list is its arguments in order. In them, an object with `use` is a plugin too. */
  with: Schema.optionalKey(
    Schema.Union([Schema.Record(Schema.String, Schema.Unknown), Schema.Array(Schema.Unknown)])
  )
}).annotate({ identifier: "Plugin" })
export type Use = typeof Use.Type

/** The commit rules of core, each with its options beside its name. */
export const commitRules = {
  immediate: Schema.Struct({ rule: Schema.Literal("immediate") }),
  batched: Schema.Struct({ rule: Schema.Literal("batched"), size: Positive }),
  whenItPays: Schema.Struct({
    rule: Schema.Literal("whenItPays"),
    expectedRequests: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
    marks: Schema.optionalKey(Schema.Boolean)
  })
}
export type CommitJson = (typeof commitRules)[keyof typeof commitRules]["Type"]

const policyOf = <P extends Schema.Top, C extends Schema.Top>(profile: P, commit: C) => ({
  preset: Schema.optionalKey(Use),
  pipeline: Schema.optionalKey(Schema.Array(Use)),
  summarizer: Schema.optionalKey(Use),
  /** A name for `@varve/profiles`, the facts themselves, or a plugin that gives them. */
  profile: Schema.optionalKey(profile),
  budget: Schema.optionalKey(Budget),
  counter: Schema.optionalKey(Use),
  commit: Schema.optionalKey(commit),
  store: Schema.optionalKey(Use),
  protectLast: Schema.optionalKey(Count),
  /** Milliseconds. */
  strategyTimeout: Schema.optionalKey(Positive)
})

export const exact = policyOf(
  Schema.Union([Schema.String, Use, Profile.annotate({ identifier: "Profile" })]),
  Schema.Union([...Object.values(commitRules), Use])
)

/** Where a value is one of several shapes, an error would list those of all: `load` looks at these itself. */
const open = policyOf(Schema.Unknown, Schema.Unknown)

/** An agent whose profile and commit rule were not looked at yet. */
export interface OpenAgent extends Schema.Struct.Type<typeof open> {
  readonly subagents?: { readonly [name: string]: OpenAgent }
}

const OpenAgent = Schema.Struct({
  ...open,
  subagents: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.suspend((): Schema.Codec<OpenAgent> => OpenAgent)
    )
  )
})

/** What `load` decodes first. */
export const OpenAgents = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  defaults: Schema.optionalKey(Schema.Struct(open)),
  agents: Schema.Record(Schema.String, OpenAgent)
})

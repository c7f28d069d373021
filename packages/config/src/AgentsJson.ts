import * as Schema from "effect/Schema"
import { exact } from "./internal/schemas.ts"

/** The policy of one agent as JSON. */
export interface AgentJson extends Schema.Struct.Type<typeof exact> {
  readonly subagents?: { readonly [name: string]: AgentJson }
}

const AgentJson = Schema.Struct({
  ...exact,
  subagents: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.suspend((): Schema.Codec<AgentJson> => AgentJson)
    )
  )
}).annotate({ identifier: "Agent" })

/**
 * Agents as JSON, as `load` takes them. `@varve/config/schema.json` is the same as a JSON schema.
 *
 * @example
 * ```ts
 * import { AgentsJson } from "@varve/config/AgentsJson"
 * import * as Schema from "effect/Schema"
 *
 * console.log(Schema.is(AgentsJson)({ agents: { browser: { budget: { tokens: 50_000 } } } })) // => true
 * ```
 */
export const AgentsJson = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  defaults: Schema.optionalKey(Schema.Struct(exact)),
  agents: Schema.Record(Schema.String, AgentJson)
})
export type AgentsJson = typeof AgentsJson.Type

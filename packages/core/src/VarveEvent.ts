import * as Schema from "effect/Schema"
import { CacheBreak } from "./CacheBreak.ts"
import { Report } from "./Report.ts"

/** What a memory tells its host while it works. */
export const VarveEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["prepared"]), report: Report }),
  Schema.Struct({
    type: Schema.Literals(["strategy-failed"]),
    strategy: Schema.String,
    error: Schema.String
  }),
  /** What can't be cut is over a limit; what is sent is the smallest valid view. */
  Schema.Struct({
    type: Schema.Literals(["overflow"]),
    axis: Schema.String,
    limit: Schema.Finite,
    needed: Schema.Finite
  }),
  /** A guard had nothing left to make smaller. It is asked again when the history has changed, not before. */
  Schema.Struct({ type: Schema.Literals(["futile"]), strategy: Schema.String }),
  /** A request read less from the provider's cache than it should have, by the usage that was reported. */
  Schema.Struct({ type: Schema.Literals(["cache-break"]), ...CacheBreak.fields }),
  /** `transformContext` could not prepare; it gave a view without the saved session, or the history as it came. */
  Schema.Struct({ type: Schema.Literals(["failed"]), error: Schema.String }),
  Schema.Struct({ type: Schema.Literals(["warning"]), message: Schema.String }),
  /** A saved session was damaged; says what was cut off. */
  Schema.Struct({
    type: Schema.Literals(["restored"]),
    edits: Schema.Finite,
    steps: Schema.Finite,
    cut: Schema.NullOr(Schema.String)
  })
])
export type VarveEvent = typeof VarveEvent.Type

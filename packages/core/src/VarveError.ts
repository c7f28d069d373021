/** The typed errors of the core. Each carries a marker, so that two copies of the package know each other's errors. */
const marker = Symbol.for("varve/error")

abstract class VarveErrorBase<Tag extends string> extends Error {
  readonly _tag: Tag
  readonly [marker] = true
  constructor(tag: Tag, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this._tag = tag
    this.name = tag
  }
}

/** One wrong option. */
export interface ConfigIssue {
  /** Where it stands, as in `pipeline[1].keep`. */
  readonly path: string
  /** What was given, shortened. */
  readonly given: string
  /** What is allowed. */
  readonly allowed: string
}

/** A wrong option, found when a memory or a strategy is made. Lists every wrong option at once. */
export class ConfigError extends VarveErrorBase<"ConfigError"> {
  readonly issues: ReadonlyArray<ConfigIssue>
  constructor(issues: ReadonlyArray<ConfigIssue>) {
    super(
      "ConfigError",
      issues.map((i) => `${i.path}: got ${i.given}, allowed is ${i.allowed}`).join("; ")
    )
    this.issues = issues
  }
}

/** One row of what takes how much in a request that can't fit. */
export interface OverflowRow {
  /** What it is: `system`, `tools`, `task`, `pinned`, `unknown roles`, `the rest`. */
  readonly what: string
  readonly tokens: number
  readonly images: number
  readonly bytes: number
  /** What would help. */
  readonly help: string
}

/** What can't be cut exceeds a limit by itself. */
export class ContextOverflow extends VarveErrorBase<"ContextOverflow"> {
  readonly axis: string
  readonly limit: number
  readonly needed: number
  readonly table: ReadonlyArray<OverflowRow>
  constructor(axis: string, limit: number, needed: number, table: ReadonlyArray<OverflowRow>) {
    super(
      "ContextOverflow",
      `What can't be cut needs ${needed} ${axis}, the limit is ${limit}. ` +
        table.map((r) => `${r.what}: ${r.tokens} tokens, ${r.images} images (${r.help})`).join("; ")
    )
    this.axis = axis
    this.limit = limit
    this.needed = needed
    this.table = table
  }
}

/** Why a store failed. */
export type StoreReason = "read" | "write" | "corrupt" | "version" | "exists"

/**
 * A session could not be loaded or saved. `version`: the file was written by a newer Varve; `exists`: a fork
 * has the name of a session that is there.
 */
export class StoreError extends VarveErrorBase<"StoreError"> {
  readonly reason: StoreReason
  readonly key: string
  constructor(reason: StoreReason, key: string, message: string, cause?: unknown) {
    super("StoreError", message, cause)
    this.reason = reason
    this.key = key
  }
}

/** What was asked for is not in the host's history any more, or never was. */
export class NotAvailable extends VarveErrorBase<"NotAvailable"> {
  readonly id: string
  constructor(id: string, message: string) {
    super("NotAvailable", message)
    this.id = id
  }
}

/** The memory was closed before this call. */
export class MemoryClosed extends VarveErrorBase<"MemoryClosed"> {
  constructor() {
    super(
      "MemoryClosed",
      "This memory is closed. Make a new one with the same store and session to go on."
    )
  }
}

/** Why a summary could not be made or was refused. */
export type SummaryReason =
  | "failed"
  | "timeout"
  | "aborted"
  | "stop-reason"
  | "reasoning"
  | "blank"
  | "tool-call"
  | "refusal"
  | "not-text"
  | "degenerate"
  | "too-short"
  | "too-large"
  | "missing"
  | "unreadable"

/** A summary could not be made, or what came back was refused. Nothing was changed. */
export class SummaryError extends VarveErrorBase<"SummaryError"> {
  readonly reason: SummaryReason
  /** True where the same request may succeed later (rate limit, network, time-out). */
  readonly transient: boolean
  constructor(
    reason: SummaryReason,
    message: string,
    options?: { transient?: boolean; cause?: unknown }
  ) {
    super("SummaryError", message, options?.cause)
    this.reason = reason
    this.transient = options?.transient ?? false
  }
}

/** Any error of the core. */
export type VarveError =
  | ConfigError
  | ContextOverflow
  | StoreError
  | NotAvailable
  | MemoryClosed
  | SummaryError

/** True for an error of this package, also one from another copy of it. */
export const isVarveError = (u: unknown): u is VarveError =>
  typeof u === "object" && u !== null && marker in u

/** Shortens any value for an error text: never base64, never more than 60 characters. */
export const show = (value: unknown): string => {
  if (typeof value === "string")
    return JSON.stringify(value.length > 40 ? value.slice(0, 40) + "…" : value)
  if (typeof value === "function") return "a function"
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === "object" && value !== null)
    return `an object with ${Object.keys(value).slice(0, 6).join(", ") || "no keys"}`
  return String(value)
}

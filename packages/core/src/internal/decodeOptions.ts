import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { ConfigIssue } from "../VarveError.ts"
import { ConfigError, show } from "../VarveError.ts"

const knownKeys = (ast: unknown): string => {
  const signatures = (ast as { propertySignatures?: ReadonlyArray<{ name: PropertyKey }> })
    .propertySignatures
  return signatures?.length ? signatures.map((s) => String(s.name)).join(", ") : "nothing"
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey"
      ? `one of the options ${knownKeys(issue.ast)}`
      : issue._tag === "MissingKey"
        ? "a value: this option is required"
        : SchemaIssue.defaultLeafHook(issue)
})

/** Under a key like these, also a misspelt one, no text is quoted: it may be a secret. */
const SECRET = /key|token|secret|password|auth/i

/**
 * Decodes the options of a strategy or a service once, when it is made. `undefined` is an empty object.
 *
 * Throws `ConfigError` with every wrong option: its path, what was given and what is allowed. Keys that
 * the schema doesn't know are wrong too.
 *
 * @example
 * ```ts
 * import { decodeOptions } from "@varve/core/Options"
 * import * as Schema from "effect/Schema"
 *
 * const Options = Schema.Struct({ keep: Schema.optional(Schema.Int) })
 * console.log(decodeOptions(Options, { keep: 3 }, "screenshots")) // => { keep: 3 }
 * ```
 */
export const decodeOptions = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  options: unknown,
  path: string
): S["Type"] => {
  const given = options === undefined ? {} : options
  const result = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(
    given
  )
  if (Result.isSuccess(result)) return result.success
  throw new ConfigError(
    format(result.failure.issue).issues.map(({ message, path: keys = [] }): ConfigIssue => {
      let at = path
      let value: unknown = given
      for (const key of keys as ReadonlyArray<PropertyKey>) {
        at += typeof key === "number" ? `[${key}]` : `.${String(key)}`
        value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key]
      }
      return {
        path: at,
        given: typeof value === "string" && SECRET.test(at) ? "a string" : show(value),
        allowed: message.replace(/^Expected | \| undefined$/g, "")
      }
    })
  )
}

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

const equal = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  if (a instanceof URL || b instanceof URL)
    return a instanceof URL && b instanceof URL && a.href === b.href
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => equal(a[key], b[key]))
}

/** What of a message reaches a model. */
const FIELDS = [
  "type",
  "role",
  "name",
  "content",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_id",
  "status",
  "additional_kwargs"
]

/** True where two messages say the same: a checkpoint gives other objects, and an edit the same id. */
export const says = (a: unknown, b: unknown): boolean =>
  a === b || (isObject(a) && isObject(b) && FIELDS.every((field) => equal(a[field], b[field])))

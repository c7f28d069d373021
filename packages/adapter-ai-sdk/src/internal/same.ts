const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])

/** True where two values say the same, whether or not they are one object. Fields that are undefined don't count. */
export const same = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array && sameBytes(a, b)
  }
  if (a instanceof URL || b instanceof URL) {
    return a instanceof URL && b instanceof URL && a.href === b.href
  }
  for (const key of Object.keys(a)) if (!same(a[key], b[key])) return false
  return Object.keys(b).every((key) => b[key] === undefined || a[key] !== undefined)
}

/** True where a list begins with the messages of another one. */
export const startsWith = (list: ReadonlyArray<unknown>, head: ReadonlyArray<unknown>): boolean =>
  list.length >= head.length && head.every((message, i) => same(message, list[i]))

/** Freezes a request and all that it holds; bytes and URLs can't be frozen. */
export const seal = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  if (ArrayBuffer.isView(value) || value instanceof URL) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) seal(inner)
  return value
}

/** A request as text without its long strings, for a failure's message. */
export const brief = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, inner: unknown) =>
      typeof inner === "string" && inner.length > 60
        ? inner.slice(0, 40) + "…" + inner.length
        : inner,
    1
  )

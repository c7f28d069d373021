const isOverflow = (error: unknown): boolean =>
  (error as { _tag?: string })._tag === "ContextOverflow"

/** Does this with each request of a session, given as its steps. What can't fit is no fault of a codec's. */
export const eachRequest = async (
  steps: ReadonlyArray<ReadonlyArray<object>>,
  check: (request: ReadonlyArray<object>) => Promise<void>
): Promise<void> => {
  for (let k = 1; k <= steps.length; k++) {
    const request = steps.slice(0, k).flat()
    if (request.length === 0) continue
    await check(request).catch((error: unknown) => {
      if (!isOverflow(error)) throw error
    })
  }
}

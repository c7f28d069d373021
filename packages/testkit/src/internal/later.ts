const DAY = 86_400_000

/** Runs something a day later by `Date`, so that a text with a time in it is another. */
export const later = async <A>(run: () => Promise<A>): Promise<A> => {
  const Real = globalThis.Date
  class Later extends Real {
    constructor(...args: ReadonlyArray<unknown>) {
      if (args.length === 0) super(Real.now() + DAY)
      else super(...(args as [number]))
    }
    static override now(): number {
      return Real.now() + DAY
    }
  }
  globalThis.Date = Later as DateConstructor
  try {
    return await run()
  } finally {
    globalThis.Date = Real
  }
}

import type { CacheOptions } from "../CacheModel.ts"

/** The settings of a cache, with what holds where a profile doesn't say. */
export const settingsOf = (options: CacheOptions): Required<CacheOptions> => {
  const { lifetime, lookback = 20, marks = 4, minimum, step = 128 } = options
  return { lifetime, lookback, marks, minimum, step }
}

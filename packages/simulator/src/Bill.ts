import { pricesAt, type Prices } from "@varve/core/Profile"
import type { Billed } from "./CacheModel.ts"

/** USD that a request costs. `cacheWrite` is the price of what is written; without a fee, that of input. */
export const costOf = (billed: Billed, output: number, prices: Prices): number => {
  const { read, write, uncached } = billed
  const tier = pricesAt(prices, read + write + uncached)
  const tokens =
    read * tier.cacheRead + write * tier.cacheWrite + uncached * tier.input + output * tier.output
  return tokens / 1e6
}

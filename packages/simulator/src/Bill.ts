import type { Prices } from "@varve/core/Profile"
import type { Billed } from "./CacheModel.ts"

/** Prices that hold for a request of so many input tokens: providers have tiers. */
export const tierOf = (prices: Prices, input: number): Prices => {
  let tier: Prices = prices
  for (const t of prices.tiers ?? []) if (input > t.above) tier = { ...prices, ...t }
  return tier
}

/** USD that a request costs. `cacheWrite` is the price of what is written; without a fee, that of input. */
export const costOf = (billed: Billed, output: number, prices: Prices): number => {
  const { read, write, uncached } = billed
  const tier = tierOf(prices, read + write + uncached)
  const tokens =
    read * tier.cacheRead + write * tier.cacheWrite + uncached * tier.input + output * tier.output
  return tokens / 1e6
}

import { show } from "../VarveError.ts"

/** True for what a limit can be compared with. */
export const isCount = (n: unknown): n is number =>
  typeof n === "number" && Number.isFinite(n) && n >= 0

/** A figure that may be added up: in a sum, a wrong one would no longer be seen. */
export const figure = (tokens: number): number => {
  if (isCount(tokens)) return tokens
  throw new TypeError(`${show(tokens)} is no count of tokens`)
}

/** By how much a count grows with what it is of: far from 0, where it is cut off, and without its rounding. */
export const slope = (of: (n: number) => number): number => (of(3e9) - of(2e9)) / 1e9

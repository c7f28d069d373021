import type { Staged } from "../Commit.ts"
import type { Message } from "../Message.ts"
import { blocksOf } from "../Message.ts"
import type { Profile } from "../Profile.ts"
import { pricesAt } from "../Profile.ts"
import type { View } from "../View.ts"

/** More than any run makes; with larger figures the sums would overflow. */
const MOST_REQUESTS = 1e9

/** Requests that are left of a run; nothing where the length isn't known, or has proved to be another. */
export const requestsLeft = (expected: number | undefined, made: number): number | undefined =>
  expected === undefined || made > expected ? undefined : Math.min(expected - made, MOST_REQUESTS)

/**
 * How much longer a run of unknown length is taken to go on, as a share of its requests so far. The lengths of
 * agents' runs vary so widely that two runs of three that have come so far go on for at least half as long.
 */
export const SHARE_AHEAD = 0.5

/**
 * The same for a fold of several groups, as a summary is. That is wanted for the room that it makes as well, so
 * even odds do: every second run goes on for as long again.
 */
const FOLD_AHEAD = 1

/** Requests to come in which an edit will save, where the length of the run isn't known. */
export const requestsAhead = ({ span }: Staged, { requests }: View): number =>
  requests * (span > 0 ? FOLD_AHEAD : SHARE_AHEAD)

export const isAnswer = ({ role }: Message): boolean => role === "assistant"

/** Tokens that no request had yet: what the model wrote last, and what came behind it. */
export const freshIn = ({ items }: View): number => {
  const from = items.findLastIndex(({ messages }) => messages.some(isAnswer))
  return from < 0 ? 0 : items.slice(from).reduce((sum, { tokens }) => sum + tokens, 0)
}

/**
 * Whether a batch should end here, of a run with `left` requests to come. `earned`: USD that waiting has cost;
 * `each`: USD that a request costs more without the edits; `due`: USD of a commit. What waits is taken to have
 * grown, and to grow on, by the same in every request. `n` batches of `all / n` requests each cost `n - 1` commits
 * and an n-th of what one batch would cost for waiting, so that the best `n` is the least for which
 * `n * (n + 1)` commits cost as much as that.
 */
export const endsBatch = (earned: number, each: number, due: number, left: number): boolean => {
  const waited = (2 * earned) / each
  const all = waited + left
  const batches = Math.ceil((Math.sqrt(1 + (4 * earned * (all / waited) ** 2) / due) - 1) / 2)
  return batches > 1 && waited * batches >= all
}

/** What the call for a fold costs that nobody has written yet. */
export const priceOfCall = ({ call }: Staged, prices: Profile["prices"]): number => {
  if (call === undefined) return 0
  const { input, output } = pricesAt(prices, call.input)
  return call.input * input + call.output * output
}

/** What a commit costs. */
export interface CommitWork {
  /** Tokens that are written to the cache and could have been read from it. */
  readonly tokens: number
  /** Tokens of reasoning that the model has to think once more. */
  readonly reasoning: number
  /** The price of the calls that have yet to be made for it. */
  readonly calls: number
}

export const priceOfCommit = (
  { calls, reasoning: thought, tokens }: CommitWork,
  { cacheRead, cacheWrite, output }: Profile["prices"]
): number => tokens * Math.max(0, cacheWrite - cacheRead) + thought * output + calls

/** Tokens of what the model thought for its newest answer: what it works with now, and would have to think again. */
export const newestReasoning = ({ counter, items }: View): number => {
  const answer = items
    .findLast(({ messages }) => messages.some(isAnswer))
    ?.messages.findLast(isAnswer)
  const content = answer && blocksOf(answer).filter((block) => block?.type === "thinking")
  return content === undefined || content.length === 0
    ? 0
    : counter.message({ role: "assistant", content })
}

export const usd = (perMillion: number): string => `${(perMillion / 1e6).toPrecision(2)} USD`

import type { Counter, Message } from "@varve/core"
import { estimateCounter } from "@varve/core"
import { hasData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { codingRun, guiRun, syntheticCounter, traceOf, type Trace } from "@varve/simulator"
import { textIn, blocksOf } from "./Pairs.ts"
import type { Setup } from "./Peer.ts"
import { tailAt } from "./Window.ts"

/** A run with its counter, and what is kept of it. */
export interface Input {
  readonly name: string
  readonly trace: Trace
  readonly counter: Counter
  /** Steps that stay: so many results and images, twice as many messages. */
  readonly steps: number
  /** Tokens from which on peers with a mark act. */
  readonly at: number
}

/** Tokens of every summary. */
const SUMMARY = 1500

export const gui = (steps: number, image: number): Input => ({
  name: `GUI, ${steps} steps, images of ${image}`,
  trace: guiRun({ steps }),
  counter: syntheticCounter(image),
  steps: 3,
  at: 60_000
})

export const coding = (steps: number): Input => ({
  name: `coding, ${steps} steps`,
  trace: codingRun({ steps, seed: 7 }),
  counter: syntheticCounter(1560),
  steps: 10,
  at: 150_000
})

/** Tokens of system text and tools, which session files don't tell. */
const OVERHEAD = 8000

/**
 * The real sessions of more than two requests; none without `VARVE_DATA`. They are of all sizes, so the mark
 * is half of what each has in the end.
 */
export const real = (): ReadonlyArray<Input> =>
  hasData()
    ? sessions()
        .map(({ name, read }) => {
          const counter = estimateCounter()
          const trace = traceOf(read(), { overhead: OVERHEAD })
          const whole = trace.requests.at(-1)?.history ?? []
          const tokens = whole.reduce((sum, message) => sum + counter.message(message), 0)
          return { name, trace, counter, steps: 10, at: OVERHEAD + Math.round(tokens / 2) }
        })
        .filter(({ trace }) => trace.requests.length > 2)
    : []

/** A text of so many tokens that is no loop; its words follow from its number. */
const wordsOf = (number: number, tokens: number): string => {
  const words: Array<string> = []
  let state = 2654435761 * (number + 1)
  for (let length = 0; length < 4 * tokens - 12;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const word = (state >>> 4).toString(36).slice(0, 3 + (state % 5))
    words.push(word)
    length += word.length + 1
  }
  return words.join(" ")
}

/** A call of the stand-in for a model, in tokens. */
export interface Call {
  readonly input: number
  readonly output: number
}

/** A stand-in that answers every prompt with a text of the same size, and notes what it was asked. */
export const standIn = (counter: Counter) => {
  const calls: Array<Call> = []
  const image = counter.message({
    role: "user",
    content: [{ type: "image", data: "", mimeType: "image/png" }]
  })
  const summarize = (prompt: string, images = 0): string => {
    const answer = wordsOf(calls.length, SUMMARY)
    const input = Math.ceil(prompt.length / 4) + images * image
    calls.push({ input, output: Math.ceil(answer.length / 4) })
    return answer
  }
  return { summarize, calls }
}

/** The smallest limit under which as much is kept, in the mean, as the newest `keep` messages have. */
const limitOf = (
  histories: ReadonlyArray<ReadonlyArray<Message>>,
  keep: number,
  count: (message: Message) => number,
  estimate: (message: Message) => number
): number => {
  const sum = (list: ReadonlyArray<Message>, of: (message: Message) => number): number =>
    list.reduce((s, message) => s + of(message), 0)
  const keptUnder = (limit: number, history: ReadonlyArray<Message>): number => {
    let at = history.length
    for (let left = limit - estimate(history[at - 1]!); at > 1 && left >= 0;)
      left -= estimate(history[--at - 1]!)
    // What is kept doesn't begin with a result.
    while (history[at]?.role === "toolResult") at++
    return sum(history.slice(at), count)
  }
  const wanted = sum(
    histories.flatMap((history) => history.slice(tailAt(history, keep))),
    count
  )
  let [low, high] = [1, 1]
  const isEnough = (limit: number): boolean =>
    histories.reduce((s, history) => s + keptUnder(limit, history), 0) >= wanted
  while (!isEnough(high) && high < 1e9) high *= 2
  while (high - low > 1) {
    const mid = (low + high) >>> 1
    if (isEnough(mid)) high = mid
    else low = mid
  }
  return high
}

/** How a peer is set for a run. */
export const setupOf = (
  { trace, counter, steps, at }: Input,
  summarize: Setup["summarize"]
): Setup => {
  const known = new WeakMap<Message, number>()
  const count = (message: Message): number => {
    let tokens = known.get(message)
    if (tokens === undefined) known.set(message, (tokens = counter.message(message)))
    return tokens
  }
  const messages = 2 * steps
  const histories = trace.requests
    .map(({ history }) => history)
    .filter((history) => history.length > 1)
  const sample = histories.filter((_, i) => i % Math.ceil(histories.length / 200) === 0)
  const last = trace.requests.at(-1)?.history ?? []
  const text = last.reduce((sum, m) => sum + counter.text(textIn(blocksOf(m.content))), 0)
  const all = last.reduce((sum, m) => sum + count(m), 0)
  return {
    results: steps,
    messages,
    at: at - trace.overhead,
    textShare: all === 0 ? 1 : text / all,
    limitFor: (estimate) => limitOf(sample, messages, count, estimate),
    summarize,
    count
  }
}

import type { Counter, Message } from "@varve/core"
import { makeCounter } from "@varve/core"
import type { Trace } from "./Trace.ts"

/** A text of so many tokens by `syntheticCounter`: four characters each, told apart by a label. */
const textOf = (label: string, tokens: number): string => {
  const length = Math.max(1, Math.round(tokens)) * 4
  return (label + " ").padEnd(length, "word ").slice(0, length)
}

/**
 * Counts synthetic runs exactly: four characters a token, every image the same figure, nothing around a
 * message.
 */
export const syntheticCounter = (imageTokens: number): Counter =>
  makeCounter({
    name: "synthetic",
    text: (text) => Math.ceil(text.length / 4),
    image: () => imageTokens,
    perMessage: 0,
    perResult: 0,
    perCall: 0
  })

/** What a synthetic GUI run is made of, in tokens. */
export interface GuiRun {
  readonly steps: number
  /** System text and tools; default 6 000. */
  readonly overhead?: number
  /** The task; default 200. */
  readonly task?: number
  /** Text of each result beside its screenshot; default 120. */
  readonly text?: number
  /** What the model writes in each step; default 160. */
  readonly answer?: number
}

/** A screenshot that is told apart from the others; its tokens are the counter's affair. */
const screenshot = (i: number): string => `iVBORw0KGgo${String(i).padStart(12, "A")}`

/**
 * A GUI agent's run: in each step one call, and its result with a screenshot. One request a step, 7 s apart.
 *
 * @example
 * ```ts
 * import { guiRun } from "@varve/simulator"
 *
 * console.log(guiRun({ steps: 30 }).requests.length) // => 30
 * ```
 */
export const guiRun = (run: GuiRun): Trace => {
  const { steps, overhead = 6000, task = 200, text = 120, answer = 160 } = run
  const messages: Array<Message> = [{ role: "user", content: textOf("task", task) }]
  const requests: Array<Trace["requests"][number]> = []
  for (let i = 0; i < steps; i++) {
    requests.push({ history: messages.slice(), at: i * 7000, output: answer })
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: textOf(`thought ${i}`, answer - 10) },
        { type: "toolCall", id: `c${i}`, name: "click", arguments: { at: textOf(`${i}`, 5) } }
      ]
    })
    messages.push({
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "click",
      isError: false,
      content: [
        { type: "text", text: textOf(`result ${i}`, text) },
        { type: "image", data: screenshot(i), mimeType: "image/png" }
      ]
    })
  }
  return { name: `gui ${steps}`, overhead, requests }
}

/** A small generator of numbers from 0 to 1, the same for the same seed. */
const randomFrom = (seed: number): (() => number) => {
  let state = (seed * 2654435761 + 1) >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** What a synthetic coding run is made of. */
export interface CodingRun {
  readonly steps: number
  readonly seed?: number
  /** Tokens of the results in the mean; default 6 400 less the answer. Sizes vary widely. */
  readonly result?: number
  /** Tokens of the answers in the mean; default 523. */
  readonly answer?: number
}

/**
 * A coding agent's run: calls with large and small results, no images. One request a step, 12 s apart.
 *
 * @example
 * ```ts
 * import { codingRun } from "@varve/simulator"
 *
 * console.log(codingRun({ steps: 20, seed: 7 }).requests.length) // => 20
 * ```
 */
export const codingRun = (run: CodingRun): Trace => {
  const { steps, seed = 1, answer = 523, result = 6400 - 523 } = run
  const random = randomFrom(seed)
  const spread = (mean: number): number => Math.max(20, -Math.log(1 - random()) * mean)
  const messages: Array<Message> = [{ role: "user", content: textOf("task", 400) }]
  const requests: Array<Trace["requests"][number]> = []
  for (let i = 0; i < steps; i++) {
    const output = spread(answer)
    requests.push({ history: messages.slice(), at: i * 12_000, output })
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: textOf(`thought ${i}`, output / 2) },
        {
          type: "toolCall",
          id: `c${i}`,
          name: "read",
          // A short path, as real ones are: some memories list those that were read.
          arguments: { path: `src/${i}.ts`, why: textOf(`${i}`, output / 2 - 3) }
        }
      ]
    })
    messages.push({
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "read",
      isError: false,
      content: [{ type: "text", text: textOf(`result ${i}`, spread(result)) }]
    })
  }
  return { name: `coding ${steps}`, overhead: 8000, requests }
}

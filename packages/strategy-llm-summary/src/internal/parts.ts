import { clipText } from "@varve/core/Clip"
import type { Material, SummaryRequest, SummaryResult } from "@varve/core/Summarizer"
import { SummaryError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import type { Asker } from "./Asker.ts"
import { isOverflow } from "./failure.ts"
import type { PromptParts } from "./prompt.ts"
import { promptOf, SYSTEM } from "./prompt.ts"
import { splitMaterial } from "./split.ts"

/** What the prompts have to keep to. */
export interface PartOptions {
  /** The model's window in tokens. */
  readonly window: number
  /** Most tokens that the model writes. */
  readonly mostOutput: number
  /** Tokens that reasoning may take beside the answer. */
  readonly reasoning: number
  /** When nobody waits any more, in ms since 1970. */
  readonly deadline: number
}

/** Most parts of one record, and least room for the summary of one, in tokens. */
const PARTS = 16
const PART = 64

/** Least target of a part where it has the room. */
const PART_TARGET = 400

/** How many parts are summarised at a time. */
const AT_ONCE = 3

/** The model may count otherwise than the memory: this share of its window stays free. */
const MARGIN = 0.1

/** Where a provider finds a prompt too long, this share of it is tried from then on, so many times. */
const SMALLER = 0.5
const TRIES = 3

/** Less room than this makes no summary. */
const LEAST = 256

/** Tokens of the line before a text of the record, at most, without who it is from. */
const HEAD = 16

/**
 * A summary of a request, by as many calls as its size needs: one where it fits the window, else one for each
 * part and one for all of them together.
 */
export const summariseParts = (
  asker: Asker,
  request: SummaryRequest,
  options: PartOptions
): Effect.Effect<SummaryResult, SummaryError> => {
  const { count, targetTokens } = request
  const { deadline, mostOutput, reasoning, window } = options
  // A model that counts otherwise, or writes its text as JSON, needs more than the target; what is too long is clipped.
  const capOf = (tokens: number): number =>
    Math.max(
      1,
      Math.min(mostOutput, Math.floor(window / 3), Math.ceil(tokens * 1.5) + 200 + reasoning)
    )
  const usable = Math.floor(window * (1 - MARGIN)) - capOf(Math.max(targetTokens, PART_TARGET))

  const ask = (parts: PromptParts): Effect.Effect<SummaryResult, SummaryError> => {
    const prompt = promptOf(parts)
    const promptTokens = count(SYSTEM) + count(prompt)
    const maxTokens = capOf(parts.targetTokens)
    if (promptTokens + maxTokens > window)
      return Effect.fail(new SummaryError("failed", "The record doesn't fit the model's window."))
    const asked = { ...request, targetTokens: parts.targetTokens }
    const answer = asker.answer({
      system: SYSTEM,
      prompt,
      maxTokens,
      promptTokens,
      request: asked,
      deadline
    })
    return Effect.tapError(answer, (error) =>
      Effect.sync(() => {
        if (isOverflow(error)) asker.room = Math.min(asker.room, Math.floor(promptTokens * SMALLER))
      })
    )
  }

  const partPrompt = (material: ReadonlyArray<Material>): string =>
    promptOf({
      previous: undefined,
      material,
      keep: [],
      targetTokens,
      part: { number: PARTS, of: PARTS }
    })

  /** Parts whose prompts have at most so many tokens: a counter may find more in the whole than in its pieces. */
  const partsOf = (
    material: ReadonlyArray<Material>,
    free: number,
    most: number
  ): ReadonlyArray<ReadonlyArray<Material>> => {
    const cost = ({ from, text }: Material): number => count(from) + count(text) + HEAD
    // All their summaries have to fit into one prompt.
    const parts = splitMaterial(
      material,
      free,
      Math.min(PARTS, Math.floor(free / 2 / PART)),
      cost,
      count
    )
    const largest = Math.max(...parts.map((part) => count(partPrompt(part))))
    const less = Math.floor((free * most) / largest)
    return largest <= most || less < LEAST ? parts : partsOf(material, less, most)
  }

  const within = (room: number): Effect.Effect<SummaryResult, SummaryError> => {
    const { keep, material, previous } = request
    // What must be kept is put in by code where it would take too much of a prompt.
    const named = keep.length > 0 && count(keep.join("\n")) > room / 4 ? [] : keep
    const whole: PromptParts = { previous, material, keep: named, targetTokens }
    if (count(SYSTEM) + count(promptOf(whole)) <= room) return ask(whole)

    const most = room - count(SYSTEM)
    const free = most - count(partPrompt([]))
    if (free < LEAST)
      return Effect.fail(new SummaryError("failed", "The model's window has no room for a record."))
    // A summary so far that is large itself is summarised like the rest.
    const carried = previous !== undefined && count(previous) <= free / 5 ? previous : undefined
    const all: ReadonlyArray<Material> =
      previous === undefined || carried !== undefined
        ? material
        : [{ from: "the summary so far", text: previous }, ...material]
    const parts = partsOf(all, free, most)
    const share = Math.floor(free / 2 / parts.length) - HEAD
    const partTarget = Math.min(Math.max(targetTokens, PART_TARGET), share)
    return Effect.forEach(
      parts,
      (part, i) =>
        Effect.map(
          ask({
            previous: undefined,
            material: part,
            keep: [],
            targetTokens: partTarget,
            part: parts.length === 1 ? undefined : { number: i + 1, of: parts.length }
          }),
          (result) => ({ ...result, text: clipText(result.text, partTarget, count, { head: 0.8 }) })
        ),
      { concurrency: AT_ONCE }
    ).pipe(
      Effect.flatMap((results) => {
        const material = results.map(({ text }, i) => ({
          from: `summary of part ${i + 1} of ${parts.length}`,
          text
        }))
        return Effect.map(
          ask({ previous: carried, material, keep: named, targetTokens }),
          (merged) => withUsage(merged, results)
        )
      })
    )
  }

  const tried = (tries: number): Effect.Effect<SummaryResult, SummaryError> =>
    Effect.catchIf(
      Effect.suspend(() => within(Math.min(usable, asker.room))),
      (error) => isOverflow(error) && tries > 0,
      () => tried(tries - 1)
    )
  return tried(TRIES)
}

/** The last answer, with what all calls for it took. */
const withUsage = (result: SummaryResult, before: ReadonlyArray<SummaryResult>): SummaryResult => {
  const all = [result, ...before].flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  if (all.length === 0) return result
  const sum = (side: "input" | "output") => all.reduce((total, usage) => total + usage[side], 0)
  return { ...result, usage: { input: sum("input"), output: sum("output") } }
}

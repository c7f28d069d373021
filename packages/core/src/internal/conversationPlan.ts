import type { FoldAhead } from "../CommitAhead.ts"
import type { ItemId, Proposal } from "../Edit.ts"
import * as Edit from "../Edit.ts"
import type { MessageId } from "../Message.ts"
import type { Redact } from "../Redact.ts"
import { renderRegistry } from "../Registry.ts"
import type { SummaryRequest } from "../Summarizer.ts"
import type { ItemRef, ResultRef, View } from "../View.ts"
import type { Kept } from "./conversationText.ts"
import {
  constraintsIn,
  keptIn,
  label,
  NAME,
  registryIn,
  resultsOf,
  withoutLines
} from "./conversationText.ts"
import { materialOf } from "./material.ts"

/** New groups of less than this share of the limit are not worth a summary yet. */
export const LEAST = 0.1

/** No more than this share of a summary is for constraints. */
const KEEP = 0.25

/** The options that a plan needs, with their defaults. */
export interface PlanOptions {
  readonly soft: number
  readonly keep: number
  readonly keepGroups: number
  readonly targetTokens: number
  readonly registryTokens: number
  readonly redact: Redact
}

/** What may be folded now. */
export interface Aim {
  readonly items: ReadonlyArray<ItemRef>
  readonly ids: ReadonlyArray<ItemId>
  readonly basis: MessageId
  /** Tokens of the groups among them, which no summary stands for yet. */
  readonly fresh: number
}

/** A fold of them but for its text. */
export interface Plan {
  readonly request: SummaryRequest
  readonly replaces: number
  /** What a summary has to say, since nothing beside it does. */
  readonly missing: ReadonlyArray<string>
  /** The fold with its text; nothing where it would not be worth it. */
  readonly fold: (text: string, reason: string) => ReadonlyArray<Proposal>
}

/** The oldest items that may be folded, without the tail that stays. */
const foldable = (view: View, keepTokens: number, keepGroups: number): ReadonlyArray<ItemRef> => {
  const { items } = view
  let end = items.length
  let [tokens, groups] = [0, 0]
  for (; end > 0; end--) {
    const item = items[end - 1]!
    tokens += item.tokens
    if (tokens > keepTokens && groups >= keepGroups) break
    if (item.kind === "group") groups++
  }
  return items
    .slice(0, end)
    .filter(
      (item) =>
        item.closed &&
        item.members.length > 0 &&
        (item.kind === "group" || keptIn(item) !== undefined) &&
        view.protection(item.id) === undefined
    )
}

/** What may be folded now; nothing below the mark, and where it would be too little. */
export const aimOf = (
  view: View,
  { keep, keepGroups, soft }: Pick<PlanOptions, "keep" | "keepGroups" | "soft">
): Aim | undefined => {
  const mark = view.limits.tokens * soft
  if (!(view.usage.tokens > mark)) return undefined
  const items = foldable(view, mark * keep, keepGroups)
  const basis = items.at(-1)?.members.at(-1)
  const fresh = items.reduce((sum, item) => sum + (item.kind === "group" ? item.tokens : 0), 0)
  return basis === undefined || fresh < view.limits.tokens * LEAST
    ? undefined
    : { items, ids: items.map((item) => item.id), basis, fresh }
}

/** Tokens of what a model is told beside the record. */
const TOLD = 600

/** Tokens of texts of results, which never change: a fold that doesn't pay yet is asked about in every request. */
const counted = new WeakMap<ResultRef, number>()

const tokensOf = (result: ResultRef, count: (text: string) => number): number => {
  let tokens = counted.get(result)
  if (tokens === undefined) counted.set(result, (tokens = count(result.text)))
  return tokens
}

/**
 * The fold of what may be folded as it would be, before anybody is asked for its text. `resultTokens`: what the
 * summarizer reads of a result at most.
 */
export const aheadOf = (
  view: View,
  { ids, items }: Aim,
  { registryTokens, targetTokens }: Pick<PlanOptions, "registryTokens" | "targetTokens">,
  resultTokens = Infinity
): FoldAhead => {
  const inAim = new Set(ids)
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0)
  const images = view.images.reduce((s, i) => (inAim.has(i.item) ? s + i.tokens : s), 0)
  let unread = images
  if (resultTokens < Infinity)
    for (const result of view.results)
      if (inAim.has(result.item))
        unread += Math.max(0, tokensOf(result, view.counter.text) - resultTokens)
  return {
    items: ids,
    saved: tokens - Math.min(targetTokens + registryTokens, tokens * 0.4),
    call: { input: Math.max(0, tokens - unread) + TOLD, output: targetTokens }
  }
}

/** The fold of what may be folded; nothing where there is no room for a summary. */
export const planOf = (
  view: View,
  { basis, ids, items }: Aim,
  { redact, registryTokens, soft, targetTokens: target }: PlanOptions
): Plan | undefined => {
  const { counter } = view
  const cost = (text: string) =>
    counter.message({ role: "user", content: [{ type: "text", text }] })
  const results = resultsOf(items)
  const named = registryTokens === 0 ? {} : results
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0)
  const replaces = tokens - cost(label("", "", named))
  const most = Math.floor(Math.min(replaces * 0.4, view.limits.tokens * soft * 0.25))
  const whole = Math.min(target + registryTokens, most)
  if (whole < 1) return undefined
  const registry = registryIn(items, redact)
  const room = Math.min(registryTokens, whole >> 1)
  const facts = renderRegistry(registry, { tokens: room, count: counter.text })
  const targetTokens = Math.min(target, whole - Math.ceil(counter.text(facts)))
  const before = items.map((item) => keptIn(item)?.summary).filter((text) => text !== undefined)
  const request: SummaryRequest = {
    previous: before.length === 0 ? undefined : before.join("\n"),
    material: items.flatMap((item) =>
      item.kind === "group" ? materialOf(item.messages, redact) : []
    ),
    keep: constraintsIn(registry, targetTokens * KEEP, counter.text),
    targetTokens,
    count: counter.text
  }
  const fold: Plan["fold"] = (text, reason) => {
    const summary = withoutLines(text, facts).trim().toWellFormed()
    const tokensLeft = Math.min(room, whole - Math.ceil(counter.text(summary)))
    const beside = renderRegistry(registry, {
      tokens: tokensLeft,
      count: counter.text,
      besides: summary
    })
    const all = label(summary, beside, named)
    // Of a few short messages the label alone can be too much.
    if (summary === "" || cost(all) > tokens * 0.8) return []
    const data: Kept = { of: NAME, summary, registry, results }
    return [Edit.proposal(reason, [Edit.fold(ids, all, basis, data)], { atomic: true })]
  }
  // What the registry says, no summary can lose.
  const missing = request.keep.filter((text) => !facts.includes(text))
  return { request, replaces, missing, fold }
}

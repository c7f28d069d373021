import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Edit } from "./Edit.ts"
import * as EditOf from "./Edit.ts"
import type { Totals } from "./internal/ViewState.ts"
import { ViewState } from "./internal/ViewState.ts"
import { Draft, less } from "./internal/Draft.ts"
import { accept } from "./internal/gate.ts"
import type { Accepted } from "./internal/gate.ts"
import {
  groupsOut,
  imageSteps,
  lastRungs,
  oldImages,
  softImages,
  softRungs,
  textRungs
} from "./internal/rungs.ts"
import { edgeOf } from "./internal/limits.ts"
import { splitBlockId } from "./Message.ts"
import { decodeOptions } from "./Options.ts"
import type { Strategy } from "./Strategy.ts"
import { make } from "./Strategy.ts"
import type { ImageRef, View } from "./View.ts"

const Options = Schema.Struct({
  /** Share of a limit that the guard goes down to, so that it need not act again at once; default 0.7. */
  lowWater: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0.1, maximum: 1 })))
})

/** Options of `hardLimit()`. */
export type HardLimitOptions = typeof Options.Type

/** What a view may come to at most: tokens by the provider's measure, images, bytes. */
interface Target {
  readonly tokens: number
  readonly images: number
  readonly imageBytes: number
  readonly requestBytes: number
  readonly messages: number
}

/** A view's limits, times a share where the view is over them. */
const targetOf = (view: ViewState, share: number): Target => {
  const { limits, usage } = view
  const low = (used: number, limit: number) => (used > limit ? Math.floor(limit * share) : limit)
  return {
    tokens: low(usage.tokens, limits.tokens),
    images: low(usage.images, limits.images),
    imageBytes: low(usage.imageBytes, limits.imageBytes),
    requestBytes: low(usage.requestBytes, limits.requestBytes),
    messages: low(usage.messages, limits.messages)
  }
}

const meets = ({ context }: ViewState, totals: Totals, target: Target): boolean =>
  context.calibrate(
    totals.tokens + context.overheadTokens,
    totals.imageTokens + context.overheadFixed
  ).tokens <= target.tokens &&
  totals.images <= target.images &&
  totals.imageBytes <= target.imageBytes &&
  totals.bytes + context.overheadBytes <= target.requestBytes &&
  totals.messages <= target.messages

/**
 * The images that break a rule of their own, whatever the sums are: too long an edge, too many bytes, too
 * many in one message. Oldest first.
 */
const unfitImages = (view: View): ReadonlyArray<string> => {
  const { limits, images } = view
  const unfit = new Set<string>()
  const fitting = (i: View["images"][number], edge: number): boolean =>
    (i.size?.width ?? 0) * (i.size?.height ?? 0) <= limits.maxPixels &&
    Math.max(i.size?.width ?? 0, i.size?.height ?? 0) <= edge &&
    i.bytes <= limits.bytesPerImage
  const inMessage = new Map<string, number>()
  for (const image of images) {
    inMessage.set(image.message, (inMessage.get(image.message) ?? 0) + 1)
    if (!fitting(image, limits.maxEdge)) unfit.add(image.block)
  }
  for (const image of images) {
    const left = inMessage.get(image.message)!
    if (left > limits.imagesPerMessage) {
      unfit.add(image.block)
      inMessage.set(image.message, left - 1)
    }
  }
  const rest = images.filter((i) => !unfit.has(i.block))
  const many = limits.manyImages
  if (many !== undefined && rest.length > many.over) {
    const isLarge = (i: View["images"][number]) => !fitting(i, edgeOf(limits, rest.length))
    const isHard = (i: View["images"][number]) => view.protection(i.block)?.level === "hard"
    const large = rest.filter(isLarge)
    const oldest = rest.filter((i) => !isHard(i)).slice(0, rest.length - many.over)
    // Either no image is too large for so many, or there are not so many: whichever takes fewer.
    const fewer = large.length <= oldest.length && !large.some(isHard) ? large : oldest
    for (const image of fewer) unfit.add(image.block)
  }
  return images.filter((i) => unfit.has(i.block)).map((i) => i.block)
}

/** Edits that go together, each as the gate takes it behind those before it, and the sums with all of them. */
interface Taken {
  readonly edits: ReadonlyArray<Accepted>
  readonly totals: Totals
}

/** Nothing where one of the edits would be refused without those that are missing, or nothing would be left. */
const takeAll = (view: ViewState, edits: ReadonlyArray<Edit>): Taken | undefined => {
  const draft = new Draft(view)
  const taken: Array<Accepted> = []
  for (const edit of edits) {
    const result = accept(draft, edit, { guard: true })
    if (typeof result === "string") return undefined
    taken.push({ ...result, edit })
  }
  return draft.opening === undefined ? undefined : { edits: taken, totals: draft.totals }
}

/** The same edits, with one fold in the place of a fold that was folded away again. */
const joined = (edits: ReadonlyArray<Edit>): ReadonlyArray<Edit> => {
  const folds = edits.filter((e) => e.kind === "fold")
  const ids = new Set(folds.map((e) => e.id))
  const again = new Map(
    folds.flatMap((e) => (e.items.length === 1 && ids.has(e.items[0]!) ? [[e.items[0]!, e]] : []))
  )
  return edits.flatMap((e): ReadonlyArray<Edit> => {
    if (e.kind !== "fold") return [e]
    if (again.get(e.items[0]!) === e) return []
    const { basis, data, text } = again.get(e.id) ?? e
    return [EditOf.fold(e.items, text, basis, data)]
  })
}

/** The same folds without their notes. */
const silent = (edits: ReadonlyArray<Edit>): ReadonlyArray<Edit> =>
  edits.map((e) => (e.kind === "fold" ? EditOf.fold(e.items, null, e.basis, e.data) : e))

/** How many edits that change nothing any more are looked at: each look takes all the others again. */
const TRIES = 100

/** Keeps only the edits without which the target would be missed; those made last are spared first. */
const minimal = (
  view: ViewState,
  made: ReadonlyArray<Edit>,
  needed: ReadonlySet<string>,
  target: Target
): ReadonlyArray<Edit> => {
  const accepted = joined(made)
  const unfit = new Set([...needed].map((block) => splitBlockId(block)[0]))
  const folded = new Set<string>()
  /** What the folds are made of that hold an image which has to go. */
  const holding = new Set<string>()
  const membersOf = new Map(view.items.map(({ id, members }) => [id, members]))
  for (const edit of accepted) {
    if (edit.kind !== "fold") continue
    for (const id of edit.items) {
      for (const m of membersOf.get(id) ?? []) {
        folded.add(m)
        if (unfit.has(m)) holding.add(id)
      }
    }
  }
  const isIn = (ids: ReadonlySet<string>, block: string) => ids.has(splitBlockId(block)[0])
  const isFixed = (edit: Edit): boolean =>
    edit.kind === "fold"
      ? edit.items.some((id) => holding.has(id))
      : edit.kind === "replace" && needed.has(edit.block)
  let tries = TRIES
  /** One round over all of them. */
  const spare = (from: Taken): Taken => {
    let kept = from
    const later = new Set<string>()
    for (const { delta, edit } of from.edits.toReversed()) {
      // A block that a later edit took further, or away with its group, is as it is without this one.
      const isLast = edit.kind !== "replace" || !(later.has(edit.block) || isIn(folded, edit.block))
      if (edit.kind === "replace") later.add(edit.block)
      if (!isLast && tries-- <= 0) continue
      // The sum says at once where an edit can't be spared; where it may be, the view without it decides.
      if (isLast && (isFixed(edit) || !meets(view, less(kept.totals, delta), target))) continue
      const others = kept.edits.flatMap((k) => (k.edit === edit ? [] : [k.edit]))
      const without = takeAll(view, others)
      if (without !== undefined && meets(view, without.totals, target)) kept = without
    }
    return kept
  }
  const visible = accepted.filter((e) => e.kind !== "replace" || !isIn(folded, e.block))
  // A note that only pays beside what was cut in its fold before is not worth that.
  let kept = takeAll(view, visible) ?? takeAll(view, silent(visible)) ?? takeAll(view, made)
  if (kept === undefined) return made
  // What stands for a tiny image costs more than it does: without it, others may be spared too.
  for (;;) {
    const next = spare(kept)
    if (next === kept) return kept.edits.map((k) => k.edit)
    kept = next
  }
}

const guard = (view: ViewState, lowWater: number): ReadonlyArray<Edit> => {
  const { limits, usage } = view
  const unfit = new Set(unfitImages(view))
  // Where images or bytes are over a limit, what stands for a tiny image may cost more tokens than it does.
  const dearer =
    unfit.size > 0 ||
    usage.images > limits.images ||
    usage.imageBytes > limits.imageBytes ||
    usage.requestBytes > limits.requestBytes
  const draft = new Draft(view)
  const accepted: Array<Edit> = []
  const take = (edit: Edit): boolean => {
    const result = accept(draft, edit, { guard: true })
    if (typeof result === "string") return false
    if (result.delta.tokens > 0 && edit.kind === "replace" && !dearer) {
      result.undo()
      return false
    }
    accepted.push(result.edit)
    return true
  }
  const isMet = (target: Target): boolean => meets(view, draft.totals, target)
  /** Takes edits one by one until the target is met. */
  const down = (edits: Iterable<Edit>, target: Target): void => {
    for (const edit of edits) {
      if (isMet(target)) return
      take(edit)
    }
  }
  const imagesDown = (images: ReadonlyArray<ImageRef>, reason: string, target?: Target): void => {
    for (const image of images) {
      if (target !== undefined && isMet(target)) return
      imageSteps(view, image, reason).some(take)
    }
  }
  /** What text can do nothing about is left to the images. */
  const textHelps = (target: Target): boolean =>
    !meets(view, { ...draft.totals, images: 0, imageBytes: 0 }, target)
  imagesDown(
    view.images.filter((i) => unfit.has(i.block)),
    "over a limit for single images"
  )
  const low = targetOf(view, lowWater)
  const limit = targetOf(view, 1)
  imagesDown(oldImages(view), "over the limit", low)
  if (textHelps(low)) down(textRungs(view, draft), low)
  if (textHelps(low)) {
    down(
      groupsOut(view, draft, (totals) => meets(view, totals, low)),
      low
    )
  }
  if (isMet(low)) return minimal(view, accepted, unfit, low)
  if (textHelps(limit)) down(softRungs(view, draft, limit.tokens), limit)
  imagesDown(softImages(view), "over the limit", limit)
  // What stands for images costs tokens itself.
  if (textHelps(limit))
    down(
      groupsOut(view, draft, (totals) => meets(view, totals, limit)),
      limit
    )
  if (textHelps(limit)) down(softRungs(view, draft, limit.tokens), limit)
  if (textHelps(limit)) down(lastRungs(view, draft), limit)
  // What can't be made to fit is sent as small as it gets: nothing of it is spared.
  return isMet(limit) ? minimal(view, accepted, unfit, limit) : accepted
}

/**
 * The guard: makes a view fit its limits, cheapest sufficient step first, and goes down to a low-water mark
 * so that the next requests are free. Old images become cards, old results are clipped to head and tail,
 * long arguments too, old reasoning goes, then the oldest groups with one note of what left. What is softly
 * protected is touched last and only down to the limit itself; what is hard-protected never.
 *
 * Fails with `ConfigError` where `lowWater` is not between 0.1 and 1.
 *
 * @example
 * ```ts
 * import { hardLimit } from "@varve/core/HardLimit"
 *
 * console.log(hardLimit({ lowWater: 0.8 }).name) // => hardLimit
 * ```
 */
export const hardLimit = (options: HardLimitOptions = {}): Strategy => {
  const { lowWater = 0.7 } = decodeOptions(Options, options, "hardLimit")
  return make(
    "hardLimit",
    Effect.succeed((view: View) =>
      Effect.sync(() =>
        view instanceof ViewState
          ? guard(view, lowWater).map((edit) => EditOf.proposal("over a limit", [edit]))
          : []
      )
    ),
    { guard: true }
  )
}

import type { ImageRef, View } from "@varve/core/View"
import { difference } from "../NearIdentical.ts"
import { isCheaper } from "../Thumbnail.ts"
import type { Settings } from "./options.ts"
import type { Made, Order, Small } from "./shrink.ts"
import { twinKey } from "./twins.ts"

/** What an image becomes. */
export type Step =
  | { readonly to: "card"; readonly reason: string }
  | { readonly to: "copy"; readonly small: Small; readonly limit?: string }

/** Work that a plan would like to have, or has to have, done. */
export interface Wish {
  readonly image: ImageRef
  readonly order: Order
}

/** Looks up what came of an order. */
export type Find = (image: ImageRef, order: Order) => Made | undefined

export interface Ladder {
  /** By position in the view's images. */
  readonly steps: ReadonlyMap<number, Step>
  /** Without these the plan is not complete. */
  readonly missing: ReadonlyArray<Wish>
  /** These will be needed later. */
  readonly ahead: ReadonlyArray<Wish>
}

const OLDER = "an older screenshot"
const NEXT = "screen as in the next step"
const NEAR = "screen nearly as in the next step"
const LATER = "the same screen came again later"

/**
 * The ladder: from the newest image back, those that a later one repeats leave, then so many stay, then so many
 * become thumbnails, and what is older cards. It depends on the view and on what the images are alone, so that
 * a restart decides the same.
 */
export const planLadder = (view: View, settings: Settings, find: Find): Ladder => {
  const { images } = view
  const { exact, keep, near, thumbnails } = settings
  // A thumbnail that is over the provider's edge would have to leave again.
  const look = settings.look && {
    ...settings.look,
    edge: Math.min(settings.look.edge, view.limits.maxEdge)
  }
  const steps = new Map<number, Step>()
  const missing: Array<Wish> = []
  const ahead: Array<Wish> = []
  const order: Order = { look, grey: near !== undefined }
  const working = look !== undefined || near !== undefined
  const later = new Map<number, Array<ImageRef>>()
  const last = images.length - 1
  // The newest is read when it arrives, to be compared once the next one is there. Where nothing else stays
  // as it is, the one before it can't wait so long.
  const settled = last - (keep >= 2 ? 1 : 0)
  let seen = 0

  const isFree = ({ block }: ImageRef): boolean => view.protection(block) === undefined
  const got = (image: ImageRef): Made | undefined => {
    const made = find(image, order)
    if (made === undefined) missing.push({ image, order })
    return made
  }
  const isNear = (image: ImageRef, at: number): boolean => {
    const next = images[at + 1]
    if (near === undefined || next === undefined || at + 1 > settled) return false
    const adjacent = next.rank === 0 && next.ordinal === image.ordinal + 1
    if (!adjacent || image.ordinal % near.streak === 0) return false
    if (image.data === undefined || next.data === undefined) return false
    if (image.size?.width !== next.size?.width || image.size?.height !== next.size?.height)
      return false
    const a = got(image)
    const b = got(next)
    return (
      a?.grey !== undefined && b?.grey !== undefined && difference(a.grey, b.grey) <= near.threshold
    )
  }
  const repeated = (image: ImageRef, at: number): string | undefined => {
    if (!exact || image.rank !== 0 || at === last) return undefined
    const twin = later.get(twinKey(image))?.findLast((other) => other.data === image.data)
    if (twin !== undefined) return twin.ordinal === image.ordinal + 1 ? NEXT : LATER
    return seen < keep + thumbnails && isNear(image, at) ? NEAR : undefined
  }
  const smaller = (image: ImageRef, edge: number): Step | undefined => {
    const readable = image.data !== undefined && image.size !== undefined
    if (readable && !isCheaper(image, edge, view.counter)) return undefined
    if (image.data === undefined) return { to: "card", reason: OLDER }
    const made = readable ? got(image) : { fault: "it is not an image of a known kind" }
    if (made?.fault !== undefined) return { to: "card", reason: `no thumbnail, ${made.fault}` }
    return made?.small !== undefined && made.small.data.length < image.bytes
      ? { to: "copy", small: made.small }
      : undefined
  }

  for (let at = last; at >= 0; at--) {
    const image = images[at]!
    const reason = repeated(image, at)
    if (reason !== undefined && isFree(image)) {
      steps.set(at, { to: "card", reason })
      continue
    }
    seen++
    if (exact && image.rank === 0 && image.data !== undefined) {
      const key = twinKey(image)
      const twins = later.get(key)
      if (twins === undefined) later.set(key, [image])
      else twins.push(image)
    }
    if (at === last || seen <= keep) {
      if (working && image.rank === 0 && image.size !== undefined) ahead.push({ image, order })
    } else if (seen > keep + thumbnails) {
      if (isFree(image)) steps.set(at, { to: "card", reason: OLDER })
    } else if (look !== undefined && isFree(image)) {
      const step = image.rank === 0 ? smaller(image, look.edge) : tooLarge(image, look.edge)
      if (step !== undefined) steps.set(at, step)
    }
  }
  return { steps, missing, ahead }
}

/** A copy that a limit asked for while the image was one of the newest is no thumbnail, and can't become one. */
const tooLarge = ({ size }: ImageRef, edge: number): Step | undefined =>
  Math.max(size?.width ?? 0, size?.height ?? 0) > edge ? { to: "card", reason: OLDER } : undefined

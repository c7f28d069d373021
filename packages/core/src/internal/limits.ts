import type { View } from "../View.ts"
import type { Budget, Limits } from "../Budget.ts"
import { resolveLimits, SAFETY_MARGIN } from "../Budget.ts"
import type { Profile } from "../Profile.ts"
import type { ConfigIssue } from "../VarveError.ts"

/** One limit that a view is over. */
export interface Over {
  readonly axis: string
  readonly limit: number
  readonly needed: number
}

/** The limits that a view is over, tokens first. */
export const overLimits = (view: View): ReadonlyArray<Over> => {
  const { usage, limits } = view
  const over: Array<Over> = []
  const check = (axis: string, needed: number, limit: number): void => {
    if (needed > limit) over.push({ axis, limit, needed })
  }
  check("tokens", usage.tokens, limits.tokens)
  check("request bytes", usage.requestBytes, limits.requestBytes)
  check("messages", usage.messages, limits.messages)
  if (usage.images > 0) {
    check("images", usage.images, limits.images)
    check("image bytes", usage.imageBytes, limits.imageBytes)
    imageOver(view, limits, check)
  }
  return over
}

const imageOver = (
  view: View,
  limits: Limits,
  check: (axis: string, needed: number, limit: number) => void
): void => {
  const { manyImages } = limits
  const single = [
    limits.maxEdge,
    limits.maxPixels,
    limits.bytesPerImage,
    limits.imagesPerMessage
  ].some(Number.isFinite)
  if (!single && manyImages === undefined) return
  const edgeLimit = edgeOf(limits, view.usage.images)
  let edge = 0
  let pixels = 0
  let bytes = 0
  let message = ""
  let inMessage = 0
  let most = 0
  for (const image of view.images) {
    edge = Math.max(edge, image.size?.width ?? 0, image.size?.height ?? 0)
    pixels = Math.max(pixels, (image.size?.width ?? 0) * (image.size?.height ?? 0))
    bytes = Math.max(bytes, image.bytes)
    inMessage = image.message === message ? inMessage + 1 : 1
    message = image.message
    most = Math.max(most, inMessage)
  }
  check("px of an edge", edge, edgeLimit)
  check("pixels of one image", pixels, limits.maxPixels)
  check("bytes of one image", bytes, limits.bytesPerImage)
  check("images in one message", most, limits.imagesPerMessage)
}

/** The longest edge that an image may have among so many. */
export const edgeOf = (limits: Limits, images: number): number => {
  const many = limits.manyImages
  return many !== undefined && images > many.over
    ? Math.min(limits.maxEdge, many.maxEdge)
    : limits.maxEdge
}

const leavesRoom = (reserve: number, { contextWindow: window }: Profile): boolean =>
  window === 0 || reserve < window - Math.ceil(window * SAFETY_MARGIN)

/** What is wrong with a budget's output reserve that leaves a window no room: no request could ever fit. */
export const roomIssues = (
  { reserveOutput: reserve }: Budget,
  profile: Profile
): ReadonlyArray<ConfigIssue> => {
  if (reserve === undefined || leavesRoom(reserve, profile)) return []
  const { contextWindow: window, model } = profile
  const allowed = `less than the window of ${model}, which is ${window}, less a margin of a fiftieth`
  return [{ path: "budget.reserveOutput", given: String(reserve), allowed }]
}

/** Says that a profile's own output reserve leaves no room, and what holds instead. */
export const roomWarnings = (budget: Budget, profile: Profile): ReadonlyArray<string> => {
  const { contextWindow: window, model, reserveOutput: reserve } = profile
  if (budget.reserveOutput !== undefined || leavesRoom(reserve, profile)) return []
  const { tokens } = resolveLimits({}, profile)
  return [
    `the profile of ${model} keeps ${reserve} tokens for the answer, of a window of ${window}: a quarter of ` +
      `the window is kept instead, and ${tokens} are left for the request; budget.reserveOutput says otherwise`
  ]
}

import type { Limits } from "@varve/core/Budget"

/** An image of a request, as far as limits care. Bytes are bytes of base64. */
export interface HeldImage {
  readonly message: string
  readonly width: number
  readonly height: number
  readonly bytes: number
  /** True where it must stay as it is. */
  readonly fixed: boolean
  /** True where a smaller copy can be made. */
  readonly scalable: boolean
}

/** What has to become of an image, and the limit that asks for it. */
export type LimitStep =
  | { readonly to: "card"; readonly limit: string }
  /** A copy whose longest edge is at most `edge` px; a thumbnail, where it has to be small. */
  | {
      readonly to: "copy"
      readonly edge: number
      readonly thumbnail: boolean
      readonly limit: string
    }

/** Sums go down to this share of their limit, so that the next images don't ask again at once. */
const LOW_WATER = 0.7

/** Share of its bytes that a thumbnail is taken to have before it is made. */
const THUMBNAIL_SHARE = 0.1

interface State {
  readonly image: HeldImage
  readonly at: number
  edge: number
  bytes: number
  scalable: boolean
}

const longest = ({ width, height }: HeldImage): number => Math.max(width, height)

/**
 * What has to become of the images of a request so that it is within the limits: oldest first, as few as are
 * enough, a smaller copy rather than a card where one can be made. Gives steps by the images' positions.
 *
 * Limits: pixels of an edge and of an image, bytes of an image, images in a message and in a request, the longer
 * edges that few images may have, bytes of all images, bytes of the request (`requestBytes`, all in).
 *
 * @example
 * ```ts
 * import { planLimits } from "@varve/strategy-screenshot-prune/ImageLimits"
 *
 * const image = { message: "m1", width: 1280, height: 720, bytes: 90_000, fixed: false, scalable: true }
 * const steps = planLimits([image, image], { images: 1 }, 0)
 * console.log(steps.get(0)) // => { to: 'card', limit: '1 image in a request' }
 * ```
 */
export const planLimits = (
  images: ReadonlyArray<HeldImage>,
  limits: Partial<Limits>,
  requestBytes: number
): ReadonlyMap<number, LimitStep> => {
  const steps = new Map<number, LimitStep>()
  let alive = images.map((image, at): State => {
    const { bytes, fixed, scalable } = image
    return { image, at, edge: longest(image), bytes, scalable: scalable && !fixed }
  })
  const card = (state: State, limit: string): void => {
    steps.set(state.at, { to: "card", limit })
    alive = alive.filter((s) => s !== state)
  }
  const copy = (state: State, limit: string, edge: number, thumbnail = false): void => {
    state.edge = Math.min(state.edge, edge)
    state.scalable = !thumbnail
    steps.set(state.at, { to: "copy", edge: state.edge, thumbnail, limit })
  }
  const down = (state: State, limit: string, edge: number): void =>
    state.scalable ? copy(state, limit, edge) : card(state, limit)
  /** Cards, oldest first, until so few are left. */
  const fewer = (most: number, limit: string, among: (s: State) => boolean = () => true): void => {
    let left = alive.filter(among).length
    for (const state of alive.filter((s) => among(s) && !s.image.fixed)) {
      if (left <= most) return
      card(state, limit)
      left--
    }
  }
  const low = (limit: number): number => Math.max(1, Math.floor(limit * LOW_WATER))

  const { maxEdge = Infinity, maxPixels = Infinity, bytesPerImage = Infinity } = limits
  /** It can't stay whatever else goes: no room has to be made for it. */
  const isLost = ({ bytes, edge, image }: State): boolean =>
    image.fixed &&
    (edge > maxEdge || image.width * image.height > maxPixels || bytes > bytesPerImage)
  for (const state of alive.filter(({ image }) => !image.fixed)) {
    const { image } = state
    const pixels = image.width * image.height
    const shrunk =
      pixels > maxPixels ? Math.floor(state.edge * Math.sqrt(maxPixels / pixels)) : Infinity
    if (state.edge > maxEdge)
      down(state, count(maxEdge, "px", "of an edge"), Math.min(maxEdge, shrunk))
    else if (pixels > maxPixels) down(state, count(maxPixels, "px", "of an image"), shrunk)
    else if (state.bytes > bytesPerImage) {
      down(state, count(bytesPerImage, "bytes", "of an image"), state.edge)
      state.bytes = Math.min(state.bytes, bytesPerImage)
    }
  }

  const { imagesPerMessage = Infinity, images: most = Infinity } = limits
  for (const message of crowded(alive, imagesPerMessage)) {
    fewer(
      imagesPerMessage,
      images1(imagesPerMessage, "in a message"),
      (s) => s.image.message === message
    )
  }
  if (alive.length > most) fewer(low(most), images1(most, "in a request"))

  const { manyImages: many } = limits
  if (many !== undefined && alive.length > many.over) {
    const limit =
      `${many.maxEdge} px of an edge among more than ${count(many.over, "images", "")}`.trim()
    const large = alive.filter((s) => s.edge > many.maxEdge && !isLost(s))
    const stuck = large.filter((s) => !s.scalable)
    const spare = alive.length - many.over
    // Either no image is too large for so many, or there are not so many: whichever takes fewer cards.
    if (large.length > 0 && stuck.length <= spare && !stuck.some((s) => s.image.fixed)) {
      for (const state of large) down(state, limit, many.maxEdge)
    } else if (large.length > 0 && alive.filter((s) => s.image.fixed).length <= many.over)
      fewer(low(many.over), limit)
  }

  const { imageBytes = Infinity, requestBytes: mostRequest = Infinity } = limits
  const all = images.reduce((sum, image) => sum + image.bytes, 0)
  const bytes = (): number => alive.reduce((sum, s) => sum + s.bytes, 0)
  for (const [other, limit, name] of [
    [0, imageBytes, count(imageBytes, "bytes", "of images")],
    [requestBytes - all, mostRequest, count(mostRequest, "bytes", "of a request")]
  ] as const) {
    const over = (share: number): boolean => other + bytes() > limit * share
    if (!over(1)) continue
    for (const state of alive.filter((s) => s.scalable)) {
      if (!over(LOW_WATER)) break
      copy(state, name, state.edge, true)
      state.bytes *= THUMBNAIL_SHARE
    }
    for (const state of alive.filter(({ image }) => !image.fixed)) {
      if (!over(LOW_WATER)) break
      card(state, name)
    }
  }
  return steps
}

const count = (n: number, unit: string, of: string): string => `${n} ${unit} ${of}`

const images1 = (n: number, where: string): string =>
  `${n} ${n === 1 ? "image" : "images"} ${where}`

/** The messages that hold more images than are allowed. */
const crowded = (alive: ReadonlyArray<State>, most: number): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { image } of alive) counts.set(image.message, (counts.get(image.message) ?? 0) + 1)
  return [...counts].filter(([, n]) => n > most).map(([message]) => message)
}

import type { ImageRef } from "@varve/core/View"

const keys = new WeakMap<ImageRef, string>()

/** Characters at each of the places that are looked at. */
const WINDOW = 8
const PLACES = 24

/**
 * A short key that equal images share and others seldom do: length and some places of the base64. Whoever
 * has two images of one key compares them whole; nothing is decoded, and no long text keys a map.
 */
export const twinKey = (image: ImageRef): string => {
  let key = keys.get(image)
  if (key === undefined) {
    const data = image.data ?? ""
    const parts = [String(data.length), data.slice(-WINDOW)]
    for (let i = 1; i <= PLACES; i++) {
      const at = Math.floor((data.length * i) / (PLACES + 1))
      parts.push(data.slice(at, at + WINDOW))
    }
    keys.set(image, (key = parts.join(" ")))
  }
  return key
}

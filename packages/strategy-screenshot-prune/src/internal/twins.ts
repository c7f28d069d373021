import type { ImageRef } from "@varve/core/View"

const keys = new WeakMap<ImageRef, number>()

/** Characters at each of the places that are looked at. */
const WINDOW = 8
const PLACES = 24

/**
 * A number that equal images share and others seldom do: of the length and some places of the base64. Whoever
 * has two images of one key compares them whole; nothing is decoded, and no long text keys a map.
 */
export const twinKey = (image: ImageRef): number => {
  let key = keys.get(image)
  if (key === undefined) {
    const data = image.data ?? ""
    key = data.length
    for (let place = 1; place <= PLACES + 1; place++) {
      const at = Math.floor((data.length * place) / (PLACES + 1))
      const from = Math.max(0, Math.min(at, data.length - WINDOW))
      for (let i = from; i < Math.min(from + WINDOW, data.length); i++)
        key = Math.imul(key ^ data.charCodeAt(i), 0x01000193)
    }
    keys.set(image, key)
  }
  return key
}

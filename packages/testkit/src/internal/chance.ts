/** A number from 0 to below 1 that depends on its arguments alone. */
export const chance = (...keys: ReadonlyArray<string | number | undefined>): number => {
  let h = 0x811c9dc5
  for (const key of keys) {
    const text = String(key)
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
    h = Math.imul(h ^ 0x7c, 0x01000193)
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return ((h ^ (h >>> 16)) >>> 0) / 0x1_0000_0000
}

/** A whole number from 0 to below `n`. */
export const below = (n: number, ...keys: ReadonlyArray<string | number | undefined>): number =>
  Math.floor(chance(...keys) * n)

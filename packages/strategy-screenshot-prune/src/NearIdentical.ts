/** A small grey copy of a screen, one byte a cell, row by row. */
export interface Grey {
  readonly width: number
  readonly height: number
  readonly cells: Uint8Array
}

/** Longest edge of a grey copy: on a screen of 1 280 px a cell is 10 px wide, a letter or two. */
export const GREY_EDGE = 128

/** Grey levels, of 255, from which on a cell counts as another: below lie noise and compression. */
const STEP = 12

/**
 * The share of cells, 0 to 1, that differ between two screens: 1 where they have other sizes.
 *
 * @example
 * ```ts
 * import { difference } from "@varve/strategy-screenshot-prune/NearIdentical"
 *
 * const grey = (...cells: Array<number>) => ({ width: 2, height: 2, cells: Uint8Array.from(cells) })
 * console.log(difference(grey(0, 0, 0, 0), grey(0, 3, 0, 200))) // => 0.25
 * ```
 */
export const difference = (a: Grey, b: Grey): number => {
  if (a.width !== b.width || a.height !== b.height || a.cells.length !== b.cells.length) return 1
  let other = 0
  for (let i = 0; i < a.cells.length; i++) if (Math.abs(a.cells[i]! - b.cells[i]!) > STEP) other++
  return a.cells.length === 0 ? 0 : other / a.cells.length
}

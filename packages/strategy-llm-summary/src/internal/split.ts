import { clipText } from "@varve/core/Clip"
import type { Material } from "@varve/core/Summarizer"

type Count = (text: string) => number

/** Where a piece of at most so many units may end: behind a line, else behind a word, never inside a character. */
const endOf = (text: string, most: number): number => {
  if (most >= text.length) return text.length
  const units = Math.max(2, most)
  const least = Math.floor(units * 0.8)
  for (const border of ["\n", " "]) {
    const at = text.lastIndexOf(border, units - 1)
    if (at >= least) return at + 1
  }
  const unit = text.charCodeAt(units)
  return units > 2 && unit >= 0xdc00 && unit < 0xe000 ? units - 1 : units
}

/** A text in pieces of at most `room` tokens; together they are the text. */
export const cutText = (text: string, room: number, count: Count): Array<string> => {
  const pieces: Array<string> = []
  let rest = text
  let units = rest.length
  while (rest !== "") {
    let end = endOf(rest, units)
    let tokens = count(rest.slice(0, end))
    while (tokens > room && end > 2) {
      end = endOf(rest, Math.floor((end * room) / tokens))
      tokens = count(rest.slice(0, end))
    }
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
    // What follows may be lighter.
    units = Math.ceil(end * 1.1)
  }
  return pieces
}

/** One piece of material in pieces that say which they are. */
const cutMaterial = (
  material: Material,
  room: number,
  cost: (material: Material) => number,
  count: Count
): ReadonlyArray<Material> => {
  if (cost(material) <= room) return [material]
  const { from, text } = material
  const own = cost({ from: `${from} (999 of 999)`, text: "" })
  const pieces = cutText(text, Math.max(1, room - own), count)
  return pieces.map((piece, i) => ({ from: `${from} (${i + 1} of ${pieces.length})`, text: piece }))
}

const fill = (
  material: ReadonlyArray<Material>,
  room: number,
  cost: (material: Material) => number,
  count: Count
): Array<Array<Material>> => {
  const parts: Array<Array<Material>> = []
  let left = 0
  for (const piece of material.flatMap((m) => cutMaterial(m, room, cost, count))) {
    const tokens = cost(piece)
    if (parts.length === 0 || tokens > left) {
      parts.push([])
      left = room
    }
    parts.at(-1)!.push(piece)
    left -= tokens
  }
  return parts
}

/**
 * Material in parts of at most `room` tokens each, in order. Where that would be more than `most` parts, long
 * texts are clipped in their middle, then the oldest parts are left out, each with a note that says so.
 */
export const splitMaterial = (
  material: ReadonlyArray<Material>,
  room: number,
  most: number,
  cost: (material: Material) => number,
  count: Count
): ReadonlyArray<ReadonlyArray<Material>> => {
  let parts = fill(material, room, cost, count)
  for (let limit = room; parts.length > most && limit > room / 64; limit /= 2) {
    const clipped = material.map(({ from, text }) => ({ from, text: clipText(text, limit, count) }))
    parts = fill(clipped, room, cost, count)
  }
  if (parts.length <= most) return parts
  const out = parts.slice(0, parts.length - most + 1).reduce((sum, part) => sum + part.length, 0)
  const note = { from: "note", text: `[… ${out} earlier pieces left out …]` }
  return [[note], ...parts.slice(parts.length - most + 1)]
}

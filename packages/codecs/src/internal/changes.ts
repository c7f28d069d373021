import type { Block, Message } from "@varve/core/Message"
import { blocksOf, imageOf, isTail } from "@varve/core/Message"

type Kind = "image" | "text" | "other"

const kindOf = (block: Block): Kind =>
  imageOf(block) !== undefined ? "image" : block?.type === "text" ? "text" : "other"

/**
 * What became of each block of a message: itself, nothing, or what was put in its place. A message of one
 * string has one block. Blocks that stayed are found by object, calls by id; between them the new ones
 * stand for those that are missing, in order and by kind.
 */
export const changes = (before: Message, after: Message): ReadonlyArray<ReadonlyArray<Block>> => {
  const now = blocksOf(after)
  if (typeof before.content === "string") return [now]
  const was = blocksOf(before)
  const out: Array<Array<Block>> = was.map(() => [])
  const tail = now.filter(isTail)
  let from = 0
  let fresh: Array<Block> = []
  for (const block of now) {
    if (isTail(block)) continue
    const at = found(was, block, from)
    if (at === undefined) {
      fresh.push(block)
      continue
    }
    spread(was, out, from, at, fresh)
    fresh = []
    out[at]!.push(block)
    from = at + 1
  }
  spread(was, out, from, was.length, fresh)
  out.at(-1)?.push(...tail)
  return out
}

/**
 * What is written in the place of a block: the host's own part where it stayed, else parts that `make` gives. The
 * last of those carries the cache mark of the part that it stands for; what stands at the tail never does.
 */
export const written = <A>(
  blocks: ReadonlyArray<Block>,
  was: Block | undefined,
  from: unknown,
  make: (block: Block, like: unknown, carriesMark: boolean) => A
): ReadonlyArray<A> => {
  const carrier = blocks.includes(was!) ? undefined : blocks.findLast((block) => !isTail(block))
  return blocks.map((block) => (block === was ? (from as A) : make(block, from, block === carrier)))
}

const found = (was: ReadonlyArray<Block>, block: Block, from: number): number | undefined => {
  // Several calls may have one id: the object comes first.
  const itself = was.indexOf(block, from)
  if (itself >= 0) return itself
  for (let i = from; i < was.length; i++) {
    const other = was[i]
    if (
      block?.type === "toolCall" &&
      other?.type === "toolCall" &&
      (other as { readonly id?: unknown }).id === block.id
    )
      return i
  }
  return undefined
}

/** Gives the new blocks between two that stayed to those that are missing there. */
const spread = (
  was: ReadonlyArray<Block>,
  out: ReadonlyArray<Array<Block>>,
  from: number,
  to: number,
  fresh: ReadonlyArray<Block>
): void => {
  if (fresh.length === 0) return
  // Reasoning and calls are never replaced by other blocks, but where nothing else was there.
  let missing: Array<number> = []
  for (let i = from; i < to; i++) {
    if (was[i]?.type !== "thinking" && was[i]?.type !== "toolCall") missing.push(i)
  }
  if (missing.length === 0) for (let i = from; i < to; i++) missing.push(i)
  if (missing.length === 0) missing = [Math.max(0, from - 1)]
  let next = 0
  fresh.forEach((block, k) => {
    const last = missing.length - Math.max(0, fresh.length - 1 - k)
    let at = Math.min(next, missing.length - 1)
    for (let i = next; i < last; i++) {
      if (kindOf(was[missing[i]!]!) === kindOf(block)) {
        at = i
        break
      }
    }
    out[missing[at]!]?.push(block)
    next = at + 1
  })
}

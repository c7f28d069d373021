import { Edit, strategy } from "@varve/core"
import type { Strategy } from "@varve/core/Strategy"

/** Keeps the newest images; a few words stand for each of the others. */
export const keepImages = (keep: number): Strategy =>
  strategy(`keepImages ${keep}`, (view) =>
    view.images
      .slice(0, keep === 0 ? undefined : -keep)
      .filter((image) => view.protection(image.block) === undefined)
      .map((image) => Edit.replace(image.block, "[screenshot removed]"))
  )

/** Keeps the newest `keep` results of tools whole; of older ones head and tail, `chars` characters each. */
export const clipResults = (keep: number, chars = 400): Strategy =>
  strategy(`clipResults ${keep}`, (view) =>
    view.results
      .slice(0, keep === 0 ? undefined : -keep)
      .filter(
        ({ block, rank, text }) =>
          rank === 0 && text.length > 3 * chars && view.protection(block) === undefined
      )
      .map(({ block, text }) =>
        Edit.replace(
          block,
          `${text.slice(0, chars)}\n[${text.length - 2 * chars} characters removed]\n${text.slice(-chars)}`
        )
      )
  )

import type { Message } from "@varve/core"
import { Commit, createMemory, Edit, strategy } from "@varve/core"
import type { MemoryOptions } from "@varve/core/Memory"
import type { Strategy } from "@varve/core/Strategy"

/** What a policy gives for one request. */
export interface Answer {
  readonly messages: ReadonlyArray<Message>
  /** Reasoning blocks that the provider drops because of this request's edits. */
  readonly reasoningLost: number
  /** Messages behind which the host sets a cache mark; without them, the last one alone. */
  readonly marks?: ReadonlyArray<number>
}

/** A way to keep the context of one run small. Made anew for each run. */
export interface Policy {
  readonly name: string
  readonly start: (options: Pick<MemoryOptions, "profile" | "counter">) => {
    readonly prepare: (history: ReadonlyArray<Message>) => Promise<Answer>
    readonly close: () => Promise<void>
  }
}

/** Sends the whole history. */
export const nothing: Policy = {
  name: "nothing",
  start: () => ({
    prepare: async (messages) => ({ messages, reasoningLost: 0 }),
    close: async () => {}
  })
}

/** A memory as a policy. With `marks` the host sets the cache marks that `prepare` proposes. */
export const memoryPolicy = (
  name: string,
  options: MemoryOptions,
  { marks = false }: { readonly marks?: boolean } = {}
): Policy => ({
  name: marks ? `${name} + marks` : name,
  start: (given) => {
    const memory = createMemory({ ...given, ...options })
    return {
      prepare: async (history) => {
        const prepared = await memory.prepare(history)
        await memory.flush()
        const { messages, report } = prepared
        const reasoningLost = report.reasoning.lost
        return marks
          ? { messages, reasoningLost, marks: prepared.marks }
          : { messages, reasoningLost }
      },
      close: memory.close
    }
  }
})

/** Keeps the newest images; a few words stand for each of the others. */
export const keepImages = (keep: number): Strategy =>
  strategy("keepImages", (view) =>
    view.images
      .slice(0, keep === 0 ? undefined : -keep)
      .filter((image) => view.protection(image.block) === undefined)
      .map((image) => Edit.replace(image.block, "[screenshot removed]"))
  )

/** What a policy of kept images may have besides. */
export interface KeepOptions {
  /** True where the host sets the cache marks that `prepare` proposes. */
  readonly marks?: boolean
}

/** Keeps the newest `keep` images and takes one out in every step, as a sliding window does. */
export const slide = (keep: number, options?: KeepOptions): Policy =>
  memoryPolicy(`slide ${keep}`, { pipeline: [keepImages(keep)], commit: Commit.immediate }, options)

/** Keeps the newest `keep` images and takes the others out `size` at a time. */
export const interval = (keep: number, size: number, options?: KeepOptions): Policy =>
  memoryPolicy(
    `interval ${keep}/${size}`,
    { pipeline: [keepImages(keep)], commit: Commit.batched({ size }) },
    options
  )

/** Keeps the newest `keep` images; the others go when that pays. */
export const whenItPays = (
  keep: number,
  options: KeepOptions & { readonly expectedRequests?: number } = {}
): Policy =>
  memoryPolicy(
    `when it pays ${keep}`,
    { pipeline: [keepImages(keep)], commit: Commit.whenItPays(options) },
    options
  )

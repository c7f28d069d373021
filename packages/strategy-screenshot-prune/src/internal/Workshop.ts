import { createHash } from "node:crypto"
import type { Beside } from "@varve/core/Beside"
import type { Store } from "@varve/core/Store"
import type { ImageRef } from "@varve/core/View"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { availableParallelism } from "node:os"
import type { Made, Order } from "./shrink.ts"
import { shrink } from "./shrink.ts"

/** Images that are decoded at once, in the whole process: each may take a few hundred MB for a moment. */
const slots = Semaphore.makeUnsafe(Math.max(1, Math.min(4, availableParallelism())))

const nameOf = ({ look, grey }: Order): string =>
  [
    look === undefined ? "none" : `${look.edge}-${look.format}-${look.quality}`,
    grey ? "grey" : ""
  ].join("-")

const keyOf = (image: ImageRef, order: Order): string => image.block + " " + nameOf(order)

const costOf = ({ small, grey }: Made): number =>
  256 + (small?.data.length ?? 0) + (grey?.cells.length ?? 0)

/** Once the request that is being prepared has had its turn: what is made ahead must not make it wait. */
const afterwards = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

interface Job {
  readonly fiber: Fiber.Fiber<Made>
  readonly made: () => Made | undefined
}

/** Makes smaller copies of images beside the agent, each once in its life; one for each memory. */
export class Workshop {
  readonly #fork: Beside
  readonly #cacheBytes: number
  readonly #store: Store | undefined
  /** By block and order: what was asked for and still is in the view. */
  readonly #jobs = new Map<string, Job>()
  /** By content and order, least recently used first. */
  readonly #cache = new Map<string, Made>()
  readonly #running = new Map<string, Promise<Made>>()
  #cached = 0

  constructor(fork: Beside, cacheBytes: number, store: Store | undefined) {
    this.#fork = fork
    this.#cacheBytes = cacheBytes
    this.#store = store
  }

  /** What came of an order, once it is there. */
  made(image: ImageRef, order: Order): Made | undefined {
    return this.#jobs.get(keyOf(image, order))?.made()
  }

  /** True where an order was started. */
  knows(image: ImageRef, order: Order): boolean {
    return this.#jobs.has(keyOf(image, order))
  }

  /** Starts an order, unless it was; gives its fiber while it runs. */
  start(image: ImageRef, order: Order): Effect.Effect<Fiber.Fiber<Made> | undefined> {
    const key = keyOf(image, order)
    const known = this.#jobs.get(key)
    if (known !== undefined)
      return Effect.succeed(known.made() === undefined ? known.fiber : undefined)
    let done: Made | undefined
    const work = Effect.map(
      Effect.andThen(afterwards, this.#make(image, order)),
      (made) => (done = made)
    )
    return Effect.map(this.#fork(work), (fiber) => {
      this.#jobs.set(key, { fiber, made: () => done })
      return fiber
    })
  }

  /** Forgets what was made of images that are no longer there; what fits the limit stays in the cache. */
  forget(images: ReadonlyArray<ImageRef>): void {
    if (this.#jobs.size <= 32 + 2 * images.length) return
    const there = new Set(images.map((image) => image.block))
    for (const [key, job] of this.#jobs) {
      if (!there.has(key.slice(0, key.lastIndexOf(" "))) && job.made() !== undefined)
        this.#jobs.delete(key)
    }
  }

  #make(image: ImageRef, order: Order): Effect.Effect<Made> {
    const data = image.data ?? ""
    return Effect.suspend(() => {
      const key = createHash("sha256").update(data, "latin1").digest("hex") + "-" + nameOf(order)
      const cached = this.#cache.get(key)
      if (cached !== undefined) {
        this.#cache.delete(key)
        this.#cache.set(key, cached)
        return Effect.succeed(cached)
      }
      return Effect.flatMap(this.#load(key), (found) => {
        if (found === undefined)
          return Effect.tap(this.#shrink(key, image, data, order), (made) => this.#save(key, made))
        this.#keep(key, found)
        return Effect.succeed(found)
      })
    })
  }

  #shrink(key: string, image: ImageRef, data: string, order: Order): Effect.Effect<Made> {
    return slots.withPermit(
      Effect.promise(() => {
        const known = this.#cache.get(key)
        if (known !== undefined) return Promise.resolve(known)
        // Equal images that are on their way at once are decoded once.
        const running =
          this.#running.get(key) ??
          shrink(data, image.size, order).then((made) => {
            this.#running.delete(key)
            this.#keep(key, made)
            return made
          })
        this.#running.set(key, running)
        return running
      })
    )
  }

  #keep(key: string, made: Made): void {
    if (this.#cache.has(key)) return
    this.#cache.set(key, made)
    this.#cached += costOf(made)
    for (const [oldest, old] of this.#cache) {
      if (this.#cached <= this.#cacheBytes) return
      this.#cache.delete(oldest)
      this.#cached -= costOf(old)
    }
  }

  #load(key: string): Effect.Effect<Made | undefined> {
    if (this.#store === undefined) return Effect.succeed(undefined)
    return this.#store.load(storeKey(key)).pipe(
      Effect.map(({ entries }) => readMade(entries.at(-1))),
      // A store that fails costs a decoding, nothing else.
      Effect.catch(() => Effect.succeed(undefined))
    )
  }

  #save(key: string, made: Made): Effect.Effect<void> {
    if (this.#store === undefined || made.fault !== undefined) return Effect.void
    const { grey, small } = made
    const cells = grey && Buffer.from(grey.cells).toString("base64")
    const entry = { ...(small && { small }), ...(grey && { grey: { ...grey, cells } }) }
    return Effect.catch(this.#store.replace(storeKey(key), [entry]), () => Effect.void)
  }
}

const storeKey = (key: string): string => `screenshots/${key}`

const isSmall = (u: unknown): u is NonNullable<Made["small"]> => {
  const s = u as Record<string, unknown> | null
  return (
    typeof s === "object" &&
    s !== null &&
    typeof s["data"] === "string" &&
    typeof s["mimeType"] === "string" &&
    typeof s["width"] === "number" &&
    typeof s["height"] === "number"
  )
}

/** What a store gave back, or nothing where it is not what was put there. */
const readMade = (entry: unknown): Made | undefined => {
  if (typeof entry !== "object" || entry === null) return undefined
  const { grey, small } = entry as { readonly grey?: unknown; readonly small?: unknown }
  if (small !== undefined && !isSmall(small)) return undefined
  if (grey === undefined) return small === undefined ? undefined : { small }
  const { cells, height, width } = grey as Record<string, unknown>
  if (typeof cells !== "string" || typeof width !== "number" || typeof height !== "number")
    return undefined
  return {
    ...(small === undefined ? {} : { small }),
    grey: { width, height, cells: Uint8Array.from(Buffer.from(cells, "base64")) }
  }
}

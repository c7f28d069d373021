import type { Proposal } from "@varve/core/Edit"
import type { View } from "@varve/core/View"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Find, Wish } from "./ladder.ts"
import type { Plan } from "./plan.ts"
import type { Workshop } from "./Workshop.ts"

/** Longest that a request waits for images that it needs, ms; what is later comes with a later request. */
const PATIENCE = 5000

/** Rounds of planning and making: what was made may show that more has to be. */
const ROUNDS = 16

const startAll = (workshop: Workshop, wishes: ReadonlyArray<Wish>) =>
  Effect.map(
    Effect.forEach(wishes, ({ image, order }) => workshop.start(image, order)),
    (fibers) => fibers.filter((fiber) => fiber !== undefined)
  )

/**
 * Plans, has made what the plan needs, and plans again with it. Where all is there already, as it is for images
 * that came with earlier requests, nothing is waited for.
 */
export const planWith = (
  view: View,
  workshop: Workshop,
  plan: (find: Find) => Plan
): Effect.Effect<ReadonlyArray<Proposal>> =>
  Effect.suspend(() => {
    const find: Find = (image, order) => workshop.made(image, order)
    workshop.forget(view.images)
    let now = plan(find)
    const make = Effect.gen(function* () {
      for (let round = 0; round < ROUNDS && now.missing.length > 0; round++) {
        yield* Fiber.awaitAll(yield* startAll(workshop, now.missing))
        now = plan(find)
      }
    })
    const ready = now.missing.length === 0 ? Effect.void : Effect.timeoutOption(make, PATIENCE)
    return Effect.flatMap(ready, () => {
      const ahead = now.ahead.filter(({ image, order }) => !workshop.knows(image, order))
      return ahead.length === 0
        ? Effect.succeed(now.proposals)
        : Effect.as(startAll(workshop, ahead), now.proposals)
    })
  })

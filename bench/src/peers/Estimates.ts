import { hasData } from "@varve-examples/session-readers/Data"
import type { Session } from "@varve-examples/session-readers/Session"
import { sessions } from "@varve-examples/session-readers/Sessions"
import * as Effect from "effect/Effect"
import { countersOf, estimators, replay, type Estimator } from "../Accuracy.ts"
import type { Peer } from "./Peer.ts"

/** Mean error in percent: of the whole context at the next request, and of single increments. */
interface EstimateRow {
  readonly name: string
  /** By session; `null` where there is none of this kind. */
  readonly anchored: ReadonlyArray<number | null>
  readonly increments: ReadonlyArray<number | null>
}

export interface EstimatePart {
  readonly sessions: ReadonlyArray<{ readonly name: string; readonly requests: number }>
  readonly rows: ReadonlyArray<EstimateRow>
}

const mean = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : (100 * values.reduce((a, b) => a + b, 0)) / values.length

/** A peer's own count as an estimator: each message once. Images are as it takes them. */
const counted = async (peer: Peer, session: Session): Promise<Estimator> => {
  const tokens = new Map<unknown, number>()
  const none = await peer.count!([])
  for (const message of session.messages) tokens.set(message, (await peer.count!([message])) - none)
  return {
    learns: false,
    count: (message) => ({ tokens: tokens.get(message) ?? 0, fixed: 0 })
  }
}

/** How far counts are from what providers reported, on every real session with usage. */
export const estimates = async (published: ReadonlyArray<Peer>): Promise<EstimatePart> => {
  const counting = published.filter((peer) => peer.count !== undefined)
  const names = [...Object.keys(estimators), ...counting.map(({ name }) => name)]
  const rows = names.map((name) => ({
    name,
    anchored: [] as Array<number | null>,
    increments: [] as Array<number | null>
  }))
  const seen: Array<EstimatePart["sessions"][number]> = []
  for (const entry of hasData() ? sessions() : []) {
    // Midscene sends no conversation: what its reader builds is more than what its requests held.
    if (entry.path.includes("midscene")) continue
    const session = entry.read()
    const counters = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const counters = yield* countersOf(session)
          const own = replay(session, counters, estimators["varve"]!)
          if (own.anchored.length < 2) return undefined
          seen.push({ name: entry.name, requests: own.anchored.length })
          for (const row of rows) {
            const peer = counting.find(({ name }) => name === row.name)
            const estimator =
              peer === undefined
                ? estimators[row.name]!
                : yield* Effect.promise(() => counted(peer, session))
            const { anchored, increments } = replay(session, counters, estimator)
            row.anchored.push(mean(anchored))
            row.increments.push(mean(increments))
          }
          return counters
        })
      )
    )
    if (counters !== undefined) console.error(`estimates: ${entry.name}`)
  }
  return { sessions: seen, rows }
}
